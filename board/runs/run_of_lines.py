"""Lines of our own rows that lie in memory → the run that they would be in a file. Reads no file and keeps nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

from board.formats import native
from board.runs import column_room, merging, part_builder
from board.runs.load_report import LoadReport
from board.runs.parts import Part
from board.runs.parts_by_key import PartsByKey
from board.runs.read_options import ReadOptions
from board.runs.run import Run
from board.sources.shards import Line, Shard

_NAME: Final = "rows.jsonl"


def run_of_lines(lines: Sequence[bytes], pads: Sequence[str] = ()) -> Run | None:
    """The lines, without their ends, as a run; None where none of them is a rollout. What cannot be read is in its report."""
    shard, report, found = Shard(Path(_NAME), _NAME, 0, 0), LoadReport(), list[Part]()
    items = [Line(number, 0, data, whole=True) for number, data in enumerate(lines, 1)]
    part_builder.read_parts(items, shard, native, ReadOptions(tuple(pads)), report, found.append)
    if not found:
        return None
    built, _ = column_room.fitted(found)
    frame = merging.merged(built, merging.scalars(built), [_NAME], {})
    return Run(Path(), frame, report, (), uuid4().hex, PartsByKey(built), {_NAME: shard})
