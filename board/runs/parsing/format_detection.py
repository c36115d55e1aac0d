"""The format of each shard, and which shards of a run hold no rollouts.

Reads a few records of a shard and no more.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final

from board import formats
from board.errors import RowRefused, RunNotFound
from board.formats import contained_rows, native, trace_updates
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_in
from board.formats.json_paths import rows_within
from board.formats.mapping import HandMapping
from board.formats.reward_key import is_number
from board.formats.row import Row
from board.formats.sampled_key import columns_of, find, holds_text
from board.formats.suggest_mapping import guess
from board.formats.trainers import (
    miles_columns,
    miles_trajectory,
    slime,
    token_export,
    traces,
    trackio,
    trl,
    wandb_rows,
    wandb_table,
)
from board.sources import files, json_record
from board.sources.files import Parsed
from board.sources.json_record import Record
from board.sources.shards import Line, Problem, Shard, is_plain, read_lines
from board.text.counting import plural
from board.trackers import jsonl

_RECORDS: Final = 8
_BYTES: Final = 8_000_000
"""So many records, or so many bytes of them, are looked at."""

_REPEATS: Final[Mapping[str, AbstractSet[str]]] = {
    token_export.NAME: {traces.NAME},
    miles_columns.NAME: {slime.NAME, miles_trajectory.NAME},
    miles_trajectory.NAME: {slime.NAME},
    wandb_table.NAME: {trl.NAME},
    wandb_rows.NAME: {one.NAME for one in formats.FORMATS} - {wandb_rows.NAME} | {HandMapping.NAME},
    trackio.NAME: {one.NAME for one in formats.FORMATS} - {trackio.NAME, wandb_rows.NAME},
}
"""Formats that tell less of the same rollouts than others a trainer writes with them: where one of these is, they are left out."""


IS_LOG: Final = "holds metrics by step and no rollouts"
"""Why a trainer's log is left out where nothing next to it holds rollouts."""


@dataclass(frozen=True)
class Identity:
    """What the beginning of a shard tells."""

    format: str
    """Name of its format; empty when it is unknown, or when there is no record yet."""
    note: str = ""
    """What a reader must know of its numbers."""
    objects: bool = False
    """Whether its records are not on lines of their own though its name says so."""
    keys: tuple[str, ...] = ()
    """Of its first record; none when no record could be read."""
    is_log: bool = False
    """Whether its format is unknown, and its first records are steps with numbers: what a trainer logs, and no rollouts."""


def joined(found: Sequence[Shard]) -> list[Shard]:
    """The shards, those that a trainer writes next to others for the same rollouts taken into these as companions."""
    twins = trace_updates.sealed_twins({shard.name for shard in found})
    by_name = {shard.name: shard for shard in found if shard.name not in twins}
    companions = slime.companions(by_name) | trace_updates.companions(by_name)
    taken = {name for names in companions.values() for name in names}
    return [
        _together(shard, [by_name[name] for name in companions.get(shard.name, ())])
        for shard in by_name.values()
        if shard.name not in taken
    ]


def _together(shard: Shard, others: list[Shard]) -> Shard:
    if not others:
        return shard
    size, changed = sum(one.size for one in (shard, *others)), max(one.mtime_ns for one in (shard, *others))
    return replace(shard, size=size, mtime_ns=changed, companions=tuple(str(one.path) for one in others))


def identify(shard: Shard, mapping: str = "") -> Identity:
    """Whose shard it is; a mapping by hand, if its text is given, is tried first. Unknown if it is unreadable: reading it will tell why.

    Raises MappingRefused.
    """
    found = read_lines(shard) if is_plain(shard) else iter(())
    first = [*islice(found, 2)]
    objects = _is_pretty(first)
    records = _of_lines(chain(first, found)) if first and not objects else _records(replace(shard, objects=objects))
    head = Head(shard.name, tuple(_first(records)))
    if not head.records:
        return Identity("", objects=objects)
    kind = formats.recognise(head, mapping)
    keys = tuple(head.records[0])
    if kind is None:
        return Identity("", objects=objects, keys=keys, is_log=_is_log(head))
    return Identity(kind.NAME, kind.note(head), objects, keys)


def _is_log(head: Head) -> bool:
    """By a log's name where nothing in it can have been sampled, else by numbers alone next to a step."""
    columns = columns_of(head.records)
    names = {path.rpartition(".")[2] for path, values in columns.items() if any(map(is_number, values))}
    if head.name.rpartition("/")[2] in jsonl.NAMES:
        return bool(names) and find(columns) is None
    shapes = (isinstance(value, list | dict) for values in columns.values() for value in values)
    has_numbers = len(names) > 1 and not names.isdisjoint(jsonl.STEP_KEYS)
    return has_numbers and not any(shapes) and not any(holds_text(path, values) for path, values in columns.items())


