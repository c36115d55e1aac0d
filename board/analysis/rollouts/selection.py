"""Rollouts to show, in order: filter, sort, search, neighbours, extremes. Pure functions."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.errors import FieldMissing
from board.metrics.formulas import Float64Array
from board.runs.cache.parts import Part
from board.runs.run import Run
from board.schema import Extreme

Order = Extreme

Side = Literal["both", "policy prefers", "policy avoids"]
"""Which tokens: all, those the policy makes likelier than the reference does (log-ratio above zero), or those it makes rarer."""

_LONGEST_REGEX: Final = 1_000
"""Arrow ignores case by a regular expression, which is quadratic where both query and text repeat themselves at length.

A longer query, pasted from a response, is compared in lower case instead."""

_GATHERED: Final = 4
"""The texts of fewer than one rollout in so many are gathered before they are searched."""
_AT_ONCE: Final = 5_000
"""This many of them at a time."""

NOT_SORTABLE: Final = {"shard", "line"}
"""Numbers of where a row came from, not of its content."""


def of_step(frame: pd.DataFrame, step: int | None) -> pd.DataFrame:
    """The rows of one step, or all of them for None, in the frame's order."""
    if step is None:
        return frame
    steps = frame["step"].to_numpy()
    return frame.iloc[np.searchsorted(steps, step) : np.searchsorted(steps, step, side="right")]


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    """Columns a table can be sorted by and a curve drawn of: every number but the step and the place a row came from."""
    is_number = pd.api.types.is_numeric_dtype
    numeric = [str(name) for name, dtype in frame.dtypes.items() if is_number(dtype) and not pd.api.types.is_bool_dtype(dtype)]
    return [name for name in numeric if name not in NOT_SORTABLE and name != "step"]


