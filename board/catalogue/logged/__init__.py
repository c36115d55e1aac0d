"""The metrics that only a trainer can log, by what they are about. Data only."""

from typing import Final

from board.catalogue.contract import Metric
from board.catalogue.logged import (
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
