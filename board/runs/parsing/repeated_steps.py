"""Steps that one shard holds more than once, as a resumed job writes them."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.schema import EVALUATION
from board.sources.shards import Problem
from board.text.counting import listed

REPEAT_FACTOR: Final = 2
"""A step with at least so many times the rows of its neighbours is looked at for being written twice."""

MORE: Final = 1.5
"""A step with fewer times the usual rows was written once, if its rows are near each other."""

USUAL: Final = 0.8
"""Where so large a share of the steps has one size, steps do not vary in size;"""

VARIES: Final = 3
"""else they may have so many standard deviations of a count more than is usual."""

NEAR: Final = 4
"""So many steps' usual rows lie between rows that are near each other, at most."""

NAMED_WRITES: Final = 4
"""So many writes of one step are named by their lines: ranks that take turns in one file write each step thousands of times."""


@dataclass(frozen=True)
class Write:
    """Rows of one step that follow each other in a shard: their lines, the keys of their prompts, and which split they are of.

    Each of shape (rows,).
    """

    step: int
    lines: NDArray[np.int64]
    prompts: NDArray[np.int64]
    splits: NDArray[np.int64]

    def __str__(self) -> str:
        first, last = int(self.lines[0]), int(self.lines[-1])
        return f"line {first}" if first == last else f"lines {first} to {last}"

    def part(self, start: int, stop: int) -> "Write":
        """The rows from `start` to before `stop`."""
        return Write(self.step, self.lines[start:stop], self.prompts[start:stop], self.splits[start:stop])


def repeated_steps(scalars: pd.DataFrame) -> list[Problem]:
    """Steps that one shard holds more than once, as a job resumed from a checkpoint writes them.

    `scalars` has step, shard, line and prompt_key, and may have split and rank, in the order the rows were read, shard by shard. Two signs,
    either is enough: the shard comes back to a step after having gone on to another, or a step has a multiple of its neighbours' rows and
    repeats its own sequence of prompts. Of a shard whose ranks, or splits, stand one behind the other each is looked at by itself.
    """
    if scalars.empty:
        return []
    parts, names = pd.factorize(scalars["shard"])
    shards = _blocks(scalars, parts)
    steps, lines, prompts = (scalars[name].to_numpy(np.int64) for name in ("step", "line", "prompt_key"))
    # what is discarded is of one batch with what is not; an evaluation of the same step is of none
    is_held = scalars["split"] == EVALUATION if "split" in scalars else pd.Series(data=False, index=scalars.index)
    splits = np.asarray(is_held, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], (steps[1:] != steps[:-1]) | (shards[1:] != shards[:-1])]))
    stops = [*starts[1:], len(steps)]
    by_shard: dict[tuple[int, int], list[Write]] = {}
    for start, stop in zip(starts, stops, strict=True):
        by_shard.setdefault((int(parts[start]), int(shards[start])), []).append(
            Write(int(steps[start]), lines[start:stop], prompts[start:stop], splits[start:stop])
        )
    return [
        problem
        for (code, _), writes in by_shard.items()
        if len(writes) > 1
        for find in (_returns, _doubled)
        for problem in find(str(names[code]), writes)
    ]


def _blocks(scalars: pd.DataFrame, shards: NDArray[np.int64]) -> NDArray[np.int64]:
    """(rows,) equal numbers for rows of one shard, and of one rank and split of it where each of these stands in one block."""
    for name in scalars.columns.intersection(["rank", "split"]):
        codes = pd.factorize(scalars[name])[0]
        pairs = shards * (codes.max() + 2) + codes
        if (np.diff(pairs) != 0).sum() + 1 == len(np.unique(pairs)):
            shards = pairs
    return shards


def _repeated(shard: str, writes: list[Write]) -> Problem:
    where = listed(writes, NAMED_WRITES)
    reason = f"step {writes[0].step} is written {len(writes)} times ({where}), as by a resumed job: no row is dropped"
    return Problem(shard, int(writes[1].lines[0]), reason, "flagged")


def _returns(shard: str, writes: list[Write]) -> list[Problem]:
    """Steps that come again after another step.

    Neighbouring steps that are written in turns, as an asynchronous trainer does, are none: such a step has no more rows of any split than
    others, as far as these vary, and its rows are near each other, of which two steps tell nothing; or the trainer went back to a step only to
    go on after a few of its rows, where a resumed job writes a step whole before the next.
    """
    by_step: dict[int, list[Write]] = {}
    back = _resumes(writes)
    for write in writes:
        by_step.setdefault(write.step, []).append(write)
    kinds = 1 + max(int(write.splits.max()) for write in writes)
    sizes = np.array([sum(np.bincount(write.splits, minlength=kinds) for write in of_step) for of_step in by_step.values()])
    once = np.array([len(of_step) == 1 for of_step in by_step.values()])
    clean = sizes[once] if 2 * once.sum() >= len(once) else sizes
    usual = float(np.median(clean.sum(axis=1)))
    of_split = np.array([float(np.median(own[own > 0])) if own.any() else 0.0 for own in clean.T])
    varies = ((clean != of_split) & (clean > 0)).mean(axis=0) > 1 - USUAL
    most = np.maximum(MORE * of_split, np.where(varies, of_split + VARIES * np.sqrt(of_split), 0))

    def in_turns(again: list[Write], rows: NDArray[np.int64]) -> bool:
        if not any(int(again[0].lines[0]) < line <= int(again[-1].lines[0]) for line in back):
            return True
        between = max(int(late.lines[0] - early.lines[-1]) for early, late in pairwise(again))
        return len(by_step) > 2 and bool((rows < most)[rows > 0].all()) and between < NEAR * usual

    return [
        _repeated(shard, again)
        for again, rows in zip(by_step.values(), sizes, strict=True)
        if len(again) > 1 and not in_turns(again, rows)
    ]


def _resumes(writes: list[Write]) -> list[int]:
    """The first lines of writes with which a job may have begun again: behind a later step, and whole, or the last of all."""
    largest: dict[int, int] = {}
    for write in writes:
        largest[write.step] = max(largest.get(write.step, 0), len(write.lines))
    whole = float(np.median(list(largest.values()))) / MORE
    goes_on = [late.step > early.step for early, late in pairwise(writes)]
    return [
        int(late.lines[0])
        for at, (early, late) in enumerate(pairwise(writes), 1)
        if late.step < early.step and (len(late.lines) >= whole or not any(goes_on[at:]))
    ]


def _doubled(shard: str, writes: list[Write]) -> list[Problem]:
    """Steps whose rows are their own sequence of prompts several times over, while the other steps are shorter by that factor.

    A shard of one prompt, or of none, repeats itself anyway.
    """
    if len(writes) < 3 or len({write.step for write in writes}) < len(writes):
        return []
    usual = int(np.median([len(write.lines) for write in writes]))
    longer = [write for write in writes if len(write.lines) >= REPEAT_FACTOR * usual and len(write.lines) % usual == 0]
    if not longer or len(np.unique(np.concatenate([write.prompts for write in writes]))) < 2:
        return []
    return [
        _repeated(shard, [write.part(at, at + usual) for at in range(0, len(write.lines), usual)])
        for write in longer
        if (write.prompts.reshape(-1, usual) == write.prompts[:usual]).all()
    ]
