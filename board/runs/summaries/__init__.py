"""Numbers of runs for the list of runs."""
