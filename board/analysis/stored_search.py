"""A text looked for in all parts of a run that is larger than memory, in the background, for as long as somebody looks.

What was found so far is told at any time: counts and rewards by step, and some of the places. Parts are gone through in an order that
is even over the run, so that what is told of a part of them is told of the whole as well as may be. Knows no screen.
"""

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.text_search import SearchText, hits_in
from board.errors import BoardError
from board.runs.discarded import rows_of_split
from board.runs.run import Run

UNWATCHED_SECONDS: Final = 20.0
"""A search that nobody was told of for so long stops; whoever asks for it again goes on with it."""

MOST_KEPT: Final = 4_000
"""Of more rollouts with a hit in one text the places of fewer are known, drawn evenly from all."""

_TOGETHER: Final = 16
"""So many parts are gone through before what was found is told."""

_GOLDEN: Final = 0.6180339887498949
_MIXING: Final = np.uint64(0x9E3779B97F4A7C15)
_SUMS: Final = ("rollouts", "hits", "with_sum", "with_known", "without_sum", "without_known")


@dataclass(frozen=True)
class StoredHits:
    """What was found so far. Not to be changed."""

    parts: int
    """How many were gone through."""
    of: int
    rollouts: int = 0
    """That were looked at."""
    hit: int = 0
    """Of them, those that hold what is looked for."""
    places: int = 0
    sums: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    """(steps, 6): what `by_step` is made of."""
    rows: dict[str, pd.DataFrame] = field(default_factory=dict)
    """By text some rollouts with a hit there: index key, step, reward, prompt_key."""
    totals: dict[str, int] = field(default_factory=dict)
    """By text how many rollouts have a hit there."""
    seconds: float = 0.0
    is_running: bool = False
    trouble: str = ""
    """Why it cannot go on."""

    @property
    def is_done(self) -> bool:
        """Whether all parts were gone through."""
        return self.parts == self.of

    @property
    def seconds_left(self) -> float:
        """As fast as so far."""
        return self.seconds * (self.of - self.parts) / max(1, self.parts)


class StoredSearch:
    """One search of one run that has a `beyond`, of all its splits or of one. Readers share it."""

    def __init__(self, run: Run, wanted: SearchText, columns: Sequence[str]) -> None:
        assert run.beyond is not None
        self._run, self._wanted, self._columns = run, wanted, tuple(columns)
        account = run.beyond.framed.files.account
        self._flags, self._split, self._steps = account.flags, run.beyond.split, run.steps
        self._order = np.argsort(np.arange(len(run.parts)) * _GOLDEN % 1.0)
        self._changing = threading.Lock()
        self._seen, self._is_wanted = 0.0, False
        self._kept = {name: _Kept() for name in self._columns}
        self._found = StoredHits(0, len(run.parts), sums=np.zeros((len(self._steps), len(_SUMS))))

    def see(self) -> StoredHits:
        """What was found so far; somebody looks."""
        with self._changing:
            self._seen = time.monotonic()
            return self._found

    def go_on(self) -> None:
        """Search on, in the background, unless that is under way or done."""
        with self._changing:
            self._seen, self._is_wanted = time.monotonic(), True
            if self._found.is_running or self._found.is_done or self._found.trouble:
                return
            self._found = replace(self._found, is_running=True)
        threading.Thread(target=self._work, name="search", daemon=True).start()

    def stop(self) -> None:
        """Search no further for now."""
        with self._changing:
            self._is_wanted = False

    def by_step(self, found: StoredHits) -> pd.DataFrame:
        """As `board.analysis.text_search.by_step`, of the rollouts that were looked at, in steps of which there is one."""
        sums = dict(zip(_SUMS, found.sums.T, strict=True))
        there = sums["rollouts"] > 0
        columns = {
            "rollouts": sums["rollouts"][there].astype(np.int64),
            "hits": sums["hits"][there].astype(np.int64),
            "share": sums["hits"][there] / np.maximum(sums["rollouts"][there], 1),
        }
        for name, side in (("with_hit", "with"), ("without", "without")):
            known = sums[f"{side}_known"][there]
            columns[name] = np.divide(sums[f"{side}_sum"][there], known, out=np.full(len(known), np.nan), where=known > 0)
        return pd.DataFrame(columns, index=pd.Index(self._steps[there], name="step"))

    def _goes_on(self) -> bool:
        return self._is_wanted and time.monotonic() - self._seen < UNWATCHED_SECONDS

    def _work(self) -> None:
        trouble = ""
        try:
            with ThreadPoolExecutor(os.cpu_count()) as pool:  # Arrow searches without holding the interpreter
                while not self._found.is_done and self._goes_on():
                    began, at = time.monotonic(), self._found.parts
                    pieces = [*pool.map(self._of_part, self._order[at : at + _TOGETHER].tolist())]
                    self._add(pieces, time.monotonic() - began)
        except (BoardError, OSError) as error:
            trouble = str(error)
        except Exception as error:  # noqa: BLE001 - the reader is told, and the sample is there
            trouble = f"{type(error).__name__}: {error}"
        finally:
            with self._changing:
                self._found = replace(self._found, is_running=False, trouble=trouble)

    def _of_part(self, number: int) -> "_OfPart":
        part, start = self._run.parts[number], self._run.first_key(number)
        rows = rows_of_split(part.scalars, self._flags, self._split)
        nothing = np.zeros(len(rows), np.int64)
        counts = {
            name: hits_in(part.texts.column(name), self._wanted)[rows] if name in part.texts.column_names else nothing
            for name in self._columns
        }
        scalars = {
            name: part.scalars.column(name).to_numpy()[rows] if name in part.scalars.column_names else np.full(len(rows), np.nan)
            for name in ("step", "reward", "prompt_key")
        }
        return _OfPart(pd.DataFrame(scalars, index=pd.Index(start + rows, name="key")), counts)

    def _add(self, pieces: Sequence["_OfPart"], seconds: float) -> None:
        before = self._found
        sums = before.sums + sum(one.sums(self._steps) for one in pieces)
        for name, kept in self._kept.items():
            for one in pieces:
                kept.add(one.rows[one.counts[name] > 0])
        with self._changing:
            self._found = replace(
                before,
                parts=before.parts + len(pieces),
                rollouts=before.rollouts + sum(len(one.rows) for one in pieces),
                hit=before.hit + sum(int(one.hit.sum()) for one in pieces),
                places=before.places + sum(int(count.sum()) for one in pieces for count in one.counts.values()),
                sums=sums,
                rows={name: kept.rows for name, kept in self._kept.items()},
                totals={name: kept.total for name, kept in self._kept.items()},
                seconds=before.seconds + seconds,
            )


