"""What must be known of all parts of an index before its frame can be written a stretch of steps at a time.

One pass over the scalars of the parts, some shards at a time: where the rollouts of each are, which columns hold a value anywhere, which
steps there are. What was found of some shards adds up with what was found of those that follow. Knows neither what a metric is nor how a
frame is written.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.runs import column_room
from board.runs.columns import as_table
from board.runs.discarded import flagged, flags
from board.runs.indexed_run import IndexedRun
from board.runs.load_report import LoadReport
from board.runs.merging import SORTED_IDS, columns_in_order, natural_order
from board.runs.part_reader import PartReader
from board.runs.parts import Part, with_lines_after
from board.runs.parts_on_demand import LazyParts, PartsAccount, PartsOnDemand
from board.runs.repeated_steps import repeated_steps
from board.runs.rollout import NO_METRIC
from board.schema import ALTERNATIVES, DISCARD_FLAGS, OTHER_FIELDS, TEXTS, TOKEN_METRICS, TOKENS
from board.sources.shards import Problem
from board.text.natural_order import natural_key

INTERNAL: Final = ("offset", "nth", "prompt_key")
"""Columns of a part that a run's frame does not show."""

_ENDS: Final = ("line", "offset", "step")
_LISTS: Final = ("texts", "tokens", "moments")
_SETS: Final = ("no_flags", "marked")


@dataclass
class FrameFacts:
    """What was found."""

    parts: list[dict[str, int]] = field(default_factory=list)
    """As `frame_files.FrameFiles.parts` has them."""
    shards: list[str] = field(default_factory=list)
    """In natural order."""
    steps: Counter[int] = field(default_factory=Counter)
    """How many rollouts each has."""
    shard_rows: Counter[str] = field(default_factory=Counter)
    named: dict[str, bool] = field(default_factory=dict)
    """The columns of scalars in the order in which they came, and whether any rollout has a value there; ids among them."""
    ids: dict[str, dict[str, None]] = field(default_factory=dict)
    """The values of each column of ids, as many as are put in order and one more."""
    texts: dict[str, None] = field(default_factory=dict)
    tokens: dict[str, None] = field(default_factory=dict)
    moments: dict[str, None] = field(default_factory=dict)
    no_flags: set[str] = field(default_factory=set)
    marked: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    """What shows only where all of a shard is looked at."""

    def add(self, other: "FrameFacts") -> None:
        """Add what was found in the parts that follow."""
        before = self.rows
        self.parts += [{**one, "start": one["start"] + before} for one in other.parts]
        self.steps += other.steps
        self.shard_rows += other.shard_rows
        for name, is_held in other.named.items():
            self.named[name] = self.named.get(name, False) or is_held
        for name, values in other.ids.items():
            _remember(self.ids.setdefault(name, {}), values)
        for own, others in ((self.texts, other.texts), (self.tokens, other.tokens), (self.moments, other.moments)):
            own |= others
        self.no_flags |= other.no_flags
        self.marked |= other.marked
        self.problems += other.problems
        self.fit()

    def fit(self) -> None:
        """Leave out the columns for which a run has no room."""
        hidden = column_room.beyond(self.named, self.texts, self.tokens)
        for kind, held in (("numbers", self.named), ("texts", self.texts), ("arrays", self.tokens)):
            for name in hidden[kind]:
                held.pop(name, None)
                self.texts[OTHER_FIELDS] = None

    @property
    def fields(self) -> column_room.Names:
        """The fields nobody declared that have columns."""
        return column_room.own_fields(self.named, self.texts, self.tokens)

    def written(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "parts": {name: [one[name] for one in self.parts] for name in self.parts[0]} if self.parts else {},
            "shards": self.shards,
            "steps": [[*self.steps], [*self.steps.values()]],
            "shard_rows": self.shard_rows,
            "named": self.named,
            "ids": {name: [*values] for name, values in self.ids.items()},
            **{name: [*getattr(self, name)] for name in _LISTS},
            **{name: sorted(getattr(self, name)) for name in _SETS},
            "problems": [asdict(one) for one in self.problems],
        }

    @classmethod
    def read(cls, told: dict[str, Any]) -> "FrameFacts":
        """What `written` wrote."""
        parts = [dict(zip(told["parts"], one, strict=True)) for one in zip(*told["parts"].values(), strict=True)]
        found = cls(parts, told["shards"], Counter(dict(zip(*told["steps"], strict=True))), Counter(told["shard_rows"]))
        found.named, found.problems = told["named"], [Problem(**one) for one in told["problems"]]
        found.ids = {name: dict.fromkeys(values) for name, values in told["ids"].items()}
        for name in _LISTS:
            setattr(found, name, dict.fromkeys(told[name]))
        for name in _SETS:
            setattr(found, name, set(told[name]))
        return found

    @property
    def rows(self) -> int:
        """How many rollouts there are."""
        return sum(self.steps.values())

    @property
    def flags(self) -> list[str]:
        """The columns that mark what was discarded."""
        return [name for name in DISCARD_FLAGS if name in self.named and name not in self.no_flags]

    def columns(self) -> list[str]:
        """Those of the frame, in order, and the numbers of groups whether there are any or not."""
        held = [name for name, is_held in self.named.items() if is_held and name not in INTERNAL]
        split = ["split"] if self.marked & set(self.flags) else []
        return columns_in_order(dict.fromkeys(["step", "shard", "line", *held, *split, "group"]))

    def is_id(self, name: str) -> bool:
        """Whether a column of the frame holds ids."""
        return name in self.ids or name in ("shard", "split")

    def ids_in_order(self) -> dict[str, list[str]]:
        """The values of the columns of ids that are put in order."""
        found = {name: list(values) for name, values in self.ids.items() if len(values) <= SORTED_IDS}
        if self.marked & set(self.flags) and ("split" in found or "split" not in self.ids):
            found["split"] = [*dict.fromkeys([*found.get("split", []), "discarded"])]
        return {name: natural_order(values) for name, values in found.items()}

    def account(self) -> PartsAccount:
        """What the parts hold together."""
        own = [name for name in self.tokens if name not in NO_METRIC]
        return PartsAccount(
            _declared_first(own, TOKEN_METRICS),
            _declared_first(list(self.texts), TEXTS),
            TOKENS in self.tokens,
            ALTERNATIVES in self.tokens,
            frozenset(self.moments),
        )


