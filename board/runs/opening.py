"""Open a run: find its shards, have them loaded, and merge the rows by step, with a report of what loading found.

Knows what a reader may ask for (links, padding, tokenizer, mapping by hand, family); knows neither JSON nor what a row means.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

from board import formats
from board.errors import ArgumentRefused, MappingRefused
from board.formats.mapping import FILE as MAPPING_FILE
from board.runs import merging, recorder_account
from board.runs.load_report import LoadReport
from board.runs.loader import Loader
from board.runs.parts_by_key import PartsByKey
from board.runs.progress import Progress
from board.runs.read_options import ReadOptions
from board.runs.repeated_steps import repeated_steps
from board.runs.run import Run
from board.runs.store import Store
from board.sources import run_files, shards

_MOST_MAPPING: Final = 1_000_000
"""Bytes of a mapping by hand."""


def open_run(
    location: Path | str,
    *,
    within: Path | None = None,
    extra_pads: Sequence[str] = (),
    tokenizer: Path | str | None = None,
    mapping: Path | str | None = None,
    family: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Read every shard under `location` and merge the rows by step.

    `within` is the folder that links may lead to (default: the run itself); `extra_pads` are token texts to take as padding beside the common
    ones; `tokenizer` is a `tokenizer.json` that makes text of token ids where a run has no more than ids; `mapping` is a TOML file that maps
    the run's keys to our names (default: `rollouts.toml` in the folder, if there is one); `family` asks, of a folder that holds a recording
    and a trainer's own dump ("TRL"), for the dump, where without it the recording opens; `progress` is called now and then
    while reading. What cannot be read is in `run.report`. Raises RunNotFound when the folder does not
    exist or holds no shard.
    """
    folder = Path(location)
    found, problems = shards.find_shards(folder, within)
    if not found and not problems:
        raise shards.no_shards(folder)
    report = LoadReport(shards=len(found), bytes=sum(shard.size for shard in found))
    for problem in problems:
        report.add(problem)
    started = time.monotonic()

    def tell(done: int, rows: int) -> None:
        if progress:
            progress(Progress(done, report.bytes, rows, time.monotonic() - started))

    reading = ReadOptions(tuple(sorted(extra_pads)), str(tokenizer or ""), _mapping_text(folder, mapping), family)
    loader = Loader(found, Store(folder, _key(reading)), reading, tell)
    loader.run()
    kept = [one.shard for one in loader.kept.values()]
    report.shards, report.bytes = len(kept), sum(shard.size for shard in kept)
    report.recording = recorder_account.loss_sentences(kept)
    built = list(loader.parts(report))
    report.skipped = report.skipped | shards.databases_in(folder, within)
    for problem in repeated_steps(merging.scalars(built, ["step", "shard", "line", "prompt_key"])):
        report.add(problem)
    report.seconds = time.monotonic() - started
    by_name = {shard.name: shard for shard in kept}
    return Run(
        folder,
        merging.merged(built, list(by_name)),
        report,
        shards.fingerprint(found),
        uuid4().hex,
        PartsByKey(built),
        by_name,
        family,
    )


def _mapping_text(folder: Path, given: Path | str | None) -> str:
    """The mapping by hand in the given file, else in the one beside the run; empty when there is none. Raises MappingRefused."""
    path = Path(given) if given else folder / MAPPING_FILE
    if not given and (path.is_symlink() or not path.is_file()):  # a link could lead out of the root
        return ""
    try:
        text = run_files.whole(path, most=_MOST_MAPPING).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise MappingRefused(f"The mapping {given or path.name} cannot be read: {error}.") from error
    formats.mapped(text, str(given or path.name))
    return text


def _key(reading: ReadOptions) -> str:
    """Raises ArgumentRefused when the tokenizer file cannot be read."""
    try:
        return reading.key
    except OSError as error:
        raise ArgumentRefused(f"The tokenizer file {reading.tokenizer} cannot be read: {error.strerror}.") from error
