"""Checks what a link asks for against the run there is: what the run lacks is said in a sentence and given up, and a step is chosen.

A sentence stays until the reader moves. Knows no page and draws nothing.
"""

from collections.abc import Iterator

import numpy as np

from board.metrics import formulas
from board.runs.rollout import Rollout
from board.runs.run import Run
from board.schema import EVALUATION
from board.ui import place


def settle(run: Run, whole: Run) -> list[str]:
    """Choose a step the run has, the newest where none is asked for; what to say of the parts of the link that are not there.

    `whole` is the run with the rollouts of evaluations too, where `run` is without them or has those alone.
    """
    said = [*_without_rollout(run, whole), *_without_step(run)]
    if len(run.frame):
        said += _without_token(*_asked_rollout(run))
    if said:
        place.remember(amiss=said)
    return place.remembered("amiss") or []


def _without_rollout(run: Run, whole: Run) -> Iterator[str]:
    asked = place.part("rollout")
    if asked is None:
        return
    # Every move to another step forgets the rollout, so a rollout that is there was chosen after the step.
    key = run.key_of(str(asked))
    if key is not None:
        place.fill_in(step=run.rollout(key).step)
        return
    place.fill_in(rollout=None)
    if whole.key_of(str(asked)) is None:
        yield f"This run has no rollout {asked!r}: the link leads to its step alone."
    else:
        kind = "training" if run.splits == (EVALUATION,) else "evaluations"
        yield f"The rollout {asked!r} is one of {kind}: choose them under Split to see it."


def _without_step(run: Run) -> Iterator[str]:
    asked = place.part("step")
    if len(run.steps) and asked not in run.steps.tolist():
        place.fill_in(step=int(run.steps[-1]))
        if asked is not None:
            yield f"This run has no step {asked}: the last one is shown."


def _asked_rollout(run: Run) -> tuple[Rollout, str]:
    """The rollout that the token and the metric are of, and what to call it: without one in the link it is the step's first."""
    key = place.asked_rollout(run)
    if key is not None:
        return run.rollout(key), "This rollout"
    step = int(place.part("step") or 0)
    first = run.frame.index.to_numpy()[np.searchsorted(run.frame["step"].to_numpy(), step)]
    return run.rollout(int(first)), f"The first rollout of step {step}"


def _without_token(rollout: Rollout, called: str) -> Iterator[str]:
    token, metric, length = place.part("token"), place.part("metric"), len(rollout.counts)
    if token is not None and not (isinstance(token, int) and 0 <= token < length):
        place.fill_in(token=None, compare=None)
        yield f"{called} has no token {token}: it has {length:,}, which links count from 0."
    if metric is not None and metric not in formulas.token_arrays({name: np.zeros(0) for name in rollout.arrays}):
        place.fill_in(metric=None)
        yield f"{called} has no token metric {metric!r}."
