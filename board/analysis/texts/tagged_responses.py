"""Tags of a response (tool calls, thinking), and all measures of rollouts by name."""

import re
from typing import Final

import numpy as np
import pyarrow.compute as pc

from board.analysis.rollouts import digests, logprob_lags
from board.analysis.rollouts.rollout_measures import RolloutMeasure
from board.analysis.texts import measured_columns
from board.analysis.texts.text_health.endings import THOUGHT_TAGS
from board.analysis.texts.text_health.texts import column
from board.metrics.formulas import Float64Array
from board.runs.cache.parts import Part

_CALLS: Final = r"(?m)<(?:tool_call|function_call|search)>|^→ [\w.-]+\("
"""As Qwen, Hermes and Search-R1 write one, and as the board shows those of messages."""

_OPENED, _CLOSED = ("|".join(re.escape(pair[at]) for pair in THOUGHT_TAGS) for at in (0, 1))
_EMPTY: Final = rf"^\s*(?:{_OPENED})?\s*(?:{_CLOSED})"
"""The beginning of a response that is closed thinking before a thought; the prompt may have opened it."""


def measure(part: Part) -> dict[str, Float64Array]:
    """tool_calls and empty_thought, (n,): NaN without a text, and the second where no thought is closed."""
    texts = column(part, "response")
    closed, empty = (
        pc.match_substring_regex(texts, one).fill_null(False).to_numpy(zero_copy_only=False) for one in (_CLOSED, _EMPTY)
    )
    calls = pc.count_substring_regex(texts, _CALLS).to_numpy(zero_copy_only=False).astype(np.float64)
    return {"tool_calls": calls, "empty_thought": np.where(closed, empty.astype(np.float64), np.nan)}


MEASURES: Final[dict[str, RolloutMeasure]] = {
    **measured_columns.MEASURES,
    "digests": digests.measure,
    "lags": logprob_lags.measure,
    "tagged": measure,
}
