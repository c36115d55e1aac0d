"""The catalogue of metrics: meaning, computation, reading, names. Data, not code paths.

A metric is one `[[metric]]` in the table of its family, `catalogue/<family>.toml`. The entry says its key, unit, formula, source, meaning
and reading, its names in the dialects and, where rollouts give it, its computation. What fields it needs, what is stored of its tokens, the
board's number per step and every dialect's table follow from it. To add one:

1. Write the entry next to its relatives. `computation = { over = "tokens", of = "entropy", statistic = "std" }` takes a quantity of
   `quantities.PER_TOKEN`; over rollouts it takes a column, or what a quantity adds up to over a rollout's tokens ("entropy/mean");
   `{ function = "negative", to = [...] }` is a function of `board.metrics.expressions` of several such statistics.
2. Only if it needs a quantity, a function or a statistic that is not there, add that: the fields in `quantities` and the numbers in
   `board.metrics.token_sums`; a function in `board.metrics.expressions`.
3. Write its definition into `tests/analysis/test_step_metrics.py`, as a loop over rows. That test must pass, and so must
   `tests/recorder/test_recorded_numbers.py`, which computes every metric of a step alone, too, and `tests/metrics/test_declared.py`.

A dialect is a table in `dialects.toml` of what is true of all its names, with the remarks that metrics give for single names.
"""

from board.metrics.declared.contract import FAMILIES, Dialect, Interpretation, Metric, Name, Words
from board.metrics.declared.lookup import DIALECTS, METRICS, name_of, named_once, renamed, resolve, resolve_any

__all__ = [
    "DIALECTS",
    "FAMILIES",
    "METRICS",
    "Dialect",
    "Interpretation",
    "Metric",
    "Name",
    "Words",
    "name_of",
    "named_once",
    "renamed",
    "resolve",
    "resolve_any",
]
