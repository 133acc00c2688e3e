"""Tests of the evaluators. A package, so that they can share fakes."""
