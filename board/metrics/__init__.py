"""Every metric once: what it is, what trainers call it, and the formulas and statistics it is made of. Numpy in, numpy out."""

from typing import Final

OWN_PREFIX: Final = "board/"
"""Before the board's own name of a metric in a tracker."""