def numbers(frame: pd.DataFrame, name: str) -> Float64Array:
    """(rows,) a column as finite numbers, NaN where it has none; all NaN where it is no number or not there."""
    if name not in frame.columns or not pd.api.types.is_numeric_dtype(frame[name].dtype):
        return np.full(len(frame), np.nan)
    values = frame[name].to_numpy(np.float64, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def sort(frame: pd.DataFrame, by: str, *, descending: bool) -> pd.DataFrame:
    """The rows ordered by a column; missing values last either way, ties in (step, shard, line) order. Raises FieldMissing."""
    if by not in frame.columns:
        raise FieldMissing(f"This run has no column {by!r} to sort by.")
    return frame.sort_values(by, ascending=not descending, kind="stable", na_position="last")


def sample(frame: pd.DataFrame, per_step: int, seed: int = 0) -> pd.DataFrame:
    """At most `per_step` rows of each step, drawn at random without replacement, in the frame's order; all of them for 0.

    The draw depends on the seed, the step and its number of rows alone, so the same run always shows the same rows.
    """
    if not per_step or frame.empty:
        return frame
    steps = frame["step"].to_numpy()
    firsts = np.flatnonzero(np.concatenate([[True], steps[1:] != steps[:-1]]))
    counts = np.diff([*firsts, len(steps)])
    place = np.arange(len(steps)) - np.repeat(firsts, counts)
    order = np.lexsort([_draw(np.full(len(steps), seed), steps, np.repeat(counts, counts), place), steps])
    return frame.iloc[np.sort(order[place < per_step])]


def _draw(*numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number as good as random for each row of whole numbers, always the same for the same row. Shape (rows,)."""
    drawn = np.zeros(len(numbers[0]), np.uint64)
    for column in numbers:
        drawn = pd.util.hash_array(drawn + column.astype(np.uint64))
    return drawn


def contains(texts: Sequence[pa.ChunkedArray], query: str) -> NDArray[np.bool_]:
    """Rows where any of the text columns contains the query verbatim, in any case. Shape (rows,); null contains nothing.

    All columns have the same number of rows.
    """
    found: NDArray[np.bool_] | None = None
    for column in texts:
        if len(query) <= _LONGEST_REGEX:
            matches = pc.match_substring(column, query, ignore_case=True)
        else:
            lowered = pc.utf8_lower(pa.scalar(query, pa.large_string())).as_py()
            matches = pc.match_substring(pc.utf8_lower(column), lowered)
        matches = matches.fill_null(False).to_numpy()
        found = matches if found is None else found | matches
    return np.zeros(0, bool) if found is None else found


def with_text(run: Run, keys: NDArray[np.int64], query: str) -> NDArray[np.bool_]:
    """Which of the rollouts have the query in prompt or response. Shape (len(keys),).

    Where most of the run is searched, every part is searched as it lies; the texts of a few rollouts are gathered first.
    """
    names = [name for name in ("prompt", "response") if name in run.text_columns]
    if len(keys) * _GATHERED < len(run.frame):
        found = np.zeros(len(keys), bool)
        for first in range(0, len(keys) if names else 0, _AT_ONCE):  # together they may be more than memory
            some = slice(first, first + _AT_ONCE)
            found[some] = contains([run.texts(name, keys[some]) for name in names], query)
        return found
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Arrow searches without holding the interpreter
        found = np.concatenate([np.zeros(0, bool), *pool.map(lambda part: _in_part(part, names, query), run.parts)])
    return found[keys]


def _in_part(part: Part, names: Sequence[str], query: str) -> NDArray[np.bool_]:
    found = contains([part.texts.column(name) for name in names if name in part.texts.column_names], query)
    return found if len(found) else np.zeros(len(part), bool)


def page(keys: NDArray[np.int64], number: int, size: int) -> NDArray[np.int64]:
    """Keys on the 1-based page; those of the last page when there are fewer."""
    start = (min(number, pages(len(keys), size)) - 1) * size
    return keys[start : start + size]


def pages(rows: int, size: int) -> int:
    """How many pages of `size` rows; at least one."""
    return max(1, -(-rows // size))


def neighbours(keys: Sequence[int] | NDArray[np.int64], key: int) -> tuple[int | None, int | None]:
    """The keys before and after `key` in this order; None at an end, and both None when `key` is not there."""
    order = np.asarray(keys)
    found = np.flatnonzero(order == key)
    if not len(found):
        return None, None
    at = int(found[0])
    return (int(order[at - 1]) if at else None), (int(order[at + 1]) if at + 1 < len(order) else None)


def preferred(log_ratio: NDArray[np.floating]) -> list[str]:
    """What the sign of each log-ratio means, shape (T,): the policy "prefers" the token, "avoids" it, or nothing where it is 0 or missing."""
    return ["prefers" if one > 0 else "avoids" if one < 0 else "" for one in log_ratio.tolist()]


def extreme_tokens(
    tokens: Sequence[str],
    metrics: Mapping[str, NDArray[np.floating]],
    by: str,
    order: Order,
    top: int,
    counts: NDArray[np.bool_],
    side: Side = "both",
) -> pd.DataFrame:
    """The `top` most extreme counted tokens by one metric: columns position (0-based), token, then every metric.

    `side` leaves those of one sign of the log-ratio; where there is no log-ratio no token has a side. Tokens without a number are left
    out, infinite ones come first where they are extreme. Raises FieldMissing for an unknown metric.
    """
    if by not in metrics:
        raise FieldMissing(f"This rollout has no {by}.")
    values = np.asarray(metrics[by], np.float64)
    rank = {"magnitude": -np.abs(values), "highest": -values, "lowest": values}[order]
    eligible = np.flatnonzero(~np.isnan(values) & counts & _on_side(metrics.get("log_ratio"), side, len(values)))
    chosen = eligible[np.argsort(rank[eligible], kind="stable")[:top]]
    columns = {name: np.asarray(array, np.float64)[chosen] for name, array in metrics.items()}
    return pd.DataFrame({"position": chosen, "token": [tokens[i] for i in chosen], **columns})


def _on_side(log_ratio: NDArray[np.floating] | None, side: Side, tokens: int) -> NDArray[np.bool_]:
    if side == "both":
        return np.ones(tokens, bool)
    if log_ratio is None:
        return np.zeros(tokens, bool)
    return log_ratio > 0 if side == "policy prefers" else log_ratio < 0
