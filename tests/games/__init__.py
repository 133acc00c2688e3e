"""Tests of the rules. A package, so that they can share slow_rules."""
