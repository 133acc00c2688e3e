"""Evaluators: policy logits and values for a batch of states."""
