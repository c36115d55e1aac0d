"""What tells two runs, or two checkpoints, apart; the list of runs."""
