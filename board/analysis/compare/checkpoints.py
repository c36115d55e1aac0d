"""Evaluations of checkpoints next to training, as curves and points of a run."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from board.analysis.compare import compared_run, run_overlay
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run
from board.schema import EVALUATION

LEAST_STEPS: Final = 2
MOST_PROMPTS_NEW: Final = 0.05
"""Checkpoints are evaluated on the same prompts, but for so small a share of them."""


@dataclass(frozen=True)
class TrainingAndEvaluation:
    """Curves of a number in a run; each a frame of columns `run_overlay.CURVE`, empty where there is none."""

    training: pd.DataFrame
    evaluation: pd.DataFrame


def is_of_checkpoints(run: Run) -> bool:
    """Whether rollouts without a split evaluate checkpoints: their steps are more than one apart and have the same prompts each time."""
    if run.splits == (EVALUATION,):
        return True
    if run.splits != ("train",) or len(run.steps) < LEAST_STEPS or np.diff(run.steps).min() < 2:
        return False
    prompts = run.prompt_keys
    if (prompts == NO_PROMPT).any():
        return False
    seen = pd.Series(prompts).groupby(run.frame["step"].to_numpy()).nunique()
    return bool(len(pd.unique(prompts)) <= (1 + MOST_PROMPTS_NEW) * seen.min())


def training_and_evaluation(run: Run, number: str, *, of_checkpoints: bool) -> TrainingAndEvaluation:
    """A number by step over a run's rollouts of training, and over those of evaluations, with intervals by bootstrap over prompts.

    `run` has all its splits. `of_checkpoints` takes rollouts without a split for evaluations. Raises FieldMissing where
    the run lacks the number.
    """
    own = {split: compared_run.of_split(run, split, number) for split in run.splits if split in ("train", EVALUATION)}
    training, evaluated = own.get("train"), own.get(EVALUATION)
    if of_checkpoints and evaluated is None:
        training, evaluated = None, training
    return TrainingAndEvaluation(_curve(training), _curve(evaluated))


def _curve(side: compared_run.ComparedRun | None) -> pd.DataFrame:
    return run_overlay.curve(side) if side else pd.DataFrame(columns=list(run_overlay.CURVE), dtype=float)
