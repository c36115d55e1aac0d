"""The catalogue of metrics: what each means, how it is computed and read, and what trainers call it. Data, not code paths.

A metric is one line in one of the tables of this package: `computed` holds what rollouts give, `logged` what only a trainer can
log. A dialect is one table of names in `dialects`: another trainer is one more table there and its name in `lookup`. Knows no run.
"""

from board.metrics.declared.contract import FAMILIES, Dialect, Metric, Reading, Words
from board.metrics.declared.lookup import DIALECTS, METRICS, name_of, resolve, resolve_any

__all__ = [
    "DIALECTS",
    "FAMILIES",
    "METRICS",
    "Dialect",
    "Metric",
    "Reading",
    "Words",
    "name_of",
    "resolve",
    "resolve_any",
]
