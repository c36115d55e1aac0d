"""Whether a run's newest step is complete, told by the sizes of the steps before it: a step that is still being written has too few rollouts.

Steps in, an answer out. Knows neither files nor screens.
"""

from typing import Final

import numpy as np

from board.metrics.step_sums import Steps

_LEAST_BEFORE: Final = 3
"""So many steps before it tell how large a step is."""
_LOOKED_AT: Final = 10
"""So many of them: sizes change with a setting."""
_COMPLETE: Final = 0.75
"""A step with fewer rollouts than this share of the smallest of them is not complete."""


def lacking(steps: Steps) -> tuple[int, int] | None:
    """The newest step and the usual size of a step, where it is not complete; None where it is, or nobody can tell."""
    before = steps.sizes[:-1][-_LOOKED_AT:]
    if len(before) < _LEAST_BEFORE or steps.sizes[-1] >= _COMPLETE * before.min():
        return None
    return int(steps.numbers[-1]), int(np.median(before))
