"""Measures players against each other and on positions with exact scores, with error bars."""
