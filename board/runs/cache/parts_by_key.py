"""The parts of a run end to end: from rollout keys to rows, texts and token arrays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.runs.cache.columns import ColumnInFile, Columns, column_in_file
from board.runs.cache.parts import COUNTS, Part
from board.runs.cache.rollout import NO_METRIC
from board.schema import ALTERNATIVES, TEXTS, TOKEN_METRICS, TOKENS


@dataclass(frozen=True)
class PartsAccount:
    """What the parts of a run hold together."""

    starts: NDArray[np.int64]
    """The key of each part's first rollout, and the number of rollouts. (parts + 1,)"""
    token_metrics: tuple[str, ...]
    """Field names of the token arrays that any row has: the declared ones first."""
    text_columns: tuple[str, ...]
    """Names of the text fields that any row has: the declared ones first."""
    has_tokens: bool
    has_alternatives: bool
    """Whether any row says what else could have been sampled."""
    moment_names: frozenset[str]
    """Names of the columns of `moment` that any part has."""


def account_of(parts: Sequence[Part]) -> PartsAccount:
    """What parts that are all there hold."""
    starts = np.cumsum([0, *map(len, parts)])
    tokens = dict.fromkeys(name for part in parts for name in part.tokens.column_names)
    texts = dict.fromkeys(name for part in parts for name in part.texts.column_names)
    moments = frozenset(name for part in parts for name in part.moments.column_names)
    metrics = [name for name in tokens if name not in NO_METRIC]
    named = _declared_first(TOKEN_METRICS, metrics), _declared_first(TEXTS, texts)
    return PartsAccount(starts, *named, TOKENS in tokens, ALTERNATIVES in tokens, moments)


def _declared_first(declared: Sequence[str], seen: Iterable[str]) -> tuple[str, ...]:
    return (*(name for name in declared if name in {*seen}), *(name for name in seen if name not in declared))


