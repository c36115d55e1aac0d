"""What a load has parsed so far as the parts of a run, with a sample of the rest.

A row whose line in the shard is not known yet has line 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from board.errors import RunNotFound
from board.runs.cache.columns import Columns, Overlaid
from board.runs.cache.part_folder import Piece
from board.runs.cache.parts import Part, part_of_rows, with_lines_after
from board.runs.load_report import LoadReport
from board.runs.loading.parsed_run import ParsedRun
from board.runs.loading.sampling import Sample
from board.runs.parsing.parsed_shard import ParsedShard, pieces_from_the_start
from board.runs.parsing.part_reader import PartReader
from board.runs.progress import Progress
from board.sources.shards import Shard


class Snapshot:
    """The parts of a load as it is now, at each call; those that were opened for one call stay open for the next."""

    def __init__(self, loader: ParsedRun) -> None:
        self.loader = loader
        self._opened: dict[tuple[str, int, str], list[Part]] = {}
        self.samples: tuple[Sample, ...] = ()
        """Replaced as a whole by the thread that samples."""
        self.counted: dict[Shard, dict[int, int]] = {}
        """By shard and byte how many lines stand before it, where a link had them counted."""

    def pieces(self, shard: str) -> list[Piece]:
        """What is parsed of a shard by now."""
        return self.loader.shards[shard].pieces

    def parsed(self) -> set[tuple[str, int]]:
        """Shards and starts of the byte ranges that are parsed."""
        return {(name, piece.start) for name, parsed in self.loader.shards.items() for piece in parsed.pieces}

    def rows_expected(self, progress: Progress, total: int) -> int:
        """A guess of how many rollouts a run of so many bytes has, from those read so far."""
        size = progress.bytes_done + sum(sample.size for sample in self.samples)
        rows = progress.rows + sum(sample.rows for sample in self.samples)
        return round(rows * total / size) if size else 0

    def parts(self, report: LoadReport) -> list[Part]:
        """The parts in the order of shards, what is known about them going into the report."""
        self.loader.describe(report)
        by_shard: dict[str, list[Sample]] = {}
        for sample in self.samples:
            if sample.shard == self.loader.shards[sample.shard.name].shard:  # it was not replaced since
                by_shard.setdefault(sample.shard.name, []).append(sample)
        beyond = {(name, start) for _, name, start in self.loader.beyond()}
        shards = self.loader.shards.items()
        return [part for name, parsed in shards for part in self._of_shard(parsed, by_shard.get(name, []), report, beyond)]

    def _of_shard(
        self, parsed: ParsedShard, samples: Sequence[Sample], report: LoadReport, beyond: set[tuple[str, int]]
    ) -> Iterator[Part]:
        for problem in parsed.broken:
            report.add(problem)
        # where a range could not be read, lines behind it are in no complete run either
        pieces = pieces_from_the_start(parsed) if parsed.broken else [*parsed.pieces]
        reader = PartReader(self.loader.store, self.loader.reading, report)
        lines_before = {0: 0} | (self.counted.get(parsed.shard, {}) if self.counted else {})
        for piece in pieces:
            before = lines_before.get(piece.start)
            if (parsed.shard.name, piece.start) not in beyond:
                yield from self._of_piece(parsed, piece, before, reader, report)
            if before is not None:
                lines_before[piece.stop] = before + piece.lines
        for sample in [] if parsed.broken or parsed.is_replaced else samples:
            yield from _of_sample(sample, pieces, report)

    def _of_piece(
        self, parsed: ParsedShard, piece: Piece, first_line: int | None, reader: PartReader, report: LoadReport
    ) -> Iterator[Part]:
        held = parsed.in_memory.get(piece.start)
        key = (parsed.shard.name, piece.start, piece.seal)
        if held is None and key not in self._opened:
            try:
                self._opened[key] = reader.opened(parsed, piece)
            except RunNotFound:  # the load itself says why, when it is done
                return
        for part in self._opened[key] if held is None else held:
            before = None if first_line is None else with_lines_after(part.scalars, first_line, parsed.shard)
            yield replace(part, scalars=before or _without_lines(part.scalars))
        if first_line is None:
            report.rows += piece.rows
        else:
            piece.report_to(report, parsed.shard, first_line)


def _of_sample(sample: Sample, pieces: Sequence[Piece], report: LoadReport) -> Iterator[Part]:
    """The rows of a sample whose byte ranges are not parsed yet, and the problems of one of which none is."""
    starts, stops = np.array([piece.start for piece in pieces]), np.array([0, *(piece.stop for piece in pieces)])
    for part in sample.parts:
        offsets = part.scalars.column("offset").to_numpy()
        rows = np.flatnonzero(offsets >= stops[np.searchsorted(starts, offsets, side="right")])
        if len(rows):
            report.rows += len(rows)
            yield part_of_rows(part, rows)
    if sample.snippets[0].within.start not in starts:
        for problem in sample.problems:
            report.add(problem)


def _without_lines(scalars: Columns) -> Columns:
    return Overlaid(scalars, {"line": pa.chunked_array([np.zeros(scalars.num_rows, np.int64)])})
