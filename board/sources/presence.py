"""Bytes that are about to be read, fetched beforehand where they are a remote run's: many at once, which one after another would take long.

What is a file of this machine's own is there already, and every function here is then over at once. Knows no format.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from board.remote import mounts
from board.remote.mirror import REQUEST_BLOCKS, Mirror
from board.remote.mirror import Span as Span
from board.remote.mirrored_object import BLOCK

REQUEST: Final = REQUEST_BLOCKS * BLOCK
"""Bytes asked for at once."""

AT_ONCE: Final = 512
"""Spans asked for before the first of them is waited for: each may hold two files open."""


def is_remote(path: Path) -> bool:
    """Whether what is read of the path comes from elsewhere."""
    return mounts.mirror_of(path) is not None


def bring(spans: Iterable[Span], tick: Callable[[], None] = lambda: None) -> None:
    """Fetch what is missing of these spans, in parallel; `tick` is called while waiting, and may raise. Raises OSError."""
    for mirror, group in _by_mirror(spans):
        mirror.bring(group, tick)


def ask_for(spans: Iterable[Span]) -> None:
    """Have these spans fetched while something else is done. What goes wrong shows when they are read."""
    for mirror, group in _by_mirror(spans):
        mirror.ask_for(group)


def look_ahead(spans: Iterable[Span]) -> None:
    """Fetch spans that are about to be looked at. What goes wrong shows then: one file that is gone must not hide the others."""
    for mirror, group in _by_mirror(spans):
        for at in range(0, len(group), AT_ONCE):
            mirror.bring_what_comes(group[at : at + AT_ONCE])


def look_at_whole(path: Path) -> None:
    """Fetch a whole file that is about to be looked at, as `look_ahead` does."""
    if is_remote(path):
        with suppress(OSError):
            look_ahead([(path, 0, path.stat().st_size)])


def missing_bytes(spans: Iterable[Span]) -> int:
    """How many of these bytes are still to be fetched; 0 for files of this machine's own."""
    return sum(mirror.missing_bytes(group) for mirror, group in _by_mirror(spans))


def ends_of(path: Path, size: int) -> list[Span]:
    """The first and the last block of a file: what tells whose it is, and where its last line ends."""
    return [(path, 0, min(BLOCK, size)), (path, max(0, size - BLOCK), size)]


def _by_mirror(spans: Iterable[Span]) -> Iterator[tuple[Mirror, list[Span]]]:
    groups: dict[int, tuple[Mirror, list[Span]]] = {}
    for span in spans:
        mirror = mounts.mirror_of(span[0])
        if mirror is None:
            continue
        groups.setdefault(id(mirror), (mirror, []))[1].append(span)
    yield from groups.values()