@dataclass(frozen=True, eq=False)
class PartsByKey:
    """Parts, and the way from a rollout's key to its part and row."""

    parts: Sequence[Part]

    @cached_property
    def account(self) -> PartsAccount:
        """What they hold together."""
        return account_of(self.parts)

    def __len__(self) -> int:
        """How many rollouts there are: their keys are the numbers below this one."""
        return int(self.account.starts[-1])

    def source(self, name: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number of the source of each of some rollouts, in their order. (len(keys),)

        `nth`: which of the rollouts of its record it is; `offset`: the byte of its shard at which its line begins; `prompt_key`: equal for
        rollouts of the same prompt (`board.runs.prompt_keys`).
        """
        return self._numbers(lambda part: part.scalars, name, keys, 0)

    def moment(self, name: str, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """A column of `board.metrics.token_sums` for the given rollouts, in their order; NaN where a row lacks it. Shape (len(keys),)."""
        if name not in self.account.moment_names:
            return np.full(len(keys), np.nan)
        return self._numbers(lambda part: part.moments, name, keys, np.nan)

    def _numbers(self, table: Callable[[Part], Columns], name: str, keys: NDArray[np.int64], missing: float) -> NDArray[Any]:
        held = [(table(part), len(part)) for part in self.parts]
        pieces = [one.column(name).to_numpy() if name in one.column_names else np.full(rows, missing) for one, rows in held]
        return np.concatenate([np.full(0, missing), *pieces], dtype=type(missing))[keys]

    def locate(self, key: int) -> tuple[Part, int] | None:
        """The part that holds a rollout, and its row there; None when there is no such rollout."""
        for number, _ in self._by_part(np.array([key])) if 0 <= key < len(self) else ():
            return self.parts[number], key - int(self.account.starts[number])
        return None

    def _by_part(self, keys: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The numbers of the parts that hold some of the keys, each with the places of these."""
        if not len(keys):
            return
        order = np.argsort(keys, kind="stable")
        numbers = np.searchsorted(self.account.starts, keys[order], side="right") - 1
        there, firsts = np.unique(numbers, return_index=True)
        yield from zip(there.tolist(), np.split(order, firsts[1:]), strict=True)

    def rows_of(self, keys: NDArray[np.int64]) -> Iterator[tuple[Part, int, NDArray[np.int64]]]:
        """The parts that hold some of the rollouts, each with the key of its first one and the rows of these rollouts, rising."""
        for number, chosen in self._by_part(keys):
            start = int(self.account.starts[number])
            yield self.parts[number], start, np.sort(keys[chosen]) - start

    def at_tokens(self, column: str, keys: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[Any]:
        """What a token column holds at a position of each of some rollouts, in their order; missing where the rollout has no such token.

        Texts as objects, None where missing; numbers as float32, NaN where missing.
        """
        found = np.full(len(keys), None if column == TOKENS else np.nan, object if column == TOKENS else np.float32)
        for number, chosen in self._by_part(keys):
            part = self.parts[number]
            if column in part.tokens.column_names:
                lists = part.tokens.column(column).chunk(0)
                bounds, rows = lists.offsets.to_numpy(), keys[chosen] - self.account.starts[number]
                at = bounds[rows] + positions[chosen]
                there = (positions[chosen] >= 0) & (at < bounds[rows + 1]) & lists.is_valid().to_numpy(zero_copy_only=False)[rows]
                found[chosen[there]] = lists.values.take(pa.array(at[there])).to_numpy(zero_copy_only=False)
        return found

    def texts(self, column: str, keys: Sequence[int] | NDArray[np.int64]) -> pa.ChunkedArray:
        """One text column for the given rollouts, in their order; null where a row lacks it. Shape (len(keys),)."""
        return self._gathered(lambda part: part.texts, column, keys, pa.large_string())

    def lists(self, column: str, keys: Sequence[int] | NDArray[np.int64]) -> pa.ChunkedArray:
        """One token column for the given rollouts, in their order; null where a row lacks it. Shape (len(keys),)."""
        kinds = (part.tokens.column(column).type for part in self.parts if column in part.tokens.column_names)
        return self._gathered(lambda part: part.tokens, column, keys, next(kinds, pa.large_list(pa.float32())))

    def bytes_of(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many bytes the texts of each of some rollouts take, and how many tokens it has, padding included; (len(keys),) each."""
        of_texts, tokens = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        for number, chosen in self._by_part(keys):
            part = self.parts[number]
            rows = keys[chosen] - self.account.starts[number]
            for column in part.texts.column_names:
                of_texts[chosen] += pc.fill_null(pc.binary_length(part.texts.column(column)), 0).to_numpy()[rows]
            if COUNTS in part.tokens.column_names:
                tokens[chosen] = pc.list_value_length(part.tokens.column(COUNTS)).to_numpy()[rows]
        return of_texts, tokens

    def _gathered(
        self, table: Callable[[Part], Columns], column: str, keys: Sequence[int] | NDArray[np.int64], kind: pa.DataType
    ) -> pa.ChunkedArray:
        """A column of the given rollouts, in their order, piece by piece out of their parts; null where a part lacks it."""
        keys = np.asarray(keys, np.int64)
        pieces = [
            _taken(table(self.parts[number]), column, keys[chosen] - self.account.starts[number], kind)
            for number, chosen in self._by_part(keys)
        ]
        if (np.diff(keys) > 0).all():  # as in a run that was written in order: there is nothing to put back
            return pa.chunked_array(pieces, kind)
        gathered = pa.chunked_array(pieces, kind).combine_chunks()
        order = np.argsort(keys, kind="stable")
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.chunked_array([gathered.take(pa.array(back))], kind)

    def text_pieces(self, column: str) -> Iterator[ColumnInFile | pa.Array]:
        """One text column part by part, in the order of keys: where it lies on the disk, else itself; null where a part lacks it."""
        for part in self.parts:
            if column not in part.texts.column_names:
                yield pa.nulls(len(part), pa.large_string())
            else:
                yield column_in_file(part.texts, column) or part.texts.column(column).combine_chunks()


def _taken(table: Columns, column: str, rows: NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    """Some rows of a column, rising."""
    if column not in table.column_names:
        return pa.nulls(len(rows), kind)
    if len(rows) == table.num_rows:  # all of them, once each
        return table.column(column).combine_chunks()
    return table.column(column).take(pa.array(rows)).combine_chunks()
