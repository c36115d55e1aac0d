"""The metrics that rollouts give, by family. Data only: `board.analysis.step_metrics` computes them."""

from typing import Final

from board.metrics.declared.computed import (
    advantage,
    counts,
    critic,
    evaluation,
    groups,
    kl,
    length,
    mismatch,
    perplexity,
    policy,
    reward,
    update,
)
from board.metrics.declared.contract import Metric

METRICS: Final[tuple[Metric, ...]] = (
    *reward.METRICS,
    *groups.METRICS,
    *kl.METRICS,
    *policy.METRICS,
    *update.METRICS,
    *critic.METRICS,
    *advantage.METRICS,
    *length.METRICS,
    *mismatch.METRICS,
    *perplexity.METRICS,
    *evaluation.METRICS,
    *counts.METRICS,
)
