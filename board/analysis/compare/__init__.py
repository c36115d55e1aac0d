"""Comparison of runs and of checkpoints; the list of runs."""
