"""The list of runs: filtered, ordered, grouped, and each as a row of a table.

Made of the summary of a run and what the reader noted about it. What is not known is None.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from board.runs.library import HERE, LIVE_SECONDS, RunFolder
from board.runs.summaries.run_summaries import SummaryState
from board.runs.summaries.run_summary import RunSummary
from board.settings.run_choices import RunNote
from board.text.format_number import fmt

NOT_READ: Final = "not read yet"
NOT_LOOKED: Final = "not looked at"
UNTAGGED: Final = "no tag"
TOP: Final = "."
"""The folder of runs that lie in the root itself."""

Grouping = Literal["", "folder", "tag"]
Order = Literal["name", "written", "value", "step", "rollouts", "size", "trainer", "problems", "findings"]

_SECONDS: Final = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))


@dataclass(frozen=True)
class ListedRun:
    """All that is known of a run."""

    folder: RunFolder
    state: SummaryState
    note: RunNote
    age: float
    """Seconds since it was written to last."""
    findings: int | None = None
    """None where no search for any has run since the board started."""
    path: str = ""
    """Of its folder: the key of what the reader noted about it."""

    @property
    def summary(self) -> RunSummary:
        """The summary of a quick read, or an empty one."""
        return self.state.summary or RunSummary()

    @property
    def is_live(self) -> bool:
        """Whether it is training now: written to lately, and seen growing. A clock may be a little ahead of another."""
        return bool(self.folder.shards) and abs(self.age) < LIVE_SECONDS and self.state.grows

    @property
    def place(self) -> str:
        """The folder it lies in, relative to the root."""
        return self.folder.name.rpartition("/")[0] or TOP

    @property
    def trainer(self) -> str:
        """Whose files they are; empty where that is unknown."""
        return ", ".join(self.summary.trainers)

    @property
    def address(self) -> dict[str, str | int]:
        """Where a link to it leads: its newest step, where that is known and not estimated, so that the page need not choose one."""
        step = None if self.summary.sampled or self.summary.trouble else self.summary.last_step
        return {"run": self.folder.name} | ({} if step is None else {"step": step})

    def marked(self, value: float | None) -> str:
        """A number of the summary as text, marked "about" where it is of a sample; empty where it is not known."""
        return "" if value is None else ("about " if self.summary.sampled else "") + fmt(value)

    def name(self, root: str) -> str:
        """What the screen calls it: what the reader does, else its path; `root` is the root's own name."""
        return self.note.title or (root if self.folder.name == HERE else self.folder.name)


@dataclass(frozen=True)
class RunFilter:
    """Which runs are listed; empty for any."""

    text: str = ""
    """Words that are all in its name, path, tags, note or trainer, in any case."""
    tag: str = ""
    trainer: str = ""
    live: bool = False
    hidden: bool = False
    """Whether those are listed too that the reader hid."""


def left(runs: Sequence[ListedRun], chosen: RunFilter) -> list[ListedRun]:
    """Those that a filter leaves, in their order."""
    return [one for one in runs if _is_left(one, chosen)]


def _is_left(one: ListedRun, chosen: RunFilter) -> bool:
    note = one.note
    if (note.hidden and not chosen.hidden) or (chosen.live and not one.is_live):
        return False
    if (chosen.tag and chosen.tag not in note.tags) or (chosen.trainer and chosen.trainer not in one.summary.trainers):
        return False
    searched = "\n".join((one.folder.name, note.title, note.note, one.trainer, *note.tags)).casefold()
    return all(word in searched for word in chosen.text.casefold().split())


def ordered(runs: Sequence[ListedRun], by: Order, metric: str, *, descending: bool) -> list[ListedRun]:
    """The pinned first, then by the given order; runs without that value come last either way. Names in natural order."""
    known = [one for one in runs if _rank(one, by, metric) is not None]
    rest = [one for one in runs if _rank(one, by, metric) is None]
    inside = sorted(known, key=lambda one: _rank(one, by, metric), reverse=descending)
    return sorted([*inside, *rest], key=lambda one: not one.note.pinned)


