"""Whether a run's newest step is complete, judged by the sizes of the steps before it.

Steps in, an answer out.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from board.metrics.formulas import Float64Array

_LEAST_BEFORE: Final = 3
"""This many steps before it are needed to know the usual size."""
_LOOKED_AT: Final = 10
"""This many of them: sizes change with a setting."""
_COMPLETE: Final = 0.75
"""A step with fewer rollouts than this share of the smallest of them is not complete."""


def lacking(steps: NDArray[np.int64], sizes: NDArray[np.integer[Any]] | Float64Array) -> tuple[int, int, int] | None:
    """The newest step, its rollouts and the usual number, where it is not complete; None where it is, or that cannot be known.

    `steps` and `sizes` (steps,): numbers, rising, and how many rollouts each has.
    """
    before = sizes[:-1][-_LOOKED_AT:]
    if len(before) < _LEAST_BEFORE or sizes[-1] >= _COMPLETE * before.min():
        return None
    return int(steps[-1]), int(sizes[-1]), int(np.median(before))