@dataclass(frozen=True)
class _OfPart:
    rows: pd.DataFrame
    """Of the rollouts that were looked at: index key, step, reward, prompt_key."""
    counts: dict[str, NDArray[np.int64]]
    """By text, (rows,), how often each holds what is looked for."""

    @property
    def hit(self) -> NDArray[np.bool_]:
        """Which do. (rows,)"""
        found: NDArray[np.bool_] = np.logical_or.reduce(
            [np.zeros(len(self.rows), np.bool_), *(one > 0 for one in self.counts.values())]
        )
        return found

    def sums(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """(steps, 6): what they add to each of the steps."""
        at = np.searchsorted(steps, self.rows["step"].to_numpy())
        rewards, hit = self.rows["reward"].to_numpy(np.float64), self.hit
        columns = [np.ones(len(at)), hit.astype(np.float64)]
        for side in (hit, ~hit):
            known = side & ~np.isnan(rewards)
            columns += [np.where(known, rewards, 0.0), known.astype(np.float64)]
        return np.stack([np.bincount(at, one, len(steps)) for one in columns], axis=1)


class _Kept:
    """Some of the rollouts with a hit, drawn by their keys alone: the same ones in whichever order they are found."""

    def __init__(self) -> None:
        nothing = {"step": np.zeros(0, np.int64), "reward": np.zeros(0), "prompt_key": np.zeros(0, np.int64)}
        self.rows = pd.DataFrame(nothing, index=pd.Index([], dtype=np.int64, name="key"))
        self.total, self._below = 0, 2**64 - 1

    def add(self, rows: pd.DataFrame) -> None:
        self.total += len(rows)
        if len(rows):
            self.rows = pd.concat([self.rows, rows[self._drawn(rows)]]) if len(self.rows) else rows[self._drawn(rows)]
        while len(self.rows) > MOST_KEPT:
            self._below //= 2
            self.rows = self.rows[self._drawn(self.rows)]

    def _drawn(self, rows: pd.DataFrame) -> NDArray[np.bool_]:
        with np.errstate(over="ignore"):
            drawn: NDArray[np.bool_] = (rows.index.to_numpy().astype(np.uint64) + np.uint64(1)) * _MIXING <= np.uint64(
                self._below
            )
        return drawn