def suggested_mapping(*found: Shard) -> str:
    """The text of a mapping by hand for shards of an unknown format, filled with the best guess from the first records of one, the first that
    can be mapped; of files of one object each, from those of the same keys.

    Of one large object without a word of the policy's it is of the rows within it, where those have one, or a prompt each; else of any rows,
    if it has none.
    """
    first = {shard.name: [*_first_records(shard)] for shard in found}
    for name, records in first.items():
        one = records[0] if len(records) == 1 else {}
        alike = [others[0] for others in first.values() if one and others and others[0].keys() == one.keys()]
        if contained_rows.is_by_columns(one):
            continue
        # the bare number of a file of one row counts rows
        path = "" if len(alike) > 1 and name.endswith(".json") and step_in(name, bare=False) is None else name
        for rows in (
            *contained_rows.lists_of_rows(one)[:1],
            *filter(contained_rows.ask, rows_within(one)),
            None,
            *rows_within(one),
        ):
            if text := contained_rows.guess_within(one, *rows, name) if rows else guess(alike or records, path):
                return text
    return ""


def first_rows(shard: Shard, mapping: str, most: int) -> list[Row]:
    """The first rollouts of a shard as a mapping by hand reads them, to be looked at before it is taken. Raises MappingRefused."""
    kind, rows = formats.mapped(mapping), list[Row]()
    for number, record in enumerate(_first_records(shard), 1):
        with suppress(RowRefused):
            rows += formats.read(record, kind, Place(shard.name, number), refuse=lambda _: None)
        if len(rows) >= most:
            break
    return rows[:most]


def _is_pretty(lines: Sequence[Line | Problem]) -> bool:
    """Whether the first line opens an object or a list and does nothing else, and the second is indented, as within it."""
    first, second = [*lines, None, None][:2]
    if not isinstance(first, Line) or not isinstance(second, Line):
        return False
    return first.data.strip() in (b"{", b"[") and second.whole and second.data[:1] in (b" ", b"\t")


def _first_records(shard: Shard) -> Iterator[Record]:
    return _first(_records(shard))


def _records(shard: Shard) -> Iterator[Parsed]:
    return _of_lines(read_lines(shard)) if shard.of_lines else (one for one in files.read(shard) if isinstance(one, Parsed))


def _first(found: Iterator[Parsed]) -> Iterator[Record]:
    size = 0
    for one in islice(found, _RECORDS):
        yield one.record
        size += one.size
        if size > _BYTES:
            return


def _of_lines(lines: Iterator[Line | Problem]) -> Iterator[Parsed]:
    found = 0
    for line in islice(lines, _RECORDS * 4):
        if isinstance(line, Problem) and found:  # a line that is too long, whose end may be far away, or the end
            return
        with suppress(RowRefused):
            if isinstance(line, Line):
                yield Parsed(line.number, json_record.parse(line.data), len(line.data))
                found += 1


def sidecars(identities: Mapping[str, Identity]) -> dict[str, str]:
    """Shards that hold no rollouts, by name, with the reason: files of metrics and the like next to the rollouts.

    Where no shard is recognised none but logs of metrics is left out, so that reading them tells what is wrong with each.
    """
    formats_seen = {one.format for one in identities.values() if one.format}
    known = formats_seen - {contained_rows.NAME}
    if not formats_seen:
        return {name: IS_LOG for name, one in identities.items() if one.is_log}
    repeating = {
        name: f"repeats the rollouts of {stronger}"
        for name, one in identities.items()
        if (stronger := next(iter(_REPEATS.get(one.format, set()) & formats_seen), ""))
    }
    tables = wandb_table.repeated(name for name, one in identities.items() if one.format in (wandb_table.NAME, wandb_rows.NAME))
    repeating |= {name: f"repeats the rollouts of {earlier}" for name, earlier in tables.items()}
    return repeating | {
        name: f"holds no rollouts that the board knows; its keys are {', '.join(key[:40] for key in one.keys[:12])}"
        for name, one in identities.items()
        if (one.format == contained_rows.NAME and known)
        or (not one.format and one.keys and contained_rows.SPEAKS.isdisjoint(one.keys))
    }


def batches(identities: Mapping[str, Identity]) -> dict[str, bool]:
    """Shards of a trainer that writes what was sampled and again what of it was trained on, by name: whether they hold the latter.

    Of what was sampled, only what was sampled for a batch that is there.
    """
    return traces.batches(name for name, one in identities.items() if one.format == traces.NAME)


def check_one_family(identities: Mapping[str, Identity], mapping: str = "") -> None:
    """Raise RunNotFound, naming what was seen where, when the shards are of several trainers: their steps are not one run's."""
    seen: dict[str, list[str]] = {}
    for name, one in identities.items():
        if one.format:
            seen.setdefault(formats.by_name(one.format, mapping).FAMILY, []).append(name)
    if len(seen) > 1:
        listed = "; ".join(f"{family}: {plural(len(names), 'file')}, such as {names[0]}" for family, names in seen.items())
        raise RunNotFound(f"This folder mixes the rollouts of several trainers. Open one of its folders instead. Seen: {listed}.")


def format_of(identity: Identity) -> str:
    """The format a shard is read with: the board's own where it is unknown, because its reader says which keys are missing."""
    return identity.format or native.NAME
