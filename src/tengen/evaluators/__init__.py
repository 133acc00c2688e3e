"""What a position is worth, for a batch of states."""
