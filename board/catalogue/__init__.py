"""The catalogue of metrics: what each means, how it is computed and read, and what trainers call it. Data, not code paths.

A metric is one line in one of the tables of this package; a dialect is one table of names.
"""

from board.catalogue.contract import FAMILIES, Dialect, Metric, Reading, Words

__all__ = ["FAMILIES", "Dialect", "Metric", "Reading", "Words"]
