"""Search in the prompts and responses of a run: hits per rollout, rewards per step.

Texts are searched as they lie in the run's parts, by RE2, whose time grows with the text alone, whatever the expression. Shows nothing.
"""

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.errors import BoardError
from board.runs.cache.parts import Part
from board.runs.run import Run

How = Literal["words", "phrase", "expression"]

COLUMNS: Final = ("prompt", "response")
"""The texts that are searched."""

LONGEST: Final = 1_000
"""Characters of the longest search text."""

_GATHERED: Final = 4
"""The texts of fewer than one rollout in so many are gathered before they are searched."""
_AT_ONCE: Final = 5_000
"""This many of them at a time."""


@dataclass(frozen=True)
class SearchText:
    """The text to search for, and how."""

    text: str
    how: How = "phrase"
    """Every one of its words, wherever they stand; the text as it is; or a regular expression as RE2 reads it."""
    exact_case: bool = False

    @property
    def required(self) -> tuple[str, ...]:
        """Expressions each of which a text must hold."""
        if self.how == "words":
            return tuple(self.flags + _word(word) for word in dict.fromkeys(self.text.split()))
        return (self.marked,)

    @property
    def marked(self) -> str:
        """The expression whose places are hits."""
        if self.how == "words":
            return self.flags + "|".join(_word(word) for word in dict.fromkeys(self.text.split()))
        return self.flags + (self.text if self.how == "expression" else re.escape(self.text))

    @property
    def flags(self) -> str:
        """Flags that every expression begins with: multi-line, and any case unless `exact_case`."""
        return "(?m)" if self.exact_case else "(?im)"


def checked(search: SearchText) -> SearchText:
    """The search itself, checked. Raises BoardError where it cannot be searched for."""
    if not search.text.strip():
        raise BoardError("There is nothing to look for.")
    if len(search.text) > LONGEST:
        raise BoardError(f"The text has {len(search.text):,} characters, and {LONGEST:,} is the most that is looked for.")
    try:
        nothing = [pc.match_substring_regex(pa.array([""]), one)[0].as_py() for one in (*search.required, search.marked)]
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        reason = str(error).partition("Invalid regular expression: ")[2] or "it holds a character that is no text"
        reason = reason.replace(search.flags, "", 1)
        raise BoardError(f"This is no regular expression: {reason}.") from error
    if any(nothing):
        raise BoardError("The expression is satisfied by nothing at all, and would be found everywhere.")
    return search


def count_hits(
    run: Run, search: SearchText, columns: Sequence[str] = COLUMNS, progress: Callable[[float], None] = lambda share: None
) -> pd.DataFrame:
    """How often each rollout's texts match the search: a column of int64 for each of `columns`, index and order the frame's.

    A text that is missing holds nothing. `progress` is called with the share that is done.
    """
    keys = run.frame.index.to_numpy()
    if len(keys) * _GATHERED < run.rows_read:
        found = {name: np.zeros(len(keys), np.int64) for name in columns}
        for first in range(0, len(keys), _AT_ONCE):  # together they may be more than memory
            some = slice(first, first + _AT_ONCE)
            for name in columns:
                found[name][some] = hits_in(run.texts(name, keys[some]), search)
            progress(min(1.0, (first + _AT_ONCE) / len(keys)))
        return pd.DataFrame(found, index=run.frame.index)
    pieces: list[dict[str, NDArray[np.int64]]] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Arrow searches without holding the interpreter
        try:
            for piece in pool.map(lambda part: _in_part(part, columns, search), run.parts):
                pieces.append(piece)
                progress(len(pieces) / len(run.parts))
        except BaseException:  # the reader went on to something else: what has not begun need not
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    whole = {name: np.concatenate([np.zeros(0, np.int64), *(piece[name] for piece in pieces)])[keys] for name in columns}
    return pd.DataFrame(whole, index=run.frame.index)


def hits_in(texts: pa.ChunkedArray, search: SearchText) -> NDArray[np.int64]:
    """How often each text matches the search, 0 unless it holds all that is required. Shape (rows,)."""
    counts = np.zeros(len(texts), np.int64)
    fits = np.ones(len(texts), bool)
    for one in search.required:
        fits &= pc.match_substring_regex(texts, one).fill_null(False).to_numpy()
    if fits.any():
        counts[fits] = pc.count_substring_regex(texts.filter(pa.array(fits)), search.marked).to_numpy()
    return counts


def by_step(frame: pd.DataFrame, hit: NDArray[np.bool_]) -> pd.DataFrame:
    """Index step: `rollouts`, `hits` (rollouts that are hit) and their `share`; the mean reward of `with_hit` and `without`, NaN where none.

    `frame` has `step` and may have `reward`; rewards that are missing enter no mean.
    """
    steps = frame["step"].to_numpy()
    firsts = np.flatnonzero(np.diff(steps, prepend=steps[0] - 1)) if len(steps) else np.zeros(0, np.int64)
    rollouts = np.diff([*firsts, len(steps)])
    hits = np.add.reduceat(hit.astype(np.int64), firsts) if len(firsts) else np.zeros(0, np.int64)
    found = {"rollouts": rollouts, "hits": hits, "share": hits / np.maximum(rollouts, 1)}
    rewards = frame["reward"].to_numpy(np.float64) if "reward" in frame.columns else np.full(len(frame), np.nan)
    for name, chosen in (("with_hit", hit), ("without", ~hit)):
        known = chosen & ~np.isnan(rewards)
        sums, counts = (
            np.add.reduceat(values, firsts) if len(firsts) else np.zeros(0)
            for values in (np.where(known, rewards, 0.0), known.astype(np.float64))
        )
        found[name] = np.divide(sums, counts, out=np.full(len(firsts), np.nan), where=counts > 0)
    return pd.DataFrame(found, index=pd.Index(steps[firsts], name="step"))


def _word(word: str) -> str:
    """A word that no other letters of the same alphabet touch; scripts without spaces are taken as they are."""
    left, right = (r"\b" if letter.isascii() and (letter.isalnum() or letter == "_") else "" for letter in (word[0], word[-1]))
    return f"{left}{re.escape(word)}{right}"


def _in_part(part: Part, columns: Sequence[str], search: SearchText) -> dict[str, NDArray[np.int64]]:
    table = part.texts
    return {
        name: hits_in(table.column(name), search) if name in table.column_names else np.zeros(len(part), np.int64)
        for name in columns
    }
