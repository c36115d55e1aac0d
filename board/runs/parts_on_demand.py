"""The parts of an index whose frame is written out: each opened when somebody asks for one of its rollouts, the last few kept open.

What is asked of many rollouts, such as the sums of their tokens, comes from the rows of the frame where these are at hand (`KeptRows`), and
touches no part. Knows where keys lie; knows neither how a part is opened nor the order of the frame.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.runs.kept_rows import KeptRows
from board.runs.parts import Part
from board.runs.parts_by_key import PartsByKey
from board.runs.shared_values import RecentlyUsed

OPEN_PARTS: Final = 512
"""So many are open at most: each takes some 50 kB."""


@dataclass(frozen=True)
class PartsAccount:
    """What the parts of a run hold together, without opening one."""

    token_metrics: tuple[str, ...]
    text_columns: tuple[str, ...]
    has_tokens: bool
    has_alternatives: bool
    moment_names: frozenset[str]
    has_measures: bool = False
    """Whether rows that are at hand hold what is measured of texts."""


class LazyParts(Sequence[Part]):
    """The parts of a run by number, each opened by `opened` when it is asked for."""

    def __init__(self, count: int, opened: Callable[[int], Part]) -> None:
        self._count, self._opened = count, opened
        self._held: RecentlyUsed[int, Part] = RecentlyUsed(OPEN_PARTS)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Part: ...
    @overload
    def __getitem__(self, at: slice) -> "list[Part]": ...
    def __getitem__(self, at: int | slice) -> "Part | list[Part]":
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(self._count))]
        if not 0 <= at < self._count:
            raise IndexError(at)
        held = self._held.use(at)
        if held is None:
            held = self._opened(at)
            self._held.put(at, held)
        return held


class PartsOnDemand(PartsByKey):
    """The same as all parts in memory, opened as they are needed."""

    def __init__(
        self,
        parts: Sequence[Part],
        starts: NDArray[np.int64],
        account: PartsAccount,
        rows: tuple[KeptRows, ...] = (),
        *,
        all_at_hand: bool = True,
    ) -> None:
        """`starts` (parts + 1,) are the key of each part's first rollout, and the number of rollouts; `rows` are at hand, the first first.

        `all_at_hand` says whether all of them may be.
        """
        super().__init__(parts)
        self._given, self._account, self._rows = starts, account, rows
        self.all_at_hand = all_at_hand

    def beside(self, rows: KeptRows) -> "PartsOnDemand":
        """The same with these rows at hand, too."""
        return PartsOnDemand(self.parts, self._given, self._account, (rows, *self._rows), all_at_hand=self.all_at_hand)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return self._given

    def nths(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """As of parts in memory."""
        return self._gathered_numbers("nth", keys).astype(np.int64)

    def offsets(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """As of parts in memory."""
        return self._gathered_numbers("offset", keys).astype(np.int64)

    def prompt_keys(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """As of parts in memory."""
        return self._gathered_numbers("prompt_key", keys).astype(np.int64)

    def moment(self, name: str, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """As of parts in memory."""
        if name not in self.moment_names:
            return np.full(len(keys), np.nan)
        found = self._from_rows(f"moment/{name}", keys, np.float64, np.nan)
        if found is not None:
            return found
        values = np.full(len(keys), np.nan)
        for number, chosen in self._by_part(keys):
            part = self.parts[number]
            if name in part.moments.column_names:
                values[chosen] = part.moments.column(name).to_numpy()[keys[chosen] - self._starts[number]]
        return values

    def _gathered_numbers(self, name: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        found = self._from_rows(f"source/{name}", keys, np.int64, 0)
        if found is not None:
            return found
        values = np.zeros(len(keys), np.int64)
        for number, chosen in self._by_part(keys):
            values[chosen] = self.parts[number].scalars.column(name).to_numpy()[keys[chosen] - self._starts[number]]
        return values

    def _from_rows(self, name: str, keys: NDArray[np.int64], kind: type[Any], missing: float) -> NDArray[Any] | None:
        """A column of rollouts all of which are at hand; None where one is not."""
        values, left = np.full(len(keys), missing, kind), np.arange(len(keys))
        for rows in self._rows:
            at = rows.places(keys[left])
            there = at >= 0
            if there.any():
                values[left[there]] = rows.column(name)[at[there]]
            left = left[~there]
            if not len(left):
                return values
        return values if not len(keys) else None

    def rows_of(self, keys: NDArray[np.int64]) -> Iterator[tuple[Part, int, NDArray[np.int64]]]:
        """As of parts in memory."""
        for number, chosen in self._by_part(keys):
            start = int(self._starts[number])
            yield self.parts[number], start, np.sort(keys[chosen]) - start

    @property
    def has_measures(self) -> bool:
        """As of any parts."""
        return self._account.has_measures

    def measure(self, name: str, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """As of any parts. Raises KeyError where one of the rollouts is not at hand."""
        found = self._from_rows(f"measured/{name}", keys, np.float64, np.nan)
        if found is None:
            raise KeyError(name)
        return found

    @property
    def token_metrics(self) -> tuple[str, ...]:
        """As of parts in memory."""
        return self._account.token_metrics

    @property
    def text_columns(self) -> tuple[str, ...]:
        """As of parts in memory."""
        return self._account.text_columns

    @property
    def has_tokens(self) -> bool:
        """As of parts in memory."""
        return self._account.has_tokens

    @cached_property
    def has_alternatives(self) -> bool:
        """As of parts in memory."""
        return self._account.has_alternatives

    @cached_property
    def moment_names(self) -> frozenset[str]:
        """As of parts in memory."""
        return self._account.moment_names

    def lists(self, column: str, keys: Sequence[int] | NDArray[np.int64]) -> pa.ChunkedArray:
        """As of parts in memory."""
        wanted = np.asarray(keys, np.int64)
        held = (self.parts[number].tokens for number, _ in self._by_part(wanted))
        kind = next((one.column(column).type for one in held if column in one.column_names), pa.large_list(pa.float32()))
        return self._gathered(lambda part: part.tokens, column, wanted, kind)
