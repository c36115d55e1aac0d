"""The sample of rollouts, with texts, that is searched for phrases: evenly over the steps, groups whole, bounded in size."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.runs.run import Run
from board.text.text_units import GAP

_SEED: Final = 15


def group_codes(frame: pd.DataFrame) -> NDArray[np.int64]:
    """A number from 0 for the group of each rollout, equal within one step and group alone; -1 where it is of none. (rows,)"""
    if "group" not in frame.columns:
        return np.full(len(frame), -1)
    numbers = frame["group"].to_numpy(np.float64)
    known = np.isfinite(numbers)
    codes = np.full(len(frame), -1)
    steps, groups = (pd.factorize(one[known])[0].astype(np.int64) for one in (frame["step"].to_numpy(), numbers))
    codes[known] = pd.factorize(steps * (groups.max(initial=0) + 1) + groups)[0]
    return codes


def even_sample(frame: pd.DataFrame, most: int) -> NDArray[np.int64]:
    """Rows of at most so many rollouts, rising: of each step about as many, chosen by lot with the same seed; all where there are no more.

    Groups are taken whole. One that is larger than `most` is cut, so that there is always something.
    """
    rows = len(frame)
    if rows <= most:
        return np.arange(rows)
    groups = group_codes(frame)
    alone = groups.max(initial=-1) + 1 + np.arange(rows)
    _, firsts, unit, sizes = np.unique(
        np.where(groups >= 0, groups, alone), return_index=True, return_inverse=True, return_counts=True
    )
    steps = frame["step"].to_numpy()[firsts]
    order = np.lexsort([np.random.default_rng(_SEED).permutation(len(sizes)), steps])
    upto = np.cumsum(sizes[order])
    begins = np.flatnonzero(np.append(True, steps[order][1:] != steps[order][:-1]))
    before = np.repeat((upto - sizes[order])[begins], np.diff(np.append(begins, len(order))))
    taken = order[np.argsort(upto - before, kind="stable")]  # the first units of all steps, then the second ones, and so on
    held = taken[np.cumsum(sizes[taken]) <= most]
    return np.flatnonzero(np.isin(unit, held if len(held) else taken[:1]))[:most]


MOST_ROLLOUTS: Final = 20_000
MOST_BYTES: Final = 24_000_000
"""Of texts; of a run of long responses fewer rollouts are sampled, but at least LEAST_ROLLOUTS."""
LEAST_ROLLOUTS: Final = 2_000
LONGEST: Final = 12_000
"""Characters of a response; of a longer one half as many of its beginning and of its end are used."""

_PROBE: Final = 200


@dataclass(frozen=True)
class PhraseSample:
    """n rollouts and their responses."""

    frame: pd.DataFrame
    """Their rows of the run's frame, step by step, those of a group side by side."""
    texts: list[str]
    """(n,): responses; GAP stands for what was left out of a long one."""
    cut: int
    """How many of them were long."""
    of: int
    """How many rollouts with a response they were chosen from."""

    @property
    def keys(self) -> NDArray[np.int64]:
        """(n,) of the rollouts."""
        found: NDArray[np.int64] = self.frame.index.to_numpy(np.int64)
        return found


def phrase_sample(run: Run) -> PhraseSample:
    """Rollouts of the run's frame, evenly over its steps, groups whole, as many as may be; none where there are no responses."""
    if "response" not in run.text_columns:
        return PhraseSample(run.frame.iloc[:0], [], 0, 0)
    known = run.frame[np.isfinite(run.frame["response_chars"].to_numpy(np.float64))]
    frame = known.iloc[even_sample(known, _most(run, known))]
    frame = frame.iloc[np.lexsort([group_codes(frame), frame["step"].to_numpy()])]
    found = [text or "" for text in run.texts("response", frame.index.to_numpy()).to_pylist()]
    cut = sum(len(text) > LONGEST for text in found)
    return PhraseSample(frame, [_within(text) for text in found], cut, len(known))


def _most(run: Run, frame: pd.DataFrame) -> int:
    """How many rollouts may be sampled: by how long their texts are, and how many bytes a character of some of them takes."""
    probe = frame.index.to_numpy()[:: max(1, len(frame) // _PROBE)]
    texts = [text or "" for text in run.texts("response", probe).to_pylist()]
    width = sum(len(text.encode()) for text in texts) / max(1, sum(map(len, texts)))
    length = np.minimum(frame["response_chars"].to_numpy(np.float64), LONGEST).mean() if len(frame) else 0
    return int(np.clip(MOST_BYTES / max(1.0, width * length), LEAST_ROLLOUTS, MOST_ROLLOUTS))


def _within(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}{GAP}{text[-half:]}"
