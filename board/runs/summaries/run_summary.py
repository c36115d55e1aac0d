"""A run in a few numbers, without reading it whole.

They are of what the cache holds of it, else of its head, its tail and a few places between them. What is read is bounded whatever the run's
size, and nothing is stored for later. `python -m board.runs.summaries.run_summary` is a process of its own that summarises runs, so that one
that takes too much time or memory can be given up without harm to any reader; it gives way to other processes.
"""

import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from board import formats
from board.errors import BoardError
from board.runs import child_process
from board.runs.loading import sampling
from board.runs.loading.nothing_read import refusal, why_nothing
from board.runs.loading.snapshot import Snapshot
from board.runs.opening import Opening
from board.runs.parsing.byte_range import ByteRange
from board.runs.run import Run
from board.schema import NUMBERS
from board.sources import shards
from board.text.terminal import on_one_line

MOST_SHARDS: Final = 48
"""Of a run of more, which the cache does not hold, so many are looked at."""

MOST_SNIPPETS: Final = 24
SAMPLE_BYTES: Final = 3_000_000
"""So many stretches of a run, of so many bytes in all, are parsed of what the cache does not hold."""

WHOLE_BYTES: Final = 2_000_000
"""Where no more of a run than this is missing, in however many shards, all of it is parsed."""

PACKED_BYTES: Final = 12_000_000
"""So much is parsed of shards that can only be read whole, those that are compressed: the last, the first, and some between."""

POINTS: Final = 48
"""Of each curve at most: a sparkline has no more pixels to show them."""

MOST_METRICS: Final = 12

_DIGITS: Final = 6


@dataclass(frozen=True)
class RunSummary:
    """What is known of a run by a glance at it."""

    trainers: tuple[str, ...] = ()
    """Whose files they are."""
    first_step: int | None = None
    last_step: int | None = None
    rollouts: int = 0
    sampled: bool = False
    """Whether rollouts are estimated, and curves are of some of them alone."""
    problems: int | None = None
    """What loading the whole run found; None where it was not read whole."""
    curves: dict[str, tuple[float | None, ...]] = field(default_factory=dict)
    """By number of the rollouts its mean by step, in order of steps, or of so many steps that there are POINTS of them."""
    last: dict[str, float] = field(default_factory=dict)
    """By the same the mean of the last step that has it."""
    trouble: str = ""
    """Why there is nothing to tell, in one line; empty where there is."""


def from_written(written: dict[str, Any]) -> RunSummary:
    """A summary out of its JSON. Raises TypeError or KeyError for anything else."""
    curves = {str(name): tuple(curve) for name, curve in written["curves"].items()}
    return RunSummary(**{**written, "trainers": tuple(written["trainers"]), "curves": curves})


def summarise(location: Path, within: Path, *, tokenizer: str = "", mapping: str = "", family: str = "") -> RunSummary:
    """Look at the run in a folder, which is read as `open_run` reads it. Raises what that raises."""
    opening = Opening(
        location,
        within=within,
        tokenizer=tokenizer or None,
        mapping=mapping or None,
        family=family,
        most_shards=MOST_SHARDS,
        small=WHOLE_BYTES,
    )
    whole = _take_small(opening)
    run = opening.whole() if whole else _sampled(opening)
    summary = replace(_numbers(run), trainers=_trainers(run, opening.loader.reading.mapping))
    if not len(run.frame):
        summary = replace(summary, trouble=_why_empty(run, whole=whole))
    if whole:
        return replace(summary, rollouts=len(run.frame), problems=run.report.counts.total())
    expected = run.reading.rows_expected if run.reading and len(run.frame) else 0
    return replace(summary, rollouts=max(expected, len(run.frame)), sampled=True)


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """In the process: the summary of the run in a folder `location`, by the arguments of `summarise`; one with `trouble` where there is none."""
    try:
        return asdict(summarise(Path(order.pop("location")), Path(order.pop("within")), **order))
    except (BoardError, OSError) as error:
        return asdict(RunSummary(trouble=on_one_line(str(error))))


def _why_empty(run: Run, *, whole: bool) -> str:
    """Why there is no rollout in what was read: the rows' fault, the files', or, of a part, its size; empty where nothing is written yet."""
    if run.report.refused:
        return ("" if whole else "Read in part. ") + refusal(run.report)
    if nothing := why_nothing(run.location, run.report):
        return str(nothing)
    return "" if whole else "Its files are too large to be read in part: open the run to see it."


def _take_small(opening: Opening) -> bool:
    """Parse what is missing where that is little; whether the run is known whole then."""
    missing = opening.loader.missing().waiting()
    plain = [one for one in missing if shards.is_plain(one.shard)]
    others = [one for one in missing if not shards.is_plain(one.shard)]
    taken = plain if sum(map(_size, plain)) <= WHOLE_BYTES else []
    room = PACKED_BYTES
    for at in sampling.spread(len(others)):
        if _size(others[at]) <= room:
            room -= _size(others[at])
            taken = [*taken, others[at]]
    for one in taken:
        opening.loader.hold(one)
    return opening.has_all_shards and len(taken) == len(missing)


def _size(one: ByteRange) -> int:
    return one.stop - one.start


def _sampled(opening: Opening) -> Run:
    """The run as what is cached of it, and a sample of the rest."""
    snapshot, loader = Snapshot(opening.loader), opening.loader
    snippets = sampling.scattered(loader.missing().waiting(), MOST_SNIPPETS, SAMPLE_BYTES)
    snapshot.samples = tuple(sampling.samples(snippets, loader.reading))
    return opening.part_of_it(snapshot, opening.progress(*loader.done()), stopped=True)


def _trainers(run: Run, mapping: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(formats.by_name(name, mapping).FAMILY for name in run.report.formats))


def _numbers(run: Run) -> RunSummary:
    """Steps and curves of the rollouts of training, else of those there are."""
    frame = run.trained.frame
    if frame.empty:
        return RunSummary()
    named = [*(name for name in NUMBERS if name in frame.columns), *(name for name in frame.columns if name not in NUMBERS)]
    numeric = [name for name in named if name not in _NO_METRIC and pd.api.types.is_numeric_dtype(frame[name])]
    charted = sorted(numeric, key=lambda name: name != "reward")[:MOST_METRICS]
    means = _means(frame, charted)
    curves = {str(name): _points(means[name].to_numpy()) for name in charted}
    last = {str(name): _rounded(float(means[name].dropna().iloc[-1])) for name in charted if means[name].notna().any()}
    return RunSummary(
        first_step=int(means.index[0]),
        last_step=int(means.index[-1]),
        curves={name: curve for name, curve in curves.items() if name in last},
        last={name: value for name, value in last.items() if value is not None},
    )


_NO_METRIC: Final = frozenset({"step", "line", "group"})


def _means(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The mean of each column by step, of its finite values; NaN where a step has none."""
    with np.errstate(all="ignore"):
        values = frame[names].astype("float64").replace([np.inf, -np.inf], np.nan)
        means = values.groupby(frame["step"].to_numpy()).mean()
    return means.replace([np.inf, -np.inf], np.nan)


def _points(means: "np.ndarray[Any, np.dtype[np.float64]]") -> tuple[float | None, ...]:
    """A curve of at most POINTS: each the mean of the steps it stands for, None where none of them has one."""
    pieces = np.array_split(means, min(POINTS, len(means)))
    return tuple(_rounded(float(np.mean(known))) if (known := piece[np.isfinite(piece)]).size else None for piece in pieces)


def _rounded(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None


if __name__ == "__main__":
    child_process.serve(lambda order, _: answer(order), niceness=10, memory_share=4)
