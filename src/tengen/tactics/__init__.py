"""Exact knowledge about games: lines, threats, solvers."""