class IndexParts:
    """All parts of a whole index in the order of reading, which are opened one at a time."""

    def __init__(self, run: IndexedRun) -> None:
        """`run` knows the pieces of its shards."""
        self._reader = PartReader(run.store, run.reading, LoadReport())
        self.shards = sorted(run.kept, key=natural_key)
        """In natural order."""
        self.places: list[tuple[str, int, int, int]] = []
        """Shard, the start of the piece, which part of the piece, and the lines of the shard before it."""
        self.rows: list[int] = []
        """About how many rollouts are in each: a piece's are told of its first part."""
        self._run = run
        for name, kept in run.kept.items():
            first_line = 0
            for piece in kept.pieces:
                self.places += [(name, piece.start, nth, first_line) for nth in range(len(piece.files))]
                self.rows += [0 if nth else piece.rows for nth in range(len(piece.files))]
                first_line += piece.lines
        self.held = LazyParts(len(self.places), self.opened)

    def opened(self, number: int) -> Part:
        """A part. Raises RunNotFound where it is damaged and its shard is gone."""
        name, start, nth, first_line = self.places[number]
        kept = self._run.kept[name]
        piece = next(one for one in kept.pieces if one.start == start)
        part = self._reader.opened(kept, piece)[nth]
        return Part(with_lines_after(part.scalars, first_line), part.texts, part.tokens, part.moments, part.summaries, part.file)

    def by_key(self, facts: FrameFacts) -> PartsOnDemand:
        """The way from keys to them, once all are known."""
        starts = np.array([*(one["start"] for one in facts.parts), facts.rows], np.int64)
        if OTHER_FIELDS in facts.texts:
            self.held = LazyParts(len(self.places), lambda number: column_room.refitted(self.opened(number), facts.fields))
        return PartsOnDemand(self.held, starts, facts.account())


