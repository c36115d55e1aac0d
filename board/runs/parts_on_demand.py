"""The parts of an index whose frame is written out: each opened when somebody asks for one of its rollouts, the last few kept open."""

from collections.abc import Callable, Sequence
from typing import Final, overload

from board.runs.parts import Part
from board.runs.shared_values import RecentlyUsed

OPEN_PARTS: Final = 512
"""So many are open at most: each takes some 50 kB."""


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
