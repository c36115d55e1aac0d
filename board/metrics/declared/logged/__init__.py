"""The metrics that only a trainer can log, by what they are about. Data only."""

from typing import Final

from board.metrics.declared.contract import Metric
from board.metrics.declared.logged import (
    counts,
    critic,
    evaluation,
    length,
    loss,
    memory,
    mismatch,
    optimiser,
    other,
    rewards,
    system,
    timing,
    update,
)

METRICS: Final[tuple[Metric, ...]] = (
    *rewards.METRICS,
    *update.METRICS,
    *critic.METRICS,
    *length.METRICS,
    *mismatch.METRICS,
    *evaluation.METRICS,
    *loss.METRICS,
    *optimiser.METRICS,
    *counts.METRICS,
    *timing.METRICS,
    *memory.METRICS,
    *system.METRICS,
    *other.METRICS,
)
