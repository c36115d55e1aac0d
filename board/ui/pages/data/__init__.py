"""Data: what was read of a run, and what the checks found."""