def _rank(one: ListedRun, by: Order, metric: str) -> Any:
    summary = one.summary
    ranks: Mapping[str, Any] = {
        "name": _natural(one.note.title or one.folder.name),
        "written": one.folder.modified_ns or None,
        "value": summary.last.get(metric),
        "step": summary.last_step,
        "rollouts": summary.rollouts or None,
        "size": one.folder.bytes,
        "trainer": one.trainer or None,
        "problems": summary.problems,
        "findings": one.findings,
    }
    return ranks[by]


def _natural(name: str) -> list[tuple[int, str]]:
    """Orders names so that 2 comes before 10, without regard to case."""
    parts = re.split(r"([0-9]+)", name.casefold())
    return [(len(part.lstrip("0")), part.lstrip("0")) if at % 2 else (-1, part) for at, part in enumerate(parts)]


def grouped(runs: Sequence[ListedRun], by: Grouping) -> dict[str, list[ListedRun]]:
    """The runs by folder, or by tag, in natural order of names, those without a tag last; a run of several tags is in several groups."""
    found: dict[str, list[ListedRun]] = {}
    for one in runs:
        for name in [one.place] if by == "folder" else list(one.note.tags) or [""] if by == "tag" else [""]:
            found.setdefault(name, []).append(one)
    in_order = sorted(found, key=lambda name: (not name, _natural(name)))
    return {name or (UNTAGGED if by == "tag" else ""): found[name] for name in in_order}


def tags(runs: Sequence[ListedRun]) -> list[str]:
    """Every tag that a run has, in natural order."""
    return sorted({tag for one in runs for tag in one.note.tags}, key=_natural)


def trainers(runs: Sequence[ListedRun]) -> list[str]:
    """Every trainer that wrote one of the runs, as far as they are read."""
    return sorted({name for one in runs for name in one.summary.trainers}, key=_natural)


def metrics(runs: Sequence[ListedRun]) -> list[str]:
    """The numbers that any of the runs has a curve of: reward first, then as most of them have it."""
    counted: dict[str, int] = {}
    for one in runs:
        for name in one.summary.curves:
            counted[name] = counted.get(name, 0) + 1
    return sorted(counted, key=lambda name: (name != "reward", -counted[name], name))


def rows(runs: Sequence[ListedRun], metric: str, root: str) -> pd.DataFrame:
    """A row of the table for each run, in order; columns as `_row` names them."""
    lines = [_row(one, metric, root) for one in runs]
    if any(one.summary.sampled for one in runs):  # numbers of a part are marked, which makes a column of texts
        for line, one in zip(lines, runs, strict=True):
            line |= {name: one.marked(line[name]) for name in ("value", "step")}
    columns = ("run", "curve", "value", "step", "rollouts", "size", "trainer", "written", "problems", "findings", "tags", "note")
    return pd.DataFrame(lines, columns=list(columns))


def _row(one: ListedRun, metric: str, root: str) -> dict[str, Any]:
    known, summary = one.state.summary is not None, one.summary
    unread = "" if known or not one.folder.shards else NOT_READ
    empty = "" if one.folder.shards else "no rollouts"
    marks = ("★ " if one.note.pinned else "") + ("hidden · " if one.note.hidden else "")
    return {
        "run": marks + one.name(root),
        "curve": list(summary.curves.get(metric, ())) or None,
        "value": summary.last.get(metric),
        "step": summary.last_step,
        "rollouts": one.marked(summary.rollouts) if summary.rollouts else unread,
        "size": one.folder.bytes,
        "trainer": (not summary.rollouts and summary.trouble) or one.trainer or unread or empty,
        "written": written(one),
        "problems": f"{summary.problems:,}" if summary.problems is not None else NOT_LOOKED if known else unread,
        "findings": NOT_LOOKED if one.findings is None else f"{one.findings:,}",
        "tags": list(one.note.tags),
        "note": one.note.note.strip().partition("\n")[0],
    }


def written(one: ListedRun) -> str:
    """When a run was written to last: "training now", "3 h ago"."""
    if not one.folder.modified_ns:
        return ""
    if one.is_live:
        return "training now"
    if one.age < 0:
        return "just now" if one.age > -LIVE_SECONDS else "in the future"
    unit, seconds = next((pair for pair in _SECONDS if one.age >= pair[1]), ("s", 1.0))
    return f"{one.age / seconds:.0f} {unit} ago"
