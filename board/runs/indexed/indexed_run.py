"""An index as a run: what its file says of each source, which need not be there."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from board.runs.cache.code_version import version
from board.runs.indexed.slices import Index
from board.runs.load_report import LoadReport
from board.runs.loading.parsed_run import ParsedRun
from board.runs.parsing.format_detection import Identity
from board.runs.parsing.parsed_shard import ParsedShard
from board.runs.parsing.range_parsing import WorkQueue
from board.runs.read_options import ReadOptions
from board.sources import index_file
from board.sources.shards import Problem, Shard
from board.text.path_names import path_of, shown

REPORTED: Final = ("skipped", "suggested_mapping", "notes", "aside", "recording")
"""What an index holds of a load's report; the rest is said of its sources."""


class IndexedRun(ParsedRun):
    """What an index holds of a run. Nothing of it is parsed when it is opened."""

    def __init__(self, folder: Path, found: Sequence[Shard], requested: ReadOptions, within: Path | None) -> None:
        """`found` are its shards, `requested` how a reader would have them read. Raises RunNotFound where the index cannot be used."""
        self._content = index_file.read(folder, within)
        try:
            if self._content["sums"] is None or self._content["places"] is None:
                raise KeyError("sums")
            self.reading = reading_from(self._content["reading"])
            self.batches = self._content["batches"]
            self.index = Index(folder, self._content)
            by_name = {shard.name: shard for shard in found}
            location = index_file.location_of(self._content)
            self._files: dict[str, Shard] = {}
            self.shards = {}
            for name, source in self._content["sources"].items():
                companions = tuple(str(location / path_of(one)) for one in source["companions"])
                own = [
                    replace(by_name[one], objects=source["objects"], companions=companions) for one in source["members"] or [name]
                ]
                self._files |= {one.name: one for one in own}
                identity = Identity(source["format"], source["note"], source["objects"])
                self.shards[name] = ParsedShard(replace(own[0], name=name, size=source["size"]), identity, [])
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise index_file.unusable(shown(folder.resolve().name)) from error
        self._notes = [*_other_version(self._content), *_other_choices(self.reading, requested)]

    @property
    def by_file(self) -> dict[str, Shard]:
        """By name the files of the run, in their order, as the index names them."""
        return self._files

    def missing(self) -> WorkQueue:
        """Nothing: what is in the index is all there is."""
        return WorkQueue(())

    def done(self) -> tuple[int, int]:
        """The bytes of all sources, and the rollouts of the index: all is read."""
        return sum(source["size"] for source in self._content["sources"].values()), self.index.rollouts

    def describe(self, report: LoadReport) -> None:
        """As it was when the index was made, and what a reader must know of the index."""
        for name in REPORTED:
            setattr(report, name, self._content["report"][name])
        sources = self._content["sources"]
        report.formats = dict(Counter(one["format"] for one in sources.values() for _ in one["members"] or [1] if one["format"]))
        report.notes = {**report.notes, **dict.fromkeys(self._notes, len(self.shards))}
        report.rows = self.index.rollouts
        for name, source in sources.items():
            for problem in source["problems"]:
                report.add_counted(Problem(**problem))
            report.counts.update(source["counts"])
            report.unfinished += source["unfinished"]
            if source["failed"]:
                report.add(Problem(name, None, f"could not be indexed: {source['failed']}", "refused"))


def reading_from(written: dict[str, Any]) -> ReadOptions:
    """How a run is read, out of its JSON. Raises KeyError or TypeError for anything else."""
    return ReadOptions(**{**written, "pads": tuple(written["pads"])})


def _other_version(content: dict[str, Any]) -> list[str]:
    if content["store"] == version():
        return []
    return ["This index was made by another version of the board: its numbers are as that one made them."]


def _other_choices(own: ReadOptions, requested: ReadOptions) -> list[str]:
    pairs = [(set(requested.pads), set(own.pads)), (requested.tokenizer, own.tokenizer), (requested.mapping, own.mapping)]
    if all(value in (held, set(), "") for value, held in pairs):
        return []
    return ["This index was made with other choices of padding, tokenizer or mapping than those given now: it keeps its own."]
