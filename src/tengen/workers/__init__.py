"""Runs tasks, somewhere: in processes on this machine (local.py)."""
