"""The training loop of AlphaZero: self-play, replay window, learning, measuring; repeated."""
