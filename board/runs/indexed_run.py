"""An index as a run: what its file and its manifests say of each shard, none of which need be there any more.

Where the frame of the index is written out, manifests are read when a part of their shard is asked for, and not before.
Knows what an index says of a run; knows neither who made it nor what a row means.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from board.runs import frame_files
from board.runs.format_detection import Identity
from board.runs.index_folder import IndexReadOnly
from board.runs.kept_run import KeptRun
from board.runs.load_report import LoadReport
from board.runs.parsed_shard import ParsedShard
from board.runs.part_folder import Piece, piece_from
from board.runs.parts import Part
from board.runs.read_options import ReadOptions
from board.runs.sealed_file import Damaged
from board.runs.shared_values import RecentlyUsed
from board.runs.store import version
from board.runs.work_queue import WorkQueue
from board.sources import index_file
from board.sources.shards import Shard
from board.text.path_names import path_of

REPORTED: Final = ("skipped", "suggested_mapping", "notes", "aside", "recording")
"""What an index keeps of a load's report; the rest is in its pieces."""

_OPEN_SHARDS: Final = 64
"""The pieces of so many shards are kept in memory where parts are opened on demand."""


class IndexedRun(KeptRun):
    """What an index holds of a run. Nothing of it is parsed when it is opened."""

    store: IndexReadOnly

    def __init__(
        self, folder: Path, found: Sequence[Shard], asked: ReadOptions, within: Path | None, *, framed: bool = True
    ) -> None:
        """`found` are its shards, `asked` how a reader would have them read. Raises RunNotFound where the index cannot be used.

        Without `framed` its frame is made of its parts even where it is written out.
        """
        told = index_file.read(folder, within)
        try:
            self._told = told
            self.reading = reading_from(told["reading"])
            self.store = IndexReadOnly(folder, told["id"])
            self.batches = told["batches"]
            self._found = {shard.name: shard for shard in found}
            self.files = frame_files.read(folder, index_file.stamp(folder, within)) if told["complete"] and framed else None
            self._opened: RecentlyUsed[str, ParsedShard] = RecentlyUsed(_OPEN_SHARDS)
            if self.files is None:
                self.store.look_ahead(self._found.values())
            self.kept = {name: self._shard(name, with_pieces=self.files is None) for name in told["kept"]}
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise index_file.unusable(folder) from error
        self._notes = [*_unfinished(told, self.kept), *_other_version(told), *_other_choices(self.reading, asked)]

    def with_pieces(self, name: str) -> ParsedShard:
        """A shard with its pieces, whose manifest is read once for all who ask one after the other."""
        if self.files is None:
            return self.kept[name]
        opened = self._opened.use(name)
        if opened is None:
            opened = self._shard(name, with_pieces=True)
            self._opened.put(name, opened)
        return opened

    def missing(self) -> WorkQueue:
        """As of any run; nothing where all is in the frame."""
        return super().missing() if self.files is None else WorkQueue(())

    def done(self) -> tuple[int, int]:
        """As of any run."""
        if self.files is None:
            return super().done()
        return sum(kept.shard.size for kept in self.kept.values()), self.files.account.rows

    def parts(self, report: LoadReport) -> Iterator[Part]:
        """As of any run; what is read of each is fetched for all of them at once where the index lies elsewhere."""
        self.store.look_into(piece for kept in self.kept.values() for piece in kept.pieces)
        yield from super().parts(report)

    def _shard(self, name: str, *, with_pieces: bool) -> ParsedShard:
        """A shard as it was when it was indexed."""
        one, location = self._told["kept"][name], index_file.location_of(self._told)
        shard = replace(
            self._found[name],
            size=one["size"],
            mtime_ns=one["mtime_ns"],
            objects=one["objects"],
            companions=tuple(str(location / path_of(name)) for name in one["companions"]),
        )
        parsed = ParsedShard(shard, Identity(one["format"], one["note"], one["objects"]), [], is_indexed=True)
        if not with_pieces:
            return parsed
        try:
            manifest = self.store.manifest(shard)
        except Damaged:
            manifest = None
        parsed.pieces = [*manifest.pieces] if manifest else []
        if len(parsed.pieces) < one["ranges"]:
            parsed.refuse("its manifest in the index is damaged or gone: run `rl-logging-board index` again")
        for failed in one["failed"]:
            if failed["lines"] is None:
                parsed.refuse(failed["reason"])
            else:
                parsed.add(without_rows(failed["start"], failed["stop"], failed["lines"], failed["reason"]))
        if one["tail"]:
            parsed.add(piece_from(one["tail"]))
        return parsed

    def describe(self, report: LoadReport) -> None:
        """As it was when the index was made, and what a reader must know of the index."""
        for name in REPORTED:
            setattr(report, name, self._told["report"][name])
        report.formats = dict(Counter(kept.identity.format for kept in self.kept.values() if kept.identity.format))
        report.notes = {**report.notes, **dict.fromkeys(self._notes, len(self.kept))}


def reading_from(written: dict[str, Any]) -> ReadOptions:
    """How a run is read, out of its JSON. Raises KeyError or TypeError for anything else."""
    return ReadOptions(**{**written, "pads": tuple(written["pads"])})


def without_rows(start: int, stop: int, lines: int, reason: str) -> Piece:
    """A byte range of so many lines that could not be parsed, as a piece that says so."""
    return Piece(start, stop, lines, (), 0, "", problems=((None, reason, "refused"),), counts={"refused": 1})


def _unfinished(told: dict[str, Any], kept: dict[str, ParsedShard]) -> list[str]:
    if told["complete"]:
        return []
    done = sum(piece.stop - piece.start for one in kept.values() for piece in one.pieces)
    total = sum(one.shard.size for one in kept.values())
    return [f"This index is not complete: {done:,} of {total:,} bytes are in it. Run `rl-logging-board index` again to go on."]


def _other_version(told: dict[str, Any]) -> list[str]:
    if told["store"] == version():
        return []
    return ["This index was made by another version of the board: its numbers are as that one made them."]


def _other_choices(own: ReadOptions, asked: ReadOptions) -> list[str]:
    pairs = [(set(asked.pads), set(own.pads)), (asked.tokenizer, own.tokenizer), (asked.mapping, own.mapping)]
    if all(wanted in (held, set(), "") for wanted, held in pairs):
        return []
    return ["This index was made with other choices of padding, tokenizer or mapping than those asked for now: it keeps its own."]
