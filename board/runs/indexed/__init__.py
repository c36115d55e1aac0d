"""An index as a run: its sums of steps, and slices of its rollouts."""
