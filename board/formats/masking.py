"""Arrays over prompt and response → arrays over the response.

Trainers keep one entry per token of the whole sequence, padding included; the board's arrays begin at the first token of the response.
Knows lists and masks.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from board.formats.row import FloatArray


def response_span(mask: Sequence[Any] | FloatArray) -> tuple[int, int]:
    """(first, stop) of the response in a sequence: from the first to behind the last token whose mask is not 0; (0, 0) when there is none.

    Tokens between that the policy did not sample (a tool's answer) lie within; the mask marks them.
    """
    sampled = np.flatnonzero(np.asarray(mask, np.float64))
    return (int(sampled[0]), int(sampled[-1]) + 1) if sampled.size else (0, 0)


def cut(fields: Mapping[str, Any], first: int, stop: int) -> dict[str, Any]:
    """Each list cut to the tokens from `first` to before `stop`; what is not there (None) stays away."""
    return {name: values[first:stop] for name, values in fields.items() if values is not None}


def spread(values: Sequence[Any], mask: Sequence[Any]) -> list[Any] | None:
    """One value per token out of one value per sampled token, None at the others; None when there are not as many as the mask says."""
    if len(values) != sum(map(bool, mask)):
        return None
    given = iter(values)
    return [next(given) if sampled else None for sampled in mask]


def hide(values: Any, mask: Sequence[Any] | FloatArray) -> Any:
    """The list or array with a gap (None, NaN) at each token whose mask is 0: what stands there is a dummy, and enters no mean."""
    dummies = np.flatnonzero(~np.asarray(mask[: len(values)], bool))
    masked = values.copy()
    if isinstance(masked, np.ndarray):
        masked[dummies] = np.nan
        return masked
    for at in dummies.tolist():
        masked[at] = None
    return masked
