"""Read the parts of parsed shards; what is damaged in the store is parsed again.

What reading finds goes into the load's report.
"""

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from board.errors import RunNotFound
from board.runs.cache.part_folder import PartFolder, Piece
from board.runs.cache.parts import Part, with_lines_after
from board.runs.cache.sealed_file import Damaged
from board.runs.load_report import LoadReport
from board.runs.parsing.byte_range import ByteRange, parse, parse_tail
from board.runs.parsing.parsed_shard import ParsedShard, pieces_from_the_start
from board.runs.read_options import ReadOptions
from board.sources.shards import Shard


class PartReader:
    """Reads parts out of a store, and what no store holds out of the shards."""

    def __init__(self, store: PartFolder, reading: ReadOptions, report: LoadReport) -> None:
        self._store, self._reading, self._report = store, reading, report

    def parts(self, parsed: ParsedShard) -> Iterator[Part]:
        """The parts of a shard in the order of its lines."""
        shard, first_line = parsed.shard, 0
        for piece in pieces_from_the_start(parsed):
            held = parsed.in_memory.get(piece.start)
            try:
                found = held if held is not None else self.opened(parsed, piece)
            except RunNotFound as error:
                parsed.refuse(str(error))  # the shard is another by now: where the lines behind it stand is not known any more
                break
            yield from (_placed(part, first_line, shard) for part in found)
            piece.report_to(self._report, shard, first_line)
            first_line += piece.lines
        for problem in parsed.broken:
            self._report.add(problem)
        yield from self._last_line(parsed, first_line)

    def opened(self, parsed: ParsedShard, piece: Piece) -> list[Part]:
        """The parts of a piece out of the store; parsed again when they are damaged, now or later, or were deleted a moment ago.

        Raises RunNotFound when the shard does not hold those bytes any more either.
        """
        again = _ParsedAgain(parsed.range_of(piece), piece, self._reading)

        def mended(at: int) -> Part:
            self._mend(parsed, piece)
            return again.parts[at]

        try:
            return [self._store.read(file, parsed.shard.name, partial(mended, at)) for at, file in enumerate(piece.files)]
        except Damaged:
            self._mend(parsed, piece)
        except OSError:
            self._store.forget(piece)
        return again.parts

    def _mend(self, parsed: ParsedShard, piece: Piece) -> None:
        """Say that a shard's part was damaged; the next load stores it anew."""
        self._store.forget(piece)
        if parsed.shard.name not in self._report.mended:
            self._report.mended.append(parsed.shard.name)

    def _last_line(self, parsed: ParsedShard, first_line: int) -> list[Part]:
        """What stands behind the last line end, never stored."""
        with suppress(RunNotFound):
            read_tail(parsed, self._reading)
        if not parsed.tail:
            return []
        piece, found = parsed.tail
        piece.report_to(self._report, parsed.shard, first_line)
        return [_placed(part, first_line, parsed.shard) for part in found]


def read_tail(parsed: ParsedShard, reading: ReadOptions) -> None:
    """Read what stands behind the last line end of a shard: a whole row whose line end is still to come, or half of one.

    Raises RunNotFound.
    """
    found: list[Part] = []
    if parsed.tail is None and parsed.has_tail():
        parsed.tail = parse_tail(parsed.tail_range(), reading, found.append), found


class _ParsedAgain:
    """A byte range parsed anew, when somebody asks for it and once for all who do: in place of parts that are damaged."""

    def __init__(self, byte_range: ByteRange, piece: Piece, reading: ReadOptions) -> None:
        self._range, self._piece, self._reading = byte_range, piece, reading
        self._turn = threading.Lock()
        self._parts: list[Part] = []

    @property
    def parts(self) -> list[Part]:
        """The parts of the piece. Raises RunNotFound when the shard does not hold those bytes any more."""
        with self._turn:
            if not self._parts:
                self._parts = self._parsed()
            return self._parts

    def _parsed(self) -> list[Part]:
        held: list[Part] = []
        again = parse(self._range, self._reading, held.append)
        if again.seal != self._piece.seal or len(held) != len(self._piece.files):
            raise RunNotFound("was rewritten while it was being read: load the run again")
        return held


def _placed(part: Part, first_line: int, shard: Shard) -> Part:
    return replace(part, scalars=with_lines_after(part.scalars, first_line, shard))
