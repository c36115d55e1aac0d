"""Which rollouts of a run the chips of a filter leave: numbers are compared here, all else goes to DuckDB.

DuckDB needs a process and takes a hundred times as long as what brushes and clicks ask for: numbers compared with numbers.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.runs.run import Run
from board.sql import identifiers
from board.sql.chips import Chip, condition
from board.sql.condition import matching
from board.sql.identifiers import exact_names
from board.sql.run_table import KEY, PROMPT_KEY, columns

Numbers = NDArray[np.int64] | NDArray[np.float64]

_NUMBER: Final = r"-?[0-9]+(?:\.[0-9]+)?"
_COMPARISON: Final = re.compile(
    rf"""\s*(?P<column>[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")+")\s*
    (?:\sBETWEEN\s+(?P<low>{_NUMBER})\s+AND\s+(?P<high>{_NUMBER})|(?P<sign><=|>=|<>|!=|=|<|>)\s*(?P<value>{_NUMBER}))
    (?P<more>\s+AND\s|\s*\Z)""",
    re.IGNORECASE | re.VERBOSE,
)

_SIGNS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}

_MOST_DIGITS: Final = 15
"""A decimal of so many digits is the float nearest to it, for DuckDB as for Python."""


@dataclass(frozen=True)
class Truth:
    """Of which rows a condition is true, and of which false, (rows,) each; where a number is missing it is neither."""

    true: NDArray[np.bool_]
    false: NDArray[np.bool_]

    def both(self, other: "Truth") -> "Truth":
        """Of the two conditions with AND between them."""
        return Truth(self.true & other.true, self.false | other.false)


def truth(condition: str, column: Callable[[str], Numbers | None]) -> Truth | None:
    """What DuckDB would say of each row; None where the condition is more than comparisons of numbers with AND between them.

    `column` gives the numbers of that name in lower letters, (rows,), NaN where missing; None where there are none of that name.
    """
    found: Truth | None = None
    at: int | None = 0
    while at is not None:
        compared = _COMPARISON.match(condition, at)
        here = None if compared is None else _compared(compared, column)
        if compared is None or here is None:
            return None
        found = here if found is None else found.both(here)
        at = compared.end() if compared["more"].strip() else None
    return found


def _compared(found: re.Match[str], column: Callable[[str], Numbers | None]) -> Truth | None:
    name = _name(found["column"])
    numbers = None if name is None else column(name)
    if numbers is None:
        return None
    holds = np.ones(len(numbers), bool)
    for compare, written in _limits(found):
        limit = _value(written, numbers.dtype)
        if limit is None:
            return None
        holds &= compare(numbers, limit)
    known = ~np.isnan(numbers) if numbers.dtype == np.float64 else np.ones(len(numbers), bool)
    return Truth(holds & known, ~holds & known)


def _limits(found: re.Match[str]) -> list[tuple[Callable[[Any, Any], Any], str]]:
    """What each number has to be against which limits, as these are written."""
    if found["sign"]:
        return [(_SIGNS[found["sign"]], found["value"])]
    return [(operator.ge, found["low"]), (operator.le, found["high"])]


def _name(written: str) -> str | None:
    """The column that SQL means, in lower letters; None for a word that is none."""
    if written.startswith('"'):
        return written[1:-1].replace('""', '"').lower()
    plain = written.lower()
    return plain if identifiers.column(plain) == plain else None


def _value(written: str, kind: np.dtype[Any]) -> int | float | None:
    """The number, to compare with those of that kind; None where DuckDB may take it for another."""
    if kind == np.int64:
        fits = "." not in written and -(2**63) < int(written) < 2**63
        return int(written) if fits else None
    return float(written) if len(written) <= _MOST_DIGITS else None


def left_by(run: Run, chips: Sequence[Chip], show: Callable[[float], None] = lambda share: None) -> NDArray[np.bool_]:
    """Which rows of the run's frame satisfy all chips that are on, shape (rows,). Raises BoardError as `matching` does.

    `show` receives the share that is done where DuckDB runs, 0 at first. A subquery sees the whole table
    `rollouts`, whatever other chips leave.
    """
    left, others = np.ones(len(run.frame), bool), list[Chip]()
    known = columns(run)
    for chip in (replace(one, condition=exact_names(one.condition, known)) for one in chips):
        found = truth(chip.condition, lambda name: _numbers(run, name)) if chip.on else None
        if found is not None:
            left &= found.false if chip.negated else found.true
        elif chip.on:
            others.append(chip)
    if not others:
        return left
    show(0.0)
    return left & matching(run, condition(others), show=show)


def _numbers(run: Run, name: str) -> Numbers | None:
    given = {sql.lower(): column for sql, column in columns(run).items()}.get(name)
    if given == KEY and name == KEY:
        return run.frame.index.to_numpy(np.int64)
    if given == PROMPT_KEY and given not in run.frame.columns:
        return run.prompt_keys
    found = run.frame[given] if given in run.frame.columns else None
    if not isinstance(found, pd.Series) or found.dtype not in (np.dtype(np.int64), np.dtype(np.float64)):
        return None
    return found.to_numpy()
