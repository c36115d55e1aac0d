"""Definitions, names, formulas and statistics of every metric. Numpy in, numpy out."""

from typing import Final

OWN_PREFIX: Final = "board/"
"""Before the board's own name of a metric in a tracker."""
