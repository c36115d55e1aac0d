"""What is not there: steps, ranks, members of groups, rewards; and clocks that run backwards. Frame in, answers out.

What is usual in the run is the measure; the last step may still be being written and is never taken to lack anything.
Knows nothing of tokens or texts.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis import step_positions
from board.checks.contract import Answer, Fault, Unable
from board.checks.evidence import Evidence
from board.metrics.prompt_groups import members
from board.runs import empty_run
from board.runs.prompt_keys import NO_PROMPT
from board.text.counting import plural

LEAST_STEPS: Final = 5
"""From fewer steps nothing usual can be told."""

USUAL: Final = 0.8
"""What holds for so large a share is usual."""

MUCH_MORE: Final = 1.5
"""By so large a factor a step has more rows than others if part of it was written again."""

NAMED: Final = 5
"""So many steps or ranks are named."""

_RANK: Final = re.compile("[0-9]{1,18}")
"""A rank that is a number; what has more digits is some other name."""


def _named(values: NDArray[np.int64] | list[int], count: int | None = None) -> str:
    """The first of the values, and how many more there are; of `count`, where not all of them are given."""
    count = len(values) if count is None else count
    shown = ", ".join(str(int(value)) for value in values[:NAMED])
    return shown if count <= NAMED else f"{shown} and {count - NAMED:,} more"


def _first_between(bounds: Sequence[tuple[int, int]], stride: int) -> list[int]:
    """The first NAMED numbers that lie between the bounds, a stride apart, however far apart these are."""
    ranges = (range(low + stride, high, stride) for low, high in bounds)
    return [number for one in ranges for number in one[:NAMED]][:NAMED]


def _usual(values: NDArray[np.integer[Any]]) -> int | None:
    """The commonest value, where it is common enough to be called usual."""
    found, times = np.unique(values, return_counts=True)
    if not len(found) or times.max() < USUAL * len(values):
        return None
    return int(found[times.argmax()])


def _first_of(evidence: Evidence, steps: NDArray[np.int64] | list[int]) -> NDArray[np.int64]:
    """The first rollout of each of the steps."""
    at = evidence.frame["step"]
    first = at[~at.duplicated() & at.isin(steps)]
    return first.index.to_numpy()


def missing_steps(evidence: Evidence) -> Answer:
    """Gaps of a run whose steps are otherwise evenly spaced."""
    steps = np.unique(evidence.frame["step"].to_numpy(np.int64))
    if len(steps) < LEAST_STEPS:
        return Unable(f"{plural(len(steps), 'step')} are too few to tell how they are spaced")
    rising: NDArray[np.uint64] = steps.view(np.uint64)  # so that distances are exact, which may be beyond int64
    strides: NDArray[np.uint64] = rising[1:] - rising[:-1]
    stride = _usual(strides)
    if stride is None:
        return Unable("the steps are not evenly spaced")
    whole, rest = np.divmod(strides, np.uint64(stride))
    gaps = np.flatnonzero((whole > 1) & (rest == 0))
    if not len(gaps):
        return None
    count = int((whole[gaps] - np.uint64(1)).sum())
    bounds = [(int(steps[gap]), int(steps[gap + 1])) for gap in gaps[:NAMED]]
    what = f"{count:,} of {count + len(steps):,} steps without a rollout: {_named(_first_between(bounds, stride), count)}"
    return Fault(what, _first_of(evidence, steps[gaps + 1]))


def small_steps(evidence: Evidence) -> Answer:
    """Steps with fewer rollouts than nearly all the others."""
    sizes = evidence.frame["step"][evidence.finished].value_counts().sort_index()
    if len(sizes) < LEAST_STEPS:
        return Unable(f"too few steps to tell how many rollouts one has: it takes {LEAST_STEPS} beside the last")
    usual = _usual(sizes.to_numpy())
    if usual is None:
        return Unable("the steps differ in size")
    small = sizes.index[sizes < usual].to_numpy(np.int64)
    if not len(small):
        return None
    lost = int((usual - sizes[small]).sum())
    what = f"{plural(len(small), 'step')} with fewer rollouts than the usual {usual:,}, {lost:,} in all: {_named(small)}"
    return Fault(what, _first_of(evidence, small))


def missing_ranks(evidence: Evidence) -> Answer:
    """Ranks whose number no rank has, and steps that a rank of most steps did not write."""
    frame = evidence.frame[evidence.finished]
    if frame.empty:
        return Unable("there is only one step")
    there = pd.crosstab(frame["step"], frame["rank"].astype(str)) > 0
    if len(there.columns) < 2:
        return Unable("there is only one rank")
    expected = there.columns[there.mean() >= 0.5]
    lacking = there[expected].index[~there[expected].all(axis="columns")].to_numpy(np.int64)
    parts, keys = [], _first_of(evidence, lacking)
    numbers = sorted({int(name) for name in there.columns if _RANK.fullmatch(name)})
    absent = numbers[-1] + 1 - len(numbers) if len(numbers) == len(there.columns) else 0
    if absent:
        first = _first_between([*pairwise([-1, *numbers])], 1)
        parts.append(f"No rank has the number {_named(first, absent)}, of 0 to {numbers[-1]}")
        keys = keys if len(keys) else evidence.frame.index.to_numpy()[:1]
    if len(lacking):
        ranks = [name for name in expected if not there[name].all()]
        parts.append(f"{plural(len(lacking), 'step')} without rows of rank {', '.join(ranks[:NAMED])}: {_named(lacking)}")
    return Fault("; ".join(parts), keys) if parts else None


def small_groups(evidence: Evidence) -> Answer:
    """Groups of fewer rollouts than nearly all the others; a rollout is of its group id's, or of its prompt's where it has none."""
    prompts = evidence.measures["prompt_key"].to_numpy(np.int64)
    member = members(evidence.frame.get("group_id"), prompts, NO_PROMPT)
    marks = evidence.finished & (member >= 0)
    frame, own = evidence.frame[marks], member[marks]
    sizes = frame.groupby([frame["step"], own], sort=False)["step"].transform("size")
    first = ~pd.MultiIndex.from_arrays([frame["step"], own]).duplicated()
    usual = _usual(sizes.to_numpy()[first])
    if usual is None:
        return Unable("there are no groups of a usual size")
    if usual < 2:
        return Unable("rollouts of a step do not share prompts")
    small = (sizes < usual).to_numpy() & first
    if not small.any():
        return None
    what = f"{plural(int(small.sum()), 'group')} of fewer than the usual {usual:,} rollouts, of {int(first.sum()):,} groups"
    return Fault(what, frame.index.to_numpy()[small])


def two_files(evidence: Evidence) -> Answer:
    """Steps that several shards hold for one rank, with more rows than usual, in a run where that is not the rule.

    Where a writer goes on in another file once one is large, a step is in two as well, but has no more rows than others.
    """
    own = [name for name in ("step", "rank", "split") if name in evidence.frame]
    found = evidence.frame[evidence.frame["rank"].notna()].groupby(own, observed=True, dropna=False)["shard"]
    shards, rows = found.nunique(), found.size()
    if shards.empty or shards.median() > 1:
        return Unable("the rows of a step and rank are spread over several files here")
    twice = (shards > 1) & (rows >= MUCH_MORE * rows[shards == 1].median())
    steps = np.unique(twice.index.get_level_values("step")[twice].to_numpy(np.int64))
    if not len(steps):
        return None
    named = ", ".join(str(name) for name in evidence.frame["shard"][evidence.frame["step"] == steps[0]].unique()[:NAMED])
    what = f"{plural(len(steps), 'step')} with rows of one rank in several files: {_named(steps)}; the first in {named}"
    return Fault(what, _first_of(evidence, steps))


def no_responses(evidence: Evidence) -> Answer:
    """Responses that are all empty."""
    said = empty_run.without_responses(evidence.frame)
    return Fault(said, evidence.frame.index.to_numpy()) if said else None


def no_rewards(evidence: Evidence) -> Answer:
    """Not one reward."""
    said = empty_run.without_rewards(evidence.frame)
    return Fault(said, evidence.frame.index.to_numpy()) if said else None


def missing_rewards(evidence: Evidence) -> Answer:
    """Rollouts without a finite reward where others have one."""
    lacking = ~np.isfinite(evidence.frame["reward"].to_numpy(np.float64))
    if not lacking.any():
        return None
    return Fault(f"{plural(int(lacking.sum()), 'rollout')} without a finite reward", evidence.keys(lacking))


def clock(evidence: Evidence) -> Answer:
    """Steps that were written before the step before them, by the median of the rows' own times."""
    name = step_positions.clock(evidence.frame)
    if name is None:
        return Unable(f"no rollout has the time it was written as a number: {', '.join(step_positions.CLOCKS)}")
    times = evidence.frame.groupby("step")[name].median().dropna()
    if len(times) < 2:
        return Unable(f"fewer than 2 steps have {name}")
    back = times.index[(times < times.cummax()).to_numpy()].to_numpy(np.int64)
    if not len(back):
        return None
    what = f"{plural(len(back), 'step')} with a {name} before that of an earlier step: {_named(back)}"
    return Fault(what, _first_of(evidence, back))
