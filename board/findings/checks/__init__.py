"""Checks of a run: is what the trainer logged what it meant to log? Each module holds one family of checks, `all_checks` the table of them all.

A check is a function from `Evidence` to what it found. Adding one is that function and one entry of the table.
"""

from typing import Final

VERSION: Final = 1
"""Of the shape of `check --json`; it changes when a field goes or means something else."""
