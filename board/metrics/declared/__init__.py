"""The catalogue of metrics: what each means, how it is computed and read, and what trainers call it. Data, not code paths. Knows no run.

A metric is one entry, a `metric(...)` in a table of this package: in `computed` where rollouts give it, in `logged` where only a trainer
can log it. The entry says its key, unit, formula, source, meaning and reading, how it is computed (`computation`), and its names in the
dialects. What fields it needs, what is kept of its tokens, the board's number per step, the recorder's streamed one, and every dialect's
table follow from it. To add one:

1. Write the entry beside its relatives, as `metric("policy/entropy_std", ..., over_tokens("entropy", "std"), names=(Name("verl", "..."),))`.
   `over_tokens` takes a quantity of `quantities.PER_TOKEN`, `over_rollouts` a column, or what a quantity adds up to over a rollout's tokens
   ("entropy/mean"); `applied` names a function of `board.metrics.expressions` of either, or of several statistics.
2. Only if it needs a quantity, a function or a statistic that is not there, add that: the fields in `quantities` and the numbers in
   `board.metrics.token_sums`; a function in `board.metrics.expressions`.
3. Write its definition into `tests/analysis/test_step_metrics.py`, as a loop over rows. That test must pass, and so must
   `tests/recorder/test_step_aggregator.py`, which computes every metric both ways, and `tests/metrics/test_declared.py`.

A dialect is a table in `dialects` of what is true of all its names: another trainer is one more module there and its name in `lookup`.
"""

from board.metrics.declared.contract import FAMILIES, Dialect, Interpretation, Metric, Name, Words
from board.metrics.declared.lookup import DIALECTS, METRICS, name_of, renamed, resolve, resolve_any

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
    "renamed",
    "resolve",
    "resolve_any",
]
