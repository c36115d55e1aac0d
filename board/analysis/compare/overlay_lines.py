"""Lines of a panel of several runs: per run or per setting, minus a baseline.

Runs of one setting with other seeds are those of one tag, or names that differ by a number.

Small frames in and out; how they are computed of a run is others' business, and so is how they are drawn.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import pandas as pd

from board.analysis.compare.run_overlay import CURVE, less, seeds
from board.analysis.steps.step_positions import Axis, positions
from board.analysis.steps.step_stats import first_finite
from board.metrics.step_sums import Steps
from board.runs.run import Run


@dataclass(frozen=True)
class OverlayLine:
    """One line: what it is called, how it is coloured, and its points."""

    name: str
    color: str
    """ "#rrggbb"."""
    curve: pd.DataFrame
    """Columns CURVE, `at` rising."""
    runs: tuple[int, ...]
    """Which of the runs it is of, by their places among all."""
    counted: int = 0
    """How many runs' mean it is, where it is of seeds; 0 of a run by itself."""


def places(run: Run, axis: Axis) -> "pd.Series[float]":
    """Where on an axis each step of the run ends, by step. Raises FieldMissing where the run has no such column."""
    steps = Steps(run.frame["step"].to_numpy(np.int64))
    return pd.Series(positions(run.frame, steps, axis), index=steps.numbers)


def placed(by_step: pd.DataFrame, places: "pd.Series[float]", *, from_first: bool = False) -> pd.DataFrame:
    """A run's number by step (columns `step_intervals.BY_STEP`) at its places on an axis, columns CURVE; what has no place is left out.

    A step without a number stays, as a gap. Of steps that end at one place, as where no token was sampled, the last with a number is left:
    a line goes on from there. With `from_first` the first number is taken off all.
    """
    at = places.reindex(by_step["step"]).to_numpy(np.float64)
    value, low, high = (by_step[name].to_numpy(np.float64) for name in ("value", "low", "high"))
    order = np.lexsort(
        (np.isfinite(value), at)
    )  # of equal places those with a number behind the others, those without a place last
    order = order[: np.isfinite(at).sum()]
    drawn = order[np.diff(at[order], append=np.inf) > 0]
    origin = first_finite(value[drawn]) if from_first else 0.0
    columns = (at[drawn], by_step["step"].to_numpy()[drawn], *(column[drawn] - origin for column in (value, low, high)))
    return pd.DataFrame(dict(zip(CURVE, columns, strict=True)))


def with_seeds_joined(lines: Sequence[OverlayLine], settings: Sequence[tuple[str, list[int]]]) -> list[OverlayLine]:
    """The lines with those of one setting's runs as their mean and its interval, in the colour of the first; `settings` as `seed_groups`.

    A setting of which one run alone has the number is that run by itself.
    """
    joined = []
    for name, runs in settings:
        own = [line for line in lines if set(line.runs) <= {*runs}]
        if len(own) < 2:
            joined += own
            continue
        of_runs = tuple(at for line in own for at in line.runs)
        mean = seeds([line.curve for line in own])
        joined.append(OverlayLine(name, own[0].color, mean, of_runs, len(own)))
    return joined


def less_baseline(lines: Sequence[OverlayLine], baseline: int) -> list[OverlayLine]:
    """The others minus the line that is of the run at `baseline`; none where that has no such number."""
    below = next((line for line in lines if baseline in line.runs), None)
    if below is None:
        return []
    return [replace(line, curve=less(below.curve, line.curve)) for line in lines if line is not below]


Seeds = Literal["apart", "tag", "name"]

_SEED: Final = re.compile(r"(?:seed|(?<![A-Za-z])s)[-_=. ]*[0-9]+", re.IGNORECASE)
"""A seed that is named as one, anywhere in the name: seed3, seed_3, s3."""

_NUMBER: Final = re.compile(r"[0-9]+(?=[^0-9]*$)")

_EDGES: Final = " -_./="


def setting(name: str) -> str:
    """A run's name without its seed: without what is named a seed, else without its last number; the name where that leaves nothing."""
    seedless = _SEED.sub("", name)
    bare = seedless if seedless != name else _NUMBER.sub("", name)
    return re.sub(r"[-_. ]{2,}", lambda found: found[0][0], bare).strip(_EDGES) or name


def seed_groups(names: Sequence[str], tags: Sequence[Sequence[str]], by: Seeds) -> list[tuple[str, list[int]]]:
    """The runs by setting, in the order of the first of each: what the setting is called, and which runs are of it.

    A run without a tag, or alone with its own, is a setting by itself, under its own name; of several tags the one counts that most runs have.
    """
    found: dict[tuple[bool, str], list[int]] = {}
    for at, name in enumerate(names):
        label = _label(name, tags[at], tags, by)
        found.setdefault((True, label) if label else (False, f"{at}"), []).append(at)
    return [(label if len(runs) > 1 else names[runs[0]], runs) for (_, label), runs in found.items()]


def _label(name: str, own: Sequence[str], tags: Sequence[Sequence[str]], by: Seeds) -> str:
    if by == "name":
        return setting(name)
    return max(own, key=lambda tag: sum(tag in others for others in tags), default="") if by == "tag" else ""


def any_seeds(names: Sequence[str], tags: Sequence[Sequence[str]]) -> list[Seeds]:
    """By what some of the runs are one setting."""
    kinds: tuple[Seeds, ...] = ("tag", "name")
    return [by for by in kinds if len(seed_groups(names, tags, by)) < len(names)]
