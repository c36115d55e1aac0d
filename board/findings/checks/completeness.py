"""What is not there: steps, ranks, members of groups, rewards; and clocks that run backwards. Frame in, answers out.

What is usual in the run is the measure; the last step may still be being written and is never taken to lack anything.
"""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from board.analysis.steps import step_positions
from board.findings.checks.contract import Answer, Fault, Unable, shown_by
from board.findings.checks.evidence import Evidence
from board.metrics.prompt_groups import members
from board.runs.prompt_keys import NO_PROMPT
from board.text.counting import listed, plural
from board.text.format_number import fmt

LEAST_STEPS: Final = 5
"""With fewer steps it is unknown what is usual."""

USUAL: Final = 0.8
"""What holds for so large a share is usual."""

LEAST_EARLY: Final = 12
"""So many of the run's first groups tell what is usual where later ones vary in size."""

MUCH_MORE: Final = 1.5
"""By so large a factor a step has more rows than others if part of it was written again."""

FILTERED: Final = 3
"""At so many places that do not touch steps are small because the trainer leaves groups out: a writer fails once."""

CHANCE: Final = 0.05
"""Where steps vary in size, a rank that has no row in a step by a larger chance than that is not missing."""

NAMED: Final = 5
"""So many steps or ranks are named."""

_WORLD: Final = ("world_size", "dp_size", "num_ranks", "data_parallel_size", "dp_world_size")
"""Names under which trainers say how many ranks there are."""

_RANK: Final = re.compile("[0-9]{1,18}")
"""A rank that is a number; what has more digits is some other name."""


def named(values: NDArray[np.int64] | list[int], count: int = 0) -> str:
    """The first of the values, and how many more there are; of `count`, where not all of them are given."""
    return listed(map(int, values), NAMED, count)


def _first_between(bounds: Iterable[tuple[int, int]], stride: int) -> list[int]:
    """The first NAMED numbers that lie between the bounds, a stride apart, however far apart these are."""
    return [number for low, high in bounds for number in range(low + stride, high, stride)[:NAMED]][:NAMED]


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


def _members(evidence: Evidence) -> NDArray[np.int64]:
    """Equal numbers for rollouts that are of one group where they are of one step, -1 for one of no group. (rollouts,)"""
    frame, prompts = evidence.frame, evidence.measures["prompt_key"].to_numpy(np.int64)
    return members(frame.get("group_id"), prompts, NO_PROMPT, frame.get("split"))


def missing_steps(evidence: Evidence) -> Answer:
    """Gaps of a run whose steps are otherwise evenly spaced; a step all of whose rollouts the trainer discarded is none."""
    own = np.unique(evidence.frame["step"].to_numpy(np.int64))
    steps = np.union1d(own, evidence.discarded)
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
    what = f"{count:,} of {count + len(steps):,} steps without a rollout: {named(_first_between(bounds, stride), count)}"
    return Fault(what, _first_of(evidence, own[np.searchsorted(own, steps[gaps + 1]).clip(max=len(own) - 1)]))


def small_steps(evidence: Evidence) -> Answer:
    """Steps with fewer rollouts than nearly all the others, those that the trainer discarded counted.

    Where that comes again and again and leaves every group whole, the trainer leaves groups out, as those of equal rewards.
    """
    sizes = evidence.frame["step"][evidence.finished].value_counts().sort_index()
    if len(sizes) < LEAST_STEPS:
        return Unable(f"too few steps to tell how many rollouts one has: it takes {LEAST_STEPS} before the last")
    usual = _usual(sizes.to_numpy())
    if usual is None:
        return Unable("the steps differ in size")
    held = sizes.add(pd.Series(evidence.discarded).value_counts(), fill_value=0).reindex(sizes.index)
    is_small = ((sizes < usual) & (held < usual)).to_numpy()
    small = sizes.index[is_small].to_numpy(np.int64)
    places = int((np.diff(is_small.astype(np.int64), prepend=0) == 1).sum())
    if not len(small) or (places >= FILTERED and small_groups(evidence) is None):
        return None
    lost = int((usual - sizes[small]).sum())
    what = f"{plural(len(small), 'step')} with fewer rollouts than the usual {usual:,}, {lost:,} in all: {named(small)}"
    return Fault(what, _first_of(evidence, small))


