"""From nothing to strong: self-play, replay, learning, measuring, again and again."""
