"""What went wrong in a training run, and where the evidence is: findings, each with the rollouts and tokens that show it.

A kind of finding is a module in `kinds/`, found by itself: pure functions from a `Context` to what they found.
"""

from typing import Final

VERSION: Final = 1
"""Of the shape of `findings --json`; it changes when a field goes or means something else."""
