"""The measures of rollouts that kinds of findings look at, by the names under which they are kept. Knows no kind."""

from typing import Final

from board.analysis import digests, logprob_lags, measured_columns, tagged_parts
from board.analysis.rollout_measures import RolloutMeasure

MEASURES: Final[dict[str, RolloutMeasure]] = {
    **measured_columns.MEASURES,
    "digests": digests.measure,
    "lags": logprob_lags.measure,
    "tagged": tagged_parts.measure,
}
