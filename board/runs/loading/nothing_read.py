"""Why a run has no rollout: its rows were refused, or it holds logs of metrics."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from board.errors import BoardError, NothingRead
from board.formats.mapping import FILE as MAPPING_FILE
from board.runs.load_report import NAMED, LoadReport
from board.runs.parsing.format_detection import IS_LOG, suggested_mapping
from board.settings import run_choices
from board.sources.candidates import ONE_OBJECT
from board.sources.shards import Problem, Shard, find_shards
from board.text.counting import listed, plural
from board.text.path_names import path_of, shown
from board.trackers import nearby, tracker
from board.trackers.contract import Curves
from board.trackers.nearby import LogSource

_SWITCHES: Final = (
    (("progress/", "optim/", "env/"), "tinker-cookbook writes rollouts with rollout_json_export=True"),
    (("actor/", "critic/"), "verl writes rollouts with trainer.rollout_data_dir=DIR"),
    (("train/",), "TRL writes rollouts with log_completions=True, ms-swift with --log_completions true"),
)
"""How the names of a trainer's metrics begin, and its switch for rollouts."""

_ANY_SWITCH: Final = "docs/formats.md lists which files of which trainers hold rollouts"


def why_nothing(folder: Path, report: LoadReport) -> NothingRead | None:
    """The error that a run without a single rollout is; None where it has rollouts, or where nothing was written yet."""
    if report.rows:
        return None
    if report.refused:
        return _all_refused(report)
    left = [
        LogSource("jsonl", folder.resolve() / path_of(name), folder.resolve())
        for name, why in report.skipped.items()
        if why == IS_LOG
    ]
    return metrics_alone(folder, left) if left else None


def _all_refused(report: LoadReport) -> NothingRead:
    hint = (
        f" A mapping to begin with follows: save it as {MAPPING_FILE} next to the rollouts, or give it with --mapping."
        if report.suggested_mapping
        else f" If these are rollouts, a mapping ({MAPPING_FILE}) says which key is what: docs/formats.md has one."
        if report.keys
        else ""
    )
    return NothingRead(f"{refusal(report)}{hint}", report.suggested_mapping or None)


def refusal(report: LoadReport) -> str:
    """What to say in one sentence of rows that were all refused: how many, the first reason, and which keys were seen."""
    first = next((problem for problem in report.problems if problem.severity == "refused"), None)
    reason = f"; the first reason: {first}" if first else ""
    keys = f". Keys seen: {', '.join(report.keys)}" if report.keys and not (first and "its keys are" in first.reason) else ""
    return f"No rollout could be read: {plural(report.refused, 'line')} refused{reason}{keys}."


def shards_of(folder: Path, within: Path | None = None, *, mapped: bool = False) -> tuple[list[Shard], list[Problem]]:
    """As `find_shards`, with the mapping that the reader took, too. Where nothing but JSON objects is there that do not look like rollouts,
    they are the shards if one of them can be mapped: reading them tells what is wrong, and which mapping reads them."""
    mapped = mapped or os.path.isfile(run_choices.mapping_path(folder))  # noqa: PTH113 - is_file() raises where settings may not be read
    found, problems = find_shards(folder, within, mapped=mapped)
    if found or not any(one.reason == ONE_OBJECT for one in problems) or nearby.near(folder, within=folder):
        return found, problems
    objects, others = find_shards(folder, within, mapped=True)
    return (objects, others) if _suggested(*objects[:NAMED]) else (found, problems)


_suggested: Final = lru_cache(maxsize=10_000)(suggested_mapping)


def metrics_alone(folder: Path, left: Sequence[LogSource] = ()) -> NothingRead | None:
    """What to say of a folder that has logs of metrics and nothing else, those that were `left` out among them; None where it has none."""
    logs = [*dict.fromkeys([*nearby.near(folder, within=folder), *left])]
    if not logs:
        return None
    logged, names = [], set[str]()
    for log in logs[:NAMED]:
        try:
            curves = tracker(log.tracker).read(log.path, log.within)
        except BoardError:  # its library may be missing; that it is a log is known without
            curves = Curves({})
        names |= curves.keys()
        steps = [int(step) for curve in curves.values() for step in curve.steps[[0, -1]]]
        span = f" (steps {min(steps):,} to {max(steps):,})" if steps else f" (of {log.tracker})"
        logged.append(shown(log.path.relative_to(folder.resolve())) + span)
    switch = next((said for starts, said in _SWITCHES if any(name.startswith(starts) for name in names)), _ANY_SWITCH)
    return NothingRead(
        f"This folder holds metrics and no rollouts: {listed(logged, NAMED, len(logs))}. {switch}. "
        f"The curves can be drawn with the rollouts of a run: serve --scalars {shown(folder)}."
    )