def missing_ranks(evidence: Evidence) -> Answer:
    """Ranks whose number no rank has, and steps that a rank of most steps, or one that stops, did not write; files, where no rank is named."""
    frame, noun = evidence.frame[evidence.finished], "rank" if "rank" in evidence.fields else "file"
    if frame.empty:
        return Unable("there is only one step")
    of, steps = frame["rank" if noun == "rank" else "shard"].astype(str), frame["step"]
    wrote = steps.groupby(of).nunique()
    if len(wrote) < 2:
        return Unable(f"there is only one {noun}")
    if noun == "file" and wrote.max() < steps.nunique():
        return Unable("no rollout has rank, and no file has every step")
    there = pd.crosstab(steps, of)
    often, lost = (there > 0).mean() >= 0.5, _stopped(there)
    expected = [name for name in there.columns if lost.get(name, often[name] and noun == "rank")]
    absent_of, total = there[expected] == 0, there.sum(axis="columns")
    if _usual(total.to_numpy()) is None:
        others = 1 - (there[expected].sum() / total.sum()).to_numpy()
        chance = others ** total.to_numpy()[:, np.newaxis]
        absent_of &= (chance < CHANCE) | np.array([lost.get(name, False) for name in expected], np.bool_)
    lacking = there.index[absent_of.any(axis="columns")].to_numpy(np.int64)
    parts, keys = [], _first_of(evidence, lacking)
    numbers = sorted({int(name) for name in there.columns if noun == "rank" and _RANK.fullmatch(name)})
    said = [frame[name].max() for name in _WORLD if name in frame and is_numeric_dtype(frame[name]) and frame[name].notna().any()]
    last = max([*numbers[-1:], *(int(count) - 1 for count in said)], default=-1)
    absent = last + 1 - len(numbers) if len(numbers) == len(there.columns) else 0
    if absent:
        first = _first_between(pairwise([-1, *numbers, last + 1]), 1)
        parts.append(f"No rank has the number {named(first, absent)}, of 0 to {last}")
        keys = _first_of(evidence, there.index.to_numpy(np.int64))
    if len(lacking):
        names = [name for name in expected if absent_of[name].any()]
        parts.append(f"{plural(len(lacking), 'step')} without rows of {noun} {', '.join(names[:NAMED])}: {named(lacking)}")
    return Fault("; ".join(parts), keys) if parts else None


def _stopped(there: pd.DataFrame) -> dict[str, bool]:
    """Those that wrote every step up to one and none since, and whether their rows are lacking since.

    `there` has a row for each step and a column for each rank, of how many rows it wrote. Where others take over the rows, as where a job goes
    on with fewer ranks or in another file, nothing is missing.
    """
    wrote, total, found = there > 0, there.sum(axis="columns"), dict[str, bool]()
    for name in there.columns[~wrote.all() & wrote.iloc[0]]:
        until = int(np.flatnonzero(wrote[name])[-1]) + 1
        if until < len(there) and wrote[name].iloc[:until].all():
            own, before, after = there[name].iloc[:until].median(), total.iloc[:until].median(), total.iloc[until:].median()
            found[name] = bool(after <= before - own / 2)
    return found


