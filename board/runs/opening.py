"""Open a run: find its shards, load them, merge the rows by step, and report."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from shlex import quote
from typing import Any, Final
from uuid import uuid4

import pandas as pd

from board import formats
from board.errors import ArgumentRefused, MappingRefused
from board.formats import trace_updates
from board.runs.cache.parts import Part
from board.runs.cache.parts_by_key import PartsByKey
from board.runs.cache.store import Store
from board.runs.indexed.indexed_run import IndexedRun
from board.runs.indexed.slices import SAMPLE, Slice, most_rollouts
from board.runs.load_report import LoadReport
from board.runs.loading import sampling
from board.runs.loading.loader import Loader
from board.runs.loading.nothing_read import metrics_alone, shards_of, why_nothing
from board.runs.loading.parsed_run import ParsedRun
from board.runs.loading.snapshot import Snapshot
from board.runs.parsing import column_room, merging
from board.runs.parsing.format_detection import joined
from board.runs.parsing.repeated_steps import repeated_steps
from board.runs.progress import Progress, Reading
from board.runs.read_options import ReadOptions
from board.runs.run import Run
from board.settings import run_choices
from board.sources import candidates, index_file, locations, run_files, shards

_MOST_MAPPING: Final = 1_000_000
"""Bytes of a mapping by hand."""

SETTING: Final = "RL_BOARD_OPEN_ROLLOUTS"
"""Environment variable: how many rollouts of a run that is no index are opened at once at most."""

MOST_ROLLOUTS: Final = 1_000_000
_most: Final = partial(most_rollouts, SETTING, MOST_ROLLOUTS)

SHARD_COST: Final = 500
"""What opening a shard costs in addition to parsing it, as bytes: of a run of very many small shards not all are small together."""


def open_run(
    location: Path | str,
    *,
    within: Path | None = None,
    extra_pads: Sequence[str] = (),
    tokenizer: Path | str | None = None,
    mapping: Path | str | None = None,
    family: str = "",
    progress: Callable[[Progress], None] | None = None,
    whole: bool = False,
) -> Run:
    """Read every shard under `location`, a folder or an address such as `s3://bucket/run`, and merge the rows by step.

    `within` is the folder that links may lead to (default: the run itself); `extra_pads` are tokens that pad in addition to the common ones and
    those that are set for the run; `tokenizer` is a `tokenizer.json` that makes text of token ids where a run has no more than ids;
    `mapping` is a TOML file that maps the run's keys to our names (default: `rollouts.toml` in the folder or one above it); `family` asks,
    of a folder that holds a recording and a trainer's own dump ("TRL"), for the dump, where without it the recording opens; `progress` is
    called now and then while reading; `whole` opens more rollouts than SETTING says, too. What cannot be read is in `run.report`. Raises
    RunNotFound when the folder does not exist or holds no shard, NothingRead where no row of it could be read, ArgumentRefused where it has
    more rollouts than are opened.
    """
    reading = {"extra_pads": extra_pads, "tokenizer": tokenizer, "mapping": mapping, "family": family}
    run = opened_whole(location, within=within, progress=progress, whole=whole, **reading)
    if run.reading:
        raise ArgumentRefused(
            f"{locations.shown_place(run.location)} has about {run.reading.rows_expected:,} rollouts, more than are opened at once "
            f"({SETTING}: {_most():,}). `{run.reading.command}` makes all of it readable."
        )
    if nothing := why_nothing(run.location, run.report):
        raise nothing
    return run


def opened_whole(location: Path | str, **options: Any) -> Run:
    """As `open_run`, and a run of which no row could be read is one of no rollouts, whose report says why, one of too many a sample."""
    opening = Opening(location, **options)
    with opening.loader.loading():
        return opening.whole()


class Opening:
    """A run that is being opened: its shards are found and what is cached of them is known; what is missing is for `loader` to read.

    Takes what `open_run` takes, and raises what it raises.
    """

    def __init__(
        self,
        location: Path | str,
        *,
        within: Path | None = None,
        extra_pads: Sequence[str] = (),
        tokenizer: Path | str | None = None,
        mapping: Path | str | None = None,
        family: str = "",
        progress: Callable[[Progress], None] | None = None,
        whole: bool = False,
        most_shards: int | None = None,
        small: int = 0,
    ) -> None:
        """With `most_shards` a run is opened to be looked at: nothing is written to the cache, and of more shards than that which the
        cache does not hold, and of more than `small` bytes, so many are taken, spread over it.
        """
        self._folder, self._within, self._family, self._on_progress = locations.folder_of(location), within, family, progress
        self._most = inf if whole or most_shards is not None else _most()
        locations.look_again(self._folder, wait=True)
        self._found, problems = shards_of(self._folder, within, mapped=mapping is not None)
        self._problems = [problem for problem in problems if problem.severity != "skipped"]
        self._skipped = {problem.shard: problem.reason for problem in problems if problem.severity == "skipped"}
        if not self._found and not self._problems:
            raise metrics_alone(self._folder) or candidates.no_shards(self._folder)
        seen = shards_of(self._folder, within)[0] if mapping is not None else self._found
        self._state = shards.state_of(self._folder, seen)
        self._bytes = sum(shard.size for shard in self._found)
        self._started = time.monotonic()
        reading = read_as(self._folder, extra_pads, tokenizer, mapping, family)
        self.has_all_shards = True
        self.loader: ParsedRun
        if index_file.is_there(self._folder):
            self.loader = IndexedRun(self._folder, self._found, reading, within)
        else:
            self.loader = self._of_cache(reading, most_shards, small)
        self._bytes_cached = self.loader.done()[0]

    def _of_cache(self, reading: ReadOptions, most_shards: int | None, small: int) -> ParsedRun:
        store = Store(self._folder, reading_key(reading))
        if most_shards is None:
            return Loader(self._found, store, reading, self._tell, self._most)
        found = joined(self._found)
        known = {shard.name for shard in found if store.has_manifest(shard)}
        new = [shard for shard in found if shard.name not in known]
        # of a run that was read, files without rollouts have no manifest either
        most = len(new) if sum(shard.size + SHARD_COST for shard in new) <= small else max(most_shards, len(known))
        taken = known | {new[at].name for at in sampling.spread(len(new))[:most]}
        self.has_all_shards = len(new) <= most
        return ParsedRun([shard for shard in found if shard.name in taken], store, reading)

    def _tell(self, done: int, rows: int) -> None:
        if self._on_progress:
            self._on_progress(self.progress(done, rows))

    def progress(self, done: int, rows: int) -> Progress:
        """How far the load is that has read so many bytes, with so many rollouts in them."""
        total = min(self._bytes, done * self._most / rows) if rows else self._bytes
        return Progress(done, int(total), rows, time.monotonic() - self._started, self._bytes_cached)

    def whole(self, snapshot: Snapshot | None = None) -> Run:
        """The run, once everything is read; of one that is larger than what is opened a sample, by the load's `snapshot` if there is one."""
        if self.loader.beyond():
            command = f"rl-logging-board index {quote(locations.shown_place(self._folder))} --out DEST"
            snapshot, progress = snapshot or Snapshot(self.loader), self.progress(*self.loader.done())
            return self.part_of_it(snapshot, progress, stopped=True, command=command)
        report = self._report()
        if isinstance(self.loader, IndexedRun):
            return self._of_index(self.loader, report)
        built = _fitted(list(self.loader.parts(report)), report)
        report.skipped = report.skipped | self._skipped | candidates.databases_in(self._folder, self._within)
        rows = merging.scalars(built)
        for problem in repeated_steps(self._of_batches(rows)):
            report.add(problem)
        return self._run(built, rows, report)

    def _of_batches(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows without those that were written as they were sampled: they come in any order of steps."""
        sampled = [
            name for name in self.loader.by_file if trace_updates.is_stream(name) or not self.loader.batches.get(name, True)
        ]
        return rows.loc[~rows["shard"].isin(sampled)] if sampled else rows

    def part_of_it(self, snapshot: Snapshot, progress: Progress, *, stopped: bool = False, command: str = "") -> Run:
        """A run of what is read so far; `command` as in `Reading`. What the whole alone can tell, as a step written twice, is not reported."""
        report = self._report()
        built = _fitted(snapshot.parts(report), report)
        reading = Reading(progress, report.rows, snapshot.rows_expected(progress, self._bytes), stopped, command=command)
        return self._run(built, merging.scalars(built), report, reading)

    def _report(self) -> LoadReport:
        files = self.loader.by_file
        report = LoadReport(shards=len(files), bytes=sum(shard.size for shard in files.values()))
        report.elsewhere = [*locations.troubles(self._folder)]
        for problem in self._problems:
            report.add(problem)
        return report

    def _of_index(self, loader: IndexedRun, report: LoadReport) -> Run:
        """An index: all of it, or a sample where it has more rollouts than are opened at once."""
        loader.describe(report)
        report.skipped = report.skipped | self._skipped | candidates.databases_in(self._folder, self._within)
        index, most = loader.index, most_rollouts()
        ids = index.sample(max(1, most // SAMPLE))
        by_key, keys = index.take(ids)
        for problem in column_room.problems(by_key.parts):
            report.add(problem)
        report.seconds = time.monotonic() - self._started
        made = self._made(index.frame(by_key, keys), report, by_key)
        return made if index.rollouts <= most else replace(made, slice=Slice(index, index.rollouts))

    def _made(self, frame: pd.DataFrame, report: LoadReport, by_key: PartsByKey, reading: Reading | None = None) -> Run:
        return Run(self._folder, frame, report, self._state, uuid4().hex, by_key, self.loader.by_file, self._family, reading)

    def _run(self, built: Sequence[Part], rows: pd.DataFrame, report: LoadReport, reading: Reading | None = None) -> Run:
        report.seconds = time.monotonic() - self._started
        frame = merging.merged(built, rows, list(self.loader.by_file), self.loader.batches)
        report.rows = len(frame)
        return self._made(frame, report, PartsByKey(built), reading)


def _fitted(built: Sequence[Part], report: LoadReport) -> list[Part]:
    """The parts with the columns that a run has room for; the report says what has none."""
    found, problems = column_room.fitted(built)
    for problem in problems:
        report.add(problem)
    return found


def mapping_text(folder: Path, given: Path | str | None) -> str:
    """The mapping by hand in the given file, else in the one next to or above the run, else that which the reader took for it on the page.

    Empty when there is none. Raises MappingRefused.
    """
    path = Path(given) if given else candidates.mapping_of(folder)
    if path is None:
        given = path = run_choices.mapping_path(folder)
        if not path.is_file():
            return ""
    try:
        text = run_files.whole(path, most=_MOST_MAPPING, within=None if given else path.parent).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise MappingRefused(f"The mapping {given or path.name} cannot be read: {error}.") from error
    formats.mapped(text, str(given or path.name))
    return text


def read_as(
    folder: Path,
    extra_pads: Sequence[str] = (),
    tokenizer: Path | str | None = None,
    mapping: Path | str | None = None,
    family: str = "",
) -> ReadOptions:
    """How the run in a folder is read: as the caller chooses, with the pads that its readers or its mapping name, too. Raises BoardError."""
    text = mapping_text(folder, mapping)
    named = formats.mapped(text).pads if text else ()
    pads = {pad for pad in (*extra_pads, *run_choices.pads(folder), *named) if pad.strip()}
    return ReadOptions(tuple(sorted(pads)), str(tokenizer or ""), text, family)


def reading_key(reading: ReadOptions) -> str:
    """`ReadOptions.key`. Raises ArgumentRefused when the tokenizer file cannot be read."""
    try:
        return reading.key
    except OSError as error:
        raise ArgumentRefused(f"The tokenizer file {reading.tokenizer} cannot be read: {error.strerror}.") from error
