"""Bounds on what a container gives for its size: rows and bytes, for every kind.

    given = Given(packed=size)
    given.expect(rows, bytes)   # what the container says of itself, before any of it is read
    given.take(rows, bytes)     # what came out of it; both raise TooMuch

So a small file cannot fill memory or disk. How long a row may be is for `board.sources.lines` to say. How long reading may take is said where
a query may run for ever: of databases.
"""

from typing import Final

from board.errors import RowRefused

RATIO: Final = 200
"""Rollouts become 3 to 30 times shorter, a collapsed policy's perhaps 100 times; gzip can reach 1,000 and zstd any number."""

WITHOUT_RATIO: Final = 256_000_000
"""So many bytes come out of any compressed stream, however short it is."""

SHARED: Final = 16
"""So many times are a table's values written out, of dictionaries and runs: a prompt for each of its rollouts, a mask of nothing but ones."""

ROWS: Final = 1 << 20
"""So many rows do, too: a million of constant columns take a few kilobytes. Each costs half a kilobyte of memory and as much of the cache."""

ROW_BYTES: Final = 8
"""Of larger files a row takes at least so many bytes: a reward alone has four or eight, a response has more."""


class TooMuch(RowRefused):
    """More came out of a container than its size allows."""


def is_dense(packed: int, unpacked: int, ratio: int = RATIO) -> bool:
    """Whether more came out of so many bytes than text of a model would."""
    return unpacked > WITHOUT_RATIO and unpacked > ratio * packed


class Given:
    """What a container has given so far."""

    def __init__(self, packed: int, ratio: int = RATIO) -> None:
        self._packed, self._ratio = packed, ratio
        self._rows, self.bytes = 0, 0

    def expect(self, rows: int, size: int) -> None:
        """Refuse what is going to be too much. Raises TooMuch with the reason."""
        most = max(ROWS, self._packed // ROW_BYTES)
        if self._rows + rows > most:
            raise TooMuch(f"holds more than {most:,} rows in {self._packed:,} bytes, which no trainer writes")
        if is_dense(self._packed, self.bytes + size, self._ratio):
            raise TooMuch(
                f"holds more than {self._ratio} times as many bytes as it has, unpacked; unpack it by hand if that is meant"
            )

    def take(self, rows: int, size: int) -> None:
        """Count what came out of it. Raises TooMuch when it is too much."""
        self.expect(rows, size)
        self._rows += rows
        self.bytes += size
