"""The parts of a run end to end, where a rollout's key counts through them: from keys to rows, texts and token arrays.

Knows neither the order of the run's frame nor its shards.
"""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.runs.columns import ColumnInFile, Columns, kept_at
from board.runs.kept_rows import KeptRows
from board.runs.parts import COUNTS, Part
from board.runs.rollout import NO_METRIC
from board.schema import ALTERNATIVES, TEXTS, TOKEN_METRICS, TOKENS


class PartsByKey:
    """Parts, and the way from a rollout's key to its part and row."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts

    def beside(self, _rows: KeptRows) -> "PartsByKey":
        """The same with columns of some rollouts at hand: parts in memory have all of them."""
        return self

    all_at_hand = True
    """Whether the rollouts of all parts can be in memory together."""

    @property
    def has_measures(self) -> bool:
        """Whether `measure` knows what is measured of texts: it is not of parts in memory."""
        return False

    def measure(self, name: str, _keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """What was measured of some rollouts when an index was made, in their order."""
        raise KeyError(name)

    def __len__(self) -> int:
        """How many rollouts there are: their keys are the numbers below this one."""
        return int(self._starts[-1])

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The key of each part's first rollout, and the number of rollouts."""
        return np.cumsum([0, *map(len, self.parts)])

    def first_key(self, number: int) -> int:
        """The key of the first rollout of the part of that number."""
        return int(self._starts[number])

    def nths(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which of the rollouts of its record each is, in the order of the keys."""
        return self._all_nths[keys]

    def offsets(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The byte of its shard at which each rollout's line begins, in the order of the keys."""
        return self._all_offsets[keys]

    def prompt_keys(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Equal for rollouts of the same prompt (`board.runs.prompt_keys`), in the order of the keys."""
        return self._all_prompt_keys[keys]

    @cached_property
    def _all_nths(self) -> NDArray[np.int64]:
        return self._numbers_of("nth")

    @cached_property
    def _all_offsets(self) -> NDArray[np.int64]:
        return self._numbers_of("offset")

    @cached_property
    def _all_prompt_keys(self) -> NDArray[np.int64]:
        return self._numbers_of("prompt_key")

    def _numbers_of(self, column: str) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *(part.scalars.column(column).to_numpy() for part in self.parts)])

    def locate(self, key: int) -> tuple[Part, int] | None:
        """The part that holds a rollout, and its row there; None when there is no such rollout."""
        if not 0 <= key < len(self):
            return None
        number = int(self._numbers(np.asarray(key)))
        return self.parts[number], key - int(self._starts[number])

    def _numbers(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each key the number of its part."""
        return np.searchsorted(self._starts, keys, side="right") - 1

    def _by_part(self, keys: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The numbers of the parts that hold some of the keys, each with the places of these."""
        if not len(keys):
            return
        order = np.argsort(keys, kind="stable")
        numbers = self._numbers(keys[order])
        there, firsts = np.unique(numbers, return_index=True)
        yield from zip(there.tolist(), np.split(order, firsts[1:]), strict=True)

    @property
    def token_metrics(self) -> tuple[str, ...]:
        """Field names of the token arrays that any row has: the declared ones first."""
        return self._present(TOKEN_METRICS, lambda part: part.tokens, set(NO_METRIC))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the text fields that any row has: the declared ones first."""
        return self._present(TEXTS, lambda part: part.texts, set())

    @property
    def has_tokens(self) -> bool:
        """Whether any row has response_tokens."""
        return any(TOKENS in part.tokens.column_names for part in self.parts)

    def _present(
        self, declared: tuple[str, ...], table: Callable[[Part], Columns], leave_out: AbstractSet[str]
    ) -> tuple[str, ...]:
        seen = dict.fromkeys(name for part in self.parts for name in table(part).column_names if name not in leave_out)
        return (*(name for name in declared if name in seen), *(name for name in seen if name not in declared))

    @cached_property
    def moment_names(self) -> frozenset[str]:
        """Names of the columns of `moment` that any part has."""
        return frozenset(name for part in self.parts for name in part.moments.column_names)

    def moment(self, name: str, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """A column of `board.metrics.token_sums` for the given rollouts, in their order; NaN where a row lacks it. Shape (len(keys),)."""
        pieces = [
            part.moments.column(name).to_numpy() if name in part.moments.column_names else np.full(len(part), np.nan)
            for part in self.parts
        ]
        return np.concatenate([np.zeros(0), *pieces])[keys]

    def rows_of(self, keys: NDArray[np.int64]) -> Iterator[tuple[Part, int, NDArray[np.int64]]]:
        """The parts that hold some of the rollouts, each with the key of its first one and the rows that are asked for, rising."""
        wanted = np.zeros(len(self), bool)
        wanted[keys] = True
        for part, start in zip(self.parts, self._starts.tolist(), strict=False):
            rows = np.flatnonzero(wanted[start : start + len(part)])
            if len(rows):
                yield part, start, rows

    def at_tokens(self, column: str, keys: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[Any]:
        """What a token column holds at a position of each of some rollouts, in their order; missing where the rollout has no such token.

        Texts as objects, None where missing; numbers as float32, NaN where missing.
        """
        found = np.full(len(keys), None if column == TOKENS else np.nan, object if column == TOKENS else np.float32)
        for number, chosen in self._by_part(keys):
            part = self.parts[number]
            if column in part.tokens.column_names:
                lists = part.tokens.column(column).chunk(0)
                bounds, rows = lists.offsets.to_numpy(), keys[chosen] - self._starts[number]
                at = bounds[rows] + positions[chosen]
                there = (positions[chosen] >= 0) & (at < bounds[rows + 1]) & lists.is_valid().to_numpy(zero_copy_only=False)[rows]
                found[chosen[there]] = lists.values.take(pa.array(at[there])).to_numpy(zero_copy_only=False)
        return found

    def texts(self, column: str, keys: Sequence[int] | NDArray[np.int64]) -> pa.ChunkedArray:
        """One text column for the given rollouts, in their order; null where a row lacks it. Shape (len(keys),)."""
        return self._gathered(lambda part: part.texts, column, keys, pa.large_string())

    def lists(self, column: str, keys: Sequence[int] | NDArray[np.int64]) -> pa.ChunkedArray:
        """One token column for the given rollouts, in their order; null where a row lacks it. Shape (len(keys),)."""
        held = (part.tokens.column(column).type for part in self.parts if column in part.tokens.column_names)
        return self._gathered(lambda part: part.tokens, column, keys, next(held))

    @cached_property
    def has_alternatives(self) -> bool:
        """Whether any row says what else could have been sampled."""
        return any(ALTERNATIVES in part.tokens.column_names for part in self.parts)

    def bytes_of(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many bytes the texts of each of some rollouts take, and how many tokens it has, padding included; (len(keys),) each."""
        of_texts, tokens = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        for number, chosen in self._by_part(keys):
            part = self.parts[number]
            rows = keys[chosen] - self._starts[number]
            for column in part.texts.column_names:
                of_texts[chosen] += pc.fill_null(pc.binary_length(part.texts.column(column)), 0).to_numpy()[rows]
            if COUNTS in part.tokens.column_names:
                tokens[chosen] = pc.list_value_length(part.tokens.column(COUNTS)).to_numpy()[rows]
        return of_texts, tokens

    def _gathered(
        self, table: Callable[[Part], Columns], column: str, keys: Sequence[int] | NDArray[np.int64], kind: pa.DataType
    ) -> pa.ChunkedArray:
        """A column of the given rollouts, in their order, piece by piece out of their parts; null where a part lacks it."""
        wanted = np.asarray(keys, np.int64)
        pieces = [
            _taken(table(self.parts[number]), column, wanted[chosen] - self._starts[number], kind)
            for number, chosen in self._by_part(wanted)
        ]
        if (np.diff(wanted) > 0).all():  # as in a run that was written in order: there is nothing to put back
            return pa.chunked_array(pieces, kind)
        gathered = pa.chunked_array(pieces, kind).combine_chunks()
        order = np.argsort(wanted, kind="stable")
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.chunked_array([gathered.take(pa.array(back))], kind)

    def text_pieces(self, column: str) -> Iterator[ColumnInFile | pa.Array]:
        """One text column part by part, in the order of keys: where it lies on the disk, else itself; null where a part lacks it."""
        for part in self.parts:
            if column not in part.texts.column_names:
                yield pa.nulls(len(part), pa.large_string())
            else:
                yield kept_at(part.texts, column) or part.texts.column(column).combine_chunks()


def _taken(table: Columns, column: str, rows: NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    """Some rows of a column, rising."""
    if column not in table.column_names:
        return pa.nulls(len(rows), kind)
    if len(rows) == table.num_rows:  # all of them, once each
        return table.column(column).combine_chunks()
    return table.column(column).take(pa.array(rows)).combine_chunks()