def small_groups(evidence: Evidence) -> Answer:
    """Groups of fewer rollouts than nearly all the others; a rollout is of its group id's, or of its prompt's where it has none."""
    member = _members(evidence)
    marks = evidence.finished & (member >= 0)
    frame, own = evidence.frame[marks], member[marks]
    sizes = frame.groupby([frame["step"], own], sort=False)["step"].transform("size")
    first = ~pd.MultiIndex.from_arrays([frame["step"], own]).duplicated()
    of_groups = sizes.to_numpy()[first]
    early = of_groups[: len(of_groups) // 4]
    usual = _usual(of_groups) or (_usual(early) if len(early) >= LEAST_EARLY else None)
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
    """Steps with far more rows than others, because files that overlap hold them twice, whatever the files are called.

    Where a writer goes on in another file once one is large, a step is in two as well, but has no more rows than others. Where steps are
    spread over files anyway, the sign is that most of a step's groups are in several of one rank, and those of other steps are not.
    """
    frame, member = evidence.frame, _members(evidence)
    own = [name for name in ("step", "rank", "split") if name in frame]
    found = frame.groupby(own, observed=True, dropna=False)["shard"]
    shards, rows = found.nunique(), found.size()
    usual = shards == 1
    if usual.mean() < 0.5:
        grouped = frame[member >= 0].groupby([*(frame[name] for name in own), member], observed=True, dropna=False)["shard"]
        several = (grouped.nunique() > 1).groupby(level=own, dropna=False).mean() >= 0.5
        usual = ~several.reindex(shards.index, fill_value=False)
    if usual.sum() < 3:
        return Unable("the rows of a step are spread over several files here")
    twice = ~usual & (shards > 1) & (rows >= MUCH_MORE * rows[usual].median()) & (rows > rows[usual].quantile(0.95))
    steps = np.unique(twice.index.get_level_values("step")[twice].to_numpy(np.int64))
    if not len(steps):
        return None
    again = frame["step"].isin(steps).to_numpy()
    files = ", ".join(str(name) for name in frame["shard"][frame["step"] == steps[0]].unique()[:NAMED])
    sizes = frame.groupby([frame["step"], member], sort=False)["step"].transform("size").to_numpy()
    more = [
        f"{np.median(counts[again]):g} rather than {np.median(counts[~again]):g} rollouts in a {noun}"
        for noun, counts in (("step", frame.groupby("step")["step"].transform("size").to_numpy()), ("group", sizes))
        if not again.all() and np.median(counts[again]) > np.median(counts[~again])
    ]
    what = f"{plural(len(steps), 'step')} in several files: {'; '.join([named(steps), *more, f'the first in {files}'])}"
    return Fault(what, _first_of(evidence, steps))


def not_one(evidence: Evidence, look: Callable[[pd.DataFrame], str]) -> Answer:
    """Responses that are all empty, or no reward, as `look` says it."""
    said = look(evidence.frame)
    return Fault(said, evidence.frame.index.to_numpy()) if said else None


def missing_rewards(evidence: Evidence) -> Answer:
    """Rollouts without a finite reward where others have one."""
    lacking = ~np.isfinite(evidence.frame["reward"].to_numpy(np.float64))
    what = f"{{rollouts}} ({fmt(100 * lacking.mean())} % of all) without a finite reward{_of_sources(evidence.frame, lacking)}"
    return shown_by(evidence, lacking, what)


def _of_sources(frame: pd.DataFrame, marks: NDArray[np.bool_]) -> str:
    """Which data sources alone the marked rollouts (rows,) are of, and what share of these they are; empty where they are of all."""
    if "data_source" not in frame:
        return ""
    shares = pd.Series(marks, frame.index).groupby(frame["data_source"].astype(str)).mean()
    of = shares[shares > 0].sort_values(ascending=False)
    if len(of) == len(shares):
        return ""
    named = ", ".join(f"`{name}` ({fmt(100 * share)} % of its rollouts)" for name, share in of[:NAMED].items())
    return f", all of the data source{'s' * (len(of) > 1)} {named}"


def clock(evidence: Evidence) -> Answer:
    """Steps that were written before the step before them, by the median of the rows' own times, or by the times of their files."""
    name = step_positions.clock(evidence.frame)
    older = _older_files(evidence)
    if older is not None and len(older):
        what = f"{plural(len(older), 'step')} in files that are older than those of earlier steps, as of an abandoned attempt: {named(older)}"
        return Fault(what, _first_of(evidence, older))
    if name is None:
        reason = f"no rollout has the time it was written as a number: {', '.join(step_positions.CLOCKS)}"
        return Unable(reason) if older is None else None
    times = evidence.frame.groupby("step")[name].median().dropna()
    if len(times) < 2:
        return Unable(f"fewer than 2 steps have {name}")
    back = times.index[(times < times.cummax()).to_numpy()].to_numpy(np.int64)
    if not len(back):
        return None
    what = f"{plural(len(back), 'step')} with a {name} before that of an earlier step: {named(back)}"
    return Fault(what, _first_of(evidence, back))


def _older_files(evidence: Evidence) -> NDArray[np.int64] | None:
    """The steps at the end whose files are older than those of steps before them, which were written anew; None where files cannot tell.

    They can where each step has a file of its own, seconds apart: files that were copied have the times, and the order, of copying.
    """
    of_steps = evidence.frame.groupby("shard", observed=True)["step"].agg(["min", "max"])
    times = of_steps["min"].index.map({name: time for name, _, time in evidence.files}).to_numpy(np.float64)
    known = of_steps.assign(time=times / 1e9).dropna()
    by_name = known.sort_index(key=lambda names: names.astype(str))["time"]
    written = known.groupby("min")["time"].max()
    t = written.to_numpy()
    if (known["min"] != known["max"]).any() or len(t) < LEAST_STEPS or np.median(np.abs(np.diff(t))) < 1:
        return None
    drops = np.flatnonzero(np.diff(t) < 0)
    if not len(drops):
        return np.empty(0, np.int64)
    if len(drops) > 1 or by_name.is_monotonic_increasing:
        return None
    old = t[drops[0] + 1 :]
    anew = t[: drops[0] + 1] > old[-1]
    # the abandoned attempt began where the first steps of the other end
    is_attempt = 0 < anew.sum() < len(anew) and bool((t[: drops[0] + 1][~anew] <= old[0]).all())
    return written.index[drops[0] + 1 :].to_numpy(np.int64) if is_attempt else None
