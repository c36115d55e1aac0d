"""Checks the parts of a link against its run, and chooses a step.

A part that the run lacks is dropped and reported in a sentence, which stays until the reader moves.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from board.analysis.rollouts.selection import of_step
from board.analysis.steps.step_stats import nearest_step
from board.metrics import formulas
from board.runs.cache.rollout import Rollout
from board.runs.run import Run, Split
from board.schema import DISCARDED, EVALUATION
from board.ui.state import caches, place

_KINDS: Final[Mapping[Split, str]] = {
    "train": "one of training",
    EVALUATION: "one of evaluations",
    DISCARDED: "one that the trainer discarded",
}


def settle(run: Run, whole: Run, unfiltered: Run, whole_unfiltered: Run) -> list[str]:
    """Choose a step, the newest if the link names none; say what of the link is missing.

    `whole` is the run with the rollouts of evaluations too, where `run` is without them or has those alone; `unfiltered` is `run` without
    the filter, as `whole_unfiltered` is `whole`: a group stays whole, so that any of its rollouts can be compared, discarded ones, too.
    """
    _take_up_awaited(run)
    said = [*_without_rollout(run, whole), *_without_step(run)]
    if len(run.frame) and not place.remembered("awaited"):
        said += [*_without_token(*_rollout_of_token(run)), *_without_group(run), *_without_prompt(run, unfiltered)]
        said += _without_compared(whole_unfiltered)
    if said:
        place.remember(amiss=said)
    return place.remembered("amiss") or []


def _without_rollout(run: Run, whole: Run) -> Iterator[str]:
    linked = place.part("rollout")
    if linked is None:
        return
    # Every move to another step forgets the rollout, so a rollout that is there was chosen after the step.
    run, whole = (caches.holding(one, str(linked)) for one in (run, whole))
    key = run.key_of(str(linked))
    if key is not None:
        rollout = run.rollout(key)
        place.fill_in(step=rollout.step, rollout=rollout.source)  # by its line, where the link was made before that was known
        return
    elsewhere = whole.key_of(str(linked))
    if whole.reads_on and elsewhere is None:
        yield _await(f"The rollout {linked!r} is not read yet: it opens as soon as it is.", rollout=str(linked))
        return
    place.fill_in(rollout=None)
    if elsewhere is None:
        yield f"{_whole(whole)} has no rollout {linked!r}: the link leads to its step alone."
    else:
        yield f"The rollout {linked!r} is {_KINDS[whole.split_of(elsewhere)]}: choose them under Split to see it."


def _without_step(run: Run) -> Iterator[str]:
    linked = place.part("step")
    if not len(run.steps) or linked in run.steps.tolist():
        return
    if run.reads_on and isinstance(linked, int):
        nearest = nearest_step(run.steps, linked)
        yield _await(f"Step {linked} is not read yet: it opens as soon as it is. Step {nearest} is shown.", step=linked)
        place.fill_in(step=nearest)
        return
    place.fill_in(step=int(run.steps[-1]))
    if linked is not None:
        yield f"{_whole(run)} has no step {linked}: the last one is shown."


def _whole(run: Run) -> str:
    return "The sample" if run.reading else "This run"


def _without_group(run: Run) -> Iterator[str]:
    linked, step = place.part("group"), int(place.part("step") or 0)
    if linked is None or run.reads_on:
        return
    rows = of_step(caches.at_step(run, step).frame, step)
    if "group" not in rows.columns or not (rows["group"] == linked).any():
        place.fill_in(group=None)
        yield f"Step {step} has no group {linked}{' in the sample' if run.reading else ''}."


def _without_prompt(run: Run, unfiltered: Run) -> Iterator[str]:
    linked, step = place.part("prompt"), place.part("step")
    if linked is not None and isinstance(step, int):
        run, unfiltered = caches.at_step(run, step), caches.at_step(unfiltered, step)
    if linked is None or run.reads_on or (isinstance(linked, int) and (run.prompt_keys == linked).any()):
        return
    place.fill_in(prompt=None)
    there = isinstance(linked, int) and (unfiltered.prompt_keys == linked).any()
    yield f"The filter leaves no rollout of the prompt {linked}." if there else f"{_whole(run)} has no prompt {linked}."


def _without_compared(run: Run) -> Iterator[str]:
    for name in ("first", "second"):
        linked = place.part(name)
        if linked is not None and not run.reads_on and caches.holding(run, str(linked)).key_of(str(linked)) is None:
            place.fill_in(**{name: None})
            yield f"There is no rollout {linked!r} here to compare."


def awaited_rollout() -> str:
    """The rollout of the link that is not read yet; empty when there is none."""
    return str((place.remembered("awaited") or {}).get("rollout") or "")


def _await(words: str, **parts: str | int) -> str:
    """Remember what the link names until it is read, or the reader moves; what depends on a rollout waits with it."""
    earlier = place.remembered("awaited") or {
        "token": place.part("token"),
        "metric": place.part("metric"),
        "step": place.part("step"),
    }
    place.fill_in(**dict.fromkeys(["rollout", "token", "compare"]))
    place.remember(awaited=earlier | parts, amiss=None)
    return words


def _take_up_awaited(run: Run) -> None:
    """Go to what the link names, once it is read, or once it is known not to exist: then that is reported."""
    awaited = place.remembered("awaited")
    if not awaited:
        return
    rollout, step = awaited.get("rollout"), awaited.get("step")
    there = run.key_of(rollout) is not None if rollout else step in run.steps.tolist()
    if there or not run.reads_on:
        place.remember(awaited=None, amiss=None)
        place.fill_in(rollout=rollout, step=step, token=awaited.get("token"), metric=awaited.get("metric"))


def _rollout_of_token(run: Run) -> tuple[Rollout, str]:
    """The rollout that the token and the metric are of, and what to call it: without one in the link it is the step's first."""
    key = place.linked_rollout(run)
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
    if metric is not None and metric not in formulas.token_metric_names(rollout.arrays):
        place.fill_in(metric=None)
        yield f"{called} has no token metric {metric!r}."
