"""Numbers of rollouts that are computed after a load, as further columns of the frame.

A run in, a run with more columns out.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from board.analysis.rollouts import kl_concentration, rollout_measures
from board.analysis.rollouts.rollout_measures import RolloutMeasure
from board.analysis.texts import text_health
from board.runs.run import Run
from board.schema import BY_NAME, Column

MEASURES: Final[dict[str, RolloutMeasure]] = {"text_health": text_health.measure, kl_concentration.NAME: kl_concentration.measure}
"""By the names under which they are cached."""

_FAMILIES: Final = {"text": text_health.COLUMNS, "kl": kl_concentration.SHOWN}
_DECLARED: Final = {one.name: (family, one) for family, columns in _FAMILIES.items() for one in columns}
NAMES: Final = tuple(_DECLARED)
"""Of the columns, in the order in which they are shown."""


def declared(name: str) -> Column | None:
    """What is known of a column of a frame, whether it is loaded or measured; None of one that only its trainer knows."""
    return BY_NAME.get(name) or (_DECLARED[name][1] if name in _DECLARED else None)


def family(name: str) -> str | None:
    """The family of metrics that a measured column belongs to; None of any other column."""
    return _DECLARED[name][0] if name in _DECLARED else None


def is_measured(name: str) -> bool:
    """Whether a column is one of those that are measured."""
    return name in _DECLARED


def are_cached(run: Run) -> bool:
    """Whether every rollout of the run was measured before, so that `with_measures` reads and computes nothing."""
    return rollout_measures.is_cached(run, MEASURES)


def with_measures(run: Run, progress: Callable[[float], None] | None = None) -> Run:
    """The run with a column for each measure that some rollout has, float32; a column of the trainer's own of that name stays the trainer's.

    What is not cached yet is measured now: `progress` is called with the share that is done.
    """
    found = rollout_measures.of_run(run, MEASURES, progress)
    new = [name for name in NAMES if name not in run.frame.columns and found[name].notna().any()]
    return run.with_columns(found[new].astype(np.float32), "measured")
