"""Runs: the list of runs."""