def gathered(parts: IndexParts, first: int, stop: int) -> FrameFacts:
    """Go through the scalars of the parts from number `first` to before `stop`, which are whole shards."""
    facts = FrameFacts(shards=parts.shards)
    numbers = {name: at for at, name in enumerate(facts.shards)}
    of_shard: list[pd.DataFrame] = []
    for at in range(first, stop):
        name, start, nth, first_line = parts.places[at]
        part = parts.opened(at)
        _add(facts, part, name, {"shard": numbers[name], "piece": start, "nth": nth, "first_line": first_line})
        told = ["step", "shard", "line", "prompt_key", *({"split"} & {*part.scalars.column_names})]
        of_shard.append(as_table(part.scalars, told).to_pandas())
        if at + 1 == stop or parts.places[at + 1][0] != name:
            facts.problems += repeated_steps(pd.concat(of_shard, ignore_index=True))
            of_shard = []
    return facts


def report(run: IndexedRun, facts: FrameFacts) -> LoadReport:
    """What reading the pieces found, before what was found of all of them together."""
    found = LoadReport()
    for name, kept in run.kept.items():
        first_line = 0
        for piece in kept.pieces:
            piece.report_to(found, name, first_line)
            first_line += piece.lines
        for problem in kept.broken:
            found.add(problem)
    for problem in [*facts.problems, *_without_columns(run, facts)]:
        found.add(problem)
    return found


def _without_columns(run: IndexedRun, facts: FrameFacts) -> list[Problem]:
    if OTHER_FIELDS not in facts.texts:
        return []
    parts = IndexParts(run)
    fields = facts.fields
    return column_room.problems(column_room.refitted(parts.opened(number), fields) for number in range(len(parts.places)))


def _add(facts: FrameFacts, part: Part, shard: str, place: dict[str, int]) -> None:
    columns = {name: part.scalars.column(name) for name in part.scalars.column_names}
    numbers = {name: columns[name].to_numpy() for name in _ENDS}
    ends = {
        f"{name}_{end}": int(value) for name in _ENDS for end, value in zip(("first", "last"), _ends(numbers[name]), strict=True)
    }
    facts.parts.append({"start": facts.rows, "rows": len(part), **place, **ends})
    found, counts = np.unique(numbers["step"], return_counts=True)
    for step, count in zip(found.tolist(), counts.tolist(), strict=True):
        facts.steps[step] += count
    facts.shard_rows[shard] += len(part)
    for name, column in columns.items():
        if pa.types.is_dictionary(column.type) and name != "shard":
            known = facts.ids.setdefault(name, {})
            _remember(known, dict.fromkeys(one for one in column.combine_chunks().unique().to_pylist() if one is not None))
            facts.named[name] = bool(known)
        else:
            facts.named[name] = facts.named.get(name, False) or _has_any(column)
    facts.texts |= dict.fromkeys(part.texts.column_names)
    facts.tokens |= dict.fromkeys(part.tokens.column_names)
    facts.moments |= dict.fromkeys(part.moments.column_names)
    facts.fit()
    _add_flags(facts, part)


def _remember(known: dict[str, None], values: Mapping[str, None]) -> None:
    """Remember the values of ids while there are as few as are put in order, and of many the first and one batch more."""
    if len(known) <= SORTED_IDS:
        known.update(values)


def _add_flags(facts: FrameFacts, part: Part) -> None:
    there = [name for name in DISCARD_FLAGS if name in part.scalars.column_names]
    if not there:
        return
    held = ["split"] if "split" in part.scalars.column_names else []
    rows = as_table(part.scalars, [*there, *held]).to_pandas()
    are = flags(rows)
    facts.no_flags |= set(there) - set(are)
    for name in are:
        marked = flagged(rows, [name])
        if "split" in marked.columns and (marked["split"] == "discarded").any():
            facts.marked.add(name)


def _ends(values: NDArray[Any]) -> tuple[int, int]:
    return (int(values.min()), int(values.max())) if len(values) else (0, -1)


def _has_any(column: pa.ChunkedArray) -> bool:
    values = column.to_numpy()
    return bool(len(values)) and not (values.dtype.kind == "f" and bool(np.isnan(values).all()))


def _declared_first(names: Sequence[str], declared: Sequence[str]) -> tuple[str, ...]:
    return (*(name for name in declared if name in names), *(name for name in names if name not in declared))
