"""What prime-rl learns of a trace after it has written it: updates in files of their own, by the trace's id → the trace with all of them.

Since 2026-08-31 an episode is written once, when it arrives, in `traces/stream`; that it was sent to the trainer, its advantages, and the
trainer's numbers follow in `traces/annotations/<producer>`. Knows the names of these files and their keys.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

from board.errors import RowRefused
from board.formats.message_graph import paths
from board.formats.renaming import list_or_none
from board.formats.row_reader import shown
from board.formats.validation import nested, objects, whole_or_none
from board.sources.json_record import COMPANIONS, Record

_CHUNK: Final = r"(?:/[0-9]+)?\.jsonl(?:\.zst)?"
_STREAM: Final = re.compile(rf"((?:.*/)?traces/)stream{_CHUNK}")
_UPDATES: Final = re.compile(rf"((?:.*/)?traces/)annotations/[^/]+?(?<!\.index){_CHUNK}")

_FIELDS: Final = ("advantages", "trainer_logprobs", "entropies", "is_masked")
"""Numbers for each token of a branch, which a node keeps for each sampled one."""


def is_stream(name: str) -> bool:
    """Whether a file, by its path within the run, is a stream of episodes in the order in which they arrived, whatever their step."""
    return _STREAM.fullmatch(name) is not None


def companions(names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Of files by their paths within a run: those of updates, in their order, by each chunk of the stream that they may belong to."""
    by_folder: dict[str, list[str]] = {}
    for name in sorted(names):
        if found := _UPDATES.fullmatch(name):
            by_folder.setdefault(found[1], []).append(name)
    streams = {name: found[1] for name in names if (found := _STREAM.fullmatch(name))}
    return {name: tuple(by_folder[folder]) for name, folder in streams.items() if folder in by_folder}


def sealed_twins(names: Collection[str]) -> set[str]:
    """Chunks that are there once more, compressed: the writer removes the other only once it is whole."""
    return {f"{name}.zst" for name in names if f"{name}.zst" in names and (_STREAM.fullmatch(name) or _UPDATES.fullmatch(name))}


def trace_of(update: Record) -> str:
    """Which trace an update is of."""
    return str(update.get("trace_id"))


def batch_of(update: Record) -> int | None:
    """The batch that an update says its trace was sent in."""
    info = update.get("info")
    ship = info.get("ship") if isinstance(info, dict) else None
    step = ship.get("step") if isinstance(ship, dict) else None
    return step if isinstance(step, int) else None


def traces_of(episode: Record) -> Iterator[str]:
    """The ids of an episode's traces."""
    traces = episode.get("traces")
    yield from (str(trace.get("id")) for trace in traces if isinstance(trace, dict)) if isinstance(traces, list) else ()


def updated(episode: Record) -> Record:
    """An episode with what its updates say of its traces, the newest winning. Raises RowRefused naming the field."""
    found = objects(nested(episode, COMPANIONS), "updates")
    traces = [
        _updated(trace, [one for one in found if trace_of(one) == str(trace.get("id"))]) for trace in objects(episode, "traces")
    ]
    return {**episode, "traces": traces}


def _updated(trace: Record, updates: list[Record]) -> Record:
    nodes, info = [{**node} for node in objects(trace, "nodes")], nested(trace, "info")
    for update in updates:
        info = _merged(info, nested(update, "info"))
        for branch in objects(update, "branches"):
            _lay_out(branch, nodes)
    return {**trace, "nodes": nodes, "info": info}


def _merged(old: Any, new: Any) -> Any:
    """The newer value; of two objects all keys."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
    return new


def _lay_out(branch: Record, nodes: list[Record]) -> None:
    """Put the numbers of a branch at the sampled tokens of its nodes; where they end early, the nodes behind have none."""
    index, known = whole_or_none(branch, "index"), paths(nodes)
    if index is None or not 0 <= index < len(known):
        raise RowRefused(f"an annotation is of branch {shown(branch.get('index'))}, and the trace has {len(known)}")
    for field in _FIELDS:
        values, at = list_or_none(branch, field) or [], 0
        for node in (nodes[place] for place in known[index]):
            mask = list_or_none(node, "mask") or []
            span, at = values[at : at + len(mask)], at + len(mask)
            numbers = [value for value, sampled in zip(span, mask, strict=False) if sampled]
            if len(span) == len(mask) and any(number is not None for number in numbers):
                node[field] = numbers
