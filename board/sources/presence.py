"""Which files lie elsewhere, in what pieces their bytes come, and those fetched that are about to be read.

Many requests run at once, which one after another would take long. A file of this machine is there already, and every function here is then
over at once.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from board.sources.remote.mirror import Mirror

FOLDER: Final = "mirrored-stores"
"""The folder of the cache that holds the mirrors."""

BLOCK: Final = 1 << 16
"""Bytes are requested in whole blocks of so many; the last of an object may be shorter."""

REQUEST: Final = 32 * BLOCK
"""Bytes of one request, 2 MiB: several requests travel in parallel, and a cut connection costs little."""

Span = tuple[Path, int, int]
"""A file of a mirror, and the range of its bytes that is to be read."""

ALL: Final = 1 << 62
"""Where a span ends that is of all of a file."""

AHEAD: Final = 256
"""So many items of a sequence have their bytes requested before their turn."""

_T = TypeVar("_T")
_requested: set[Span] = set()


def may_be_mirrored(path: Path) -> bool:
    """Whether a path may be a mirror's; `board.sources.remote.listings` knows whether it is."""
    return f"{os.sep}{FOLDER}{os.sep}" in str(path)


def is_remote(path: Path) -> bool:
    """Whether what is read of the path comes from elsewhere."""
    return _mirror_of(path) is not None


def look_ahead(spans: Iterable[Span]) -> None:
    """Have spans of one store fetched that are about to be read. What goes wrong shows then."""
    for path, start, stop in spans:
        mirror = _mirror_of(path)
        if mirror is None:
            return
        with suppress(OSError):
            mirror.ask(mirror.found(path), start, stop)


def ahead(things: Iterable[_T], spans_of: Callable[[_T], Iterable[Span]]) -> Iterator[_T]:
    """The things in their order, the bytes of each requested some time before its turn, the first time that it is seen."""
    waiting: deque[_T] = deque()
    for one in things:
        spans = {span for span in spans_of(one) if may_be_mirrored(span[0])} - _requested
        _requested.update(spans)
        look_ahead(spans)
        waiting.append(one)
        if len(waiting) > AHEAD:
            yield waiting.popleft()
    yield from waiting


def ends_of(path: Path, size: int) -> list[Span]:
    """The first and the last block of a file: what tells whose it is, and where its last line ends."""
    return [(path, 0, min(BLOCK, size)), (path, max(0, size - BLOCK), size)]


def _mirror_of(path: Path) -> "Mirror | None":
    """The mirror that a path lies in; for one of this machine nothing that reads elsewhere is loaded."""
    if not may_be_mirrored(path):
        return None
    from board.sources.remote import listings

    return listings.mirror_of(path)
