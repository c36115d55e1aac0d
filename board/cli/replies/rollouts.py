"""Rollouts of a run as rows: which satisfy a condition, in which order, with which columns and texts. A run in, rows out, a batch at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts import selection
from board.analysis.texts import measured_columns, text_health
from board.cli.replies.contract import RolloutRow, RolloutsReply, Scalar
from board.errors import ArgumentRefused, BoardError
from board.runs.run import Run
from board.sql import index_query
from board.sql.condition import matching
from board.sql.identifiers import may_be_named

BATCH: Final = 1_000
"""So many rollouts have their texts read at a time."""

_DEFAULT: Final = ("reward", "valid_reward", "advantage_mean", "response_length", "response_chars", "kl_k3_mean", "data_source")
"""In each row of a list of rollouts, where the run has it."""

_PLACE: Final = ("step", "shard", "line")
"""Columns that `rollout` and `step` of a row say already."""


@dataclass(frozen=True)
class RolloutQuestion:
    """Which rollouts are requested, and what of them."""

    where: str = ""
    """A condition in SQL, as the filter of the pages takes it; empty for all."""
    sort: str = ""
    """A column; a minus before it for the largest first. The order of step, shard and line unless given."""
    top: int | None = None
    """At most so many; None for all."""
    columns: tuple[str, ...] = ()
    """Columns and texts; the usual numbers unless given."""
    longest: int | None = None
    """Characters of a text that are returned; None for all of it."""


@dataclass(frozen=True)
class ChosenRollouts:
    """The requested rollouts, in order: `keys` (at most `top`) of `matching`."""

    run: Run
    keys: NDArray[np.int64]
    matching: int
    columns: tuple[str, ...]
    longest: int | None

    def rows(self) -> Iterator[RolloutRow]:
        """The rollouts, with texts read a batch at a time."""
        for first in range(0, len(self.keys), BATCH):
            yield from self._rows(self.keys[first : first + BATCH])

    def _rows(self, keys: NDArray[np.int64]) -> list[RolloutRow]:
        held = [name for name in self.columns if name in self.run.frame.columns]
        frame = self.run.frame.loc[keys]
        cells: dict[str, list[Any]] = {name: frame[name].tolist() for name in held}
        for name in (one for one in self.columns if one not in held):
            cells[name] = [_shortened(text, self.longest) for text in self.run.texts(name, keys).to_pylist()]
        sources = self.run.sources(keys)
        return [
            RolloutRow(source, int(step), {name: scalar(cells[name][at]) for name in self.columns})
            for at, (source, step) in enumerate(zip(sources, frame["step"].tolist(), strict=True))
        ]


def choose(run: Run, question: RolloutQuestion) -> ChosenRollouts:
    """The rollouts that the question is of. Raises ArgumentRefused for a condition or a column that cannot be used."""
    names = [*question.columns, question.sort.removeprefix("-")]
    if any(may_be_named([one.name for one in text_health.COLUMNS], named) for named in (question.where, *names) if named):
        run = measured_columns.with_measures(run)
    columns = _checked(run, question.columns) if question.columns else [name for name in _DEFAULT if name in run.frame.columns]
    if question.top is not None and question.top < 0:
        raise ArgumentRefused(f"There are no {question.top} rollouts: ask for 0 or more.")
    if run.slice is not None:
        return _of_all(run, question, columns)
    left = run.frame[_satisfying(run, question.where)] if question.where else run.frame
    keys = _ordered(left, run, question.sort)
    return ChosenRollouts(run, keys[: question.top], len(keys), tuple(columns), question.longest)


def _of_all(run: Run, question: RolloutQuestion, columns: list[str]) -> ChosenRollouts:
    """Choose rollouts of a run that is larger than memory by a query over its files; no more than are opened at once."""
    sort = question.sort.removeprefix("-")
    if sort and sort not in run.frame.columns:
        raise ArgumentRefused(f"This run has no column {sort!r} to sort by.")
    try:
        count, held, keys = index_query.first(run, question.where, sort, question.top, descending=question.sort.startswith("-"))
    except BoardError as error:
        raise ArgumentRefused(str(error)) from error
    return ChosenRollouts(held, keys, count, tuple(columns), question.longest)


def rollouts(run: Run, name: str, question: RolloutQuestion) -> RolloutsReply:
    """The rollouts as one reply."""
    chosen = choose(run, question)
    return RolloutsReply(name, chosen.matching, list(chosen.rows()))


def _satisfying(run: Run, where: str) -> NDArray[np.bool_]:
    try:
        return matching(run, where)
    except BoardError as error:
        raise ArgumentRefused(str(error)) from error


def _ordered(frame: pd.DataFrame, run: Run, by: str) -> NDArray[np.int64]:
    column = by.removeprefix("-")
    if not column:
        keys: NDArray[np.int64] = frame.index.to_numpy(np.int64)
        return keys
    if column not in [*askable(run), "step"]:
        raise ArgumentRefused(f"Rollouts cannot be sorted by {column!r}: take one of {', '.join(askable(run))}.")
    order: NDArray[np.int64] = selection.sort(frame, column, descending=by.startswith("-")).index.to_numpy(np.int64)
    return order


def askable(run: Run) -> list[str]:
    """Names of the columns of the run's frame that a list of rollouts may show and be sorted by."""
    return [str(name) for name in run.frame.columns if name not in _PLACE]


def _checked(run: Run, names: Sequence[str]) -> list[str]:
    """The names, each once, and each of a column or a text. Raises ArgumentRefused for one the run does not have, and says which there are."""
    there = [*askable(run), *_PLACE, *run.text_columns]
    if unknown := next((name for name in names if name not in there), None):
        raise ArgumentRefused(f"The run has no column {unknown!r}. It has {', '.join(there)}.")
    return list(dict.fromkeys(names))


def scalar(value: Any) -> Scalar:
    """A cell as a reply has it: None where it is missing or not finite."""
    if value is None or value is pd.NA or (isinstance(value, float) and not np.isfinite(value)):
        return None
    return value if isinstance(value, int | float | str) else str(value)


def _shortened(text: str | None, longest: int | None) -> str | None:
    return text if text is None or longest is None or len(text) <= longest else f"{text[:longest]}…"
