"""The file for an address of `/export`: which run, which rollouts, which format."""

import time
from collections.abc import Mapping
from typing import Final

from board.errors import ArgumentRefused, RunNotFound
from board.runs import library
from board.runs.export import FORMATS, MEDIA, Format, pieces
from board.runs.loading.nothing_read import why_nothing
from board.runs.run import Run
from board.serving.downloads import ExportFile
from board.text.counting import plural
from board.ui.frame import filter_bar, reading_line
from board.ui.state import caches

PARAMETERS: Final = ("run", "split", "filter", "format", "arrays")


def requested(query: Mapping[str, str]) -> ExportFile:
    """The file of the run as it is now, whole. Raises BoardError where something of the address is not as it can be."""
    if unknown := sorted(query.keys() - {*PARAMETERS}):
        raise ArgumentRefused(f"An export has no {unknown[0]!r}: it takes {', '.join(PARAMETERS)}.")
    form = next((one for one in FORMATS if one == query.get("format", "csv")), None)
    if form is None:
        raise ArgumentRefused(f"format is one of {', '.join(FORMATS)}.")
    if query.get("arrays", "0") not in ("0", "1"):
        raise ArgumentRefused("arrays is 1, with the token arrays, or 0.")
    run = caches.measured(_whole(query.get("run", "")))
    if (split := query.get("split")) and run.splits != (split,):
        run = _of_split(run, split)
    run = filter_bar.filtered(run, query.get("filter"), silent=True)
    return ExportFile(file_name(run, form), MEDIA[form], pieces(run, form, query.get("arrays") == "1"))


def _whole(name: str) -> Run:
    """The run of that name under the root, read again where its shards have changed, and to its end where it is being read."""
    root, runs = caches.root(), caches.library()
    folder = next((one for one in caches.run_folders(root, name) if one.name == name), None)
    if folder is None:
        raise RunNotFound(f"There is no run {name!r} under this root.")
    opened = reading_line.opened_as(folder, root)
    key = (opened.location, opened.pads, opened.family)
    for _ in range(2):  # a refresh that another reader started may have begun before this request
        held = runs.peek(*key)
        if held is not None and held.reading is None and library.current_fingerprint(opened.location, root) != held.fingerprint:
            runs.refresh(held, root)
    run = runs.open(opened.location, root, opened.pads, family=opened.family)
    while load := runs.load(*key):
        load.watch()
        time.sleep(0.2)
    run = runs.peek(*key) or run
    if run.reading:
        larger = run.reading.command and "This run is opened as a sample: `rl-logging-board export` writes all of it."
        stopped = "The reading of this run was stopped: let it go on, and export it then."
        raise ArgumentRefused(run.reading.trouble or larger or stopped)
    if nothing := why_nothing(run.location, run.report):
        raise nothing
    return run


def _of_split(run: Run, split: str) -> Run:
    known_split = next((name for name in run.splits if name == split), None)
    if known_split is None:
        raise ArgumentRefused(f"The run has no rollouts of the split {split!r}: it has {', '.join(run.splits)}.")
    return caches.cached("split", lambda: run.of_split(known_split), run, known_split)


def file_name(run: Run, form: Format) -> str:
    """What the file is called: after the run, with the number of rollouts where they are not all."""
    count = f"-{plural(len(run.frame), 'rollout').replace(',', '').replace(' ', '-')}" if run.selection else ""
    return f"{run.name}{count}.{form}"
