"""A piece of work on the frame of an index: what any worker does, whichever engine asks it, and what files it leaves.

An order names the index and its state, the kind of work and the stretch of it. What it makes is a file that vouches for itself; where that is
there already nothing is done. Knows one piece of work; knows neither which there are nor who else is at work.
"""

import gc
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

from board.errors import BoardError
from board.indexing import made_file, range_task
from board.indexing.frame_facts import FrameFacts, IndexParts, gathered
from board.indexing.frame_stretch import StretchWriter
from board.runs import frame_files
from board.runs.frame_files import FOLDER
from board.runs.indexed_run import IndexedRun
from board.runs.read_options import ReadOptions
from board.runs.store import version
from board.runs.worker import reading_of
from board.sources import shards
from board.system.child_process import Tell

Kind = Literal["facts", "stretch"]

FACTS_FILE: Final = "facts"
"""What all stretches need of the parts, as a file of the work."""


@dataclass(frozen=True)
class FrameSite:
    """The index that work is for, in the state that the frame is of, and how its run is read."""

    index: Path
    owner: str
    of: str
    reading: ReadOptions
    sample: int
    """Rollouts in the sample."""

    @property
    def key(self) -> str:
        """Names what is made of this state of the index by this code."""
        told = json.dumps([self.owner, self.of, version(), frame_files.LAYOUT, self.sample])
        return blake2b(told.encode(), digest_size=8).hexdigest()

    def file(self, kind: str, first: int | None = None) -> Path:
        """Where a piece of work leaves what it made."""
        return self.index / FOLDER / f"made-{self.key}-{kind}{'' if first is None else f'-{first}'}"

    def order(self, kind: Kind, first: int, stop: int, rows: int) -> dict[str, Any]:
        """What a worker is told, as JSON holds it: parts from number `first` to before `stop`, or steps from the one to the other."""
        told = {**asdict(self), "index": str(self.index), "reading": self.reading.written()}
        return {**told, "store": version(), "kind": kind, "first": first, "stop": stop, "rows": rows}


def site_of(order: dict[str, Any]) -> FrameSite:
    """The index that an order is for."""
    return FrameSite(Path(order["index"]), order["owner"], order["of"], reading_of(order), order["sample"])


def answer(order: dict[str, Any], _on_bytes: Tell) -> dict[str, Any]:
    """Do what the order says: `made`, whether it had to be done; or `refused` (a shard) or `failed` (anything else) with the reason."""
    try:
        if why := range_task.unfit(order):
            return {"failed": why}
        site = site_of(order)
        if _is_made(site, order["kind"], order["first"]):
            return {"made": False}
        _MAKES[order["kind"]](site, order["first"], order["stop"])
        return {"made": True}
    except BoardError as error:
        return {"refused": str(error)}
    except OSError as error:
        return {"failed": str(error)}
    except Exception as error:  # noqa: BLE001 - it is reported, and what others made is whole
        return {"failed": f"{type(error).__name__}: {error}"}
    finally:
        gc.collect()  # whoever serves orders looks for no garbage, and frames leave some


def _is_made(site: FrameSite, kind: Kind, first: int) -> bool:
    """Whether the work was done before a stop, and all it left is as it was written."""
    found = made_file.read(site.file(kind, first))
    if found is None or kind == "facts":
        return found is not None
    rows = site.index / FOLDER / found.about["file"]
    return rows.is_file() and bool(frame_files.sum_of(rows) == found.about["sum"])


@lru_cache(maxsize=1)
def parts_of(site: FrameSite) -> IndexParts:
    """The parts of the index, opened one at a time."""
    return IndexParts(IndexedRun(site.index, shards.find_shards(site.index)[0], site.reading, None, framed=False))


@lru_cache(maxsize=1)
def _facts(site: FrameSite) -> FrameFacts:
    found = made_file.read(site.file(FACTS_FILE))
    if found is None:
        raise OSError(f"{site.file(FACTS_FILE).name} is gone or damaged")
    return FrameFacts.read(found.about)


def _facts_of_parts(site: FrameSite, first: int, stop: int) -> None:
    made_file.write(site.file("facts", first), gathered(parts_of(site), first, stop).written(), {})


def _stretch(site: FrameSite, first: int, last: int) -> None:
    writer = StretchWriter(site.index / FOLDER, parts_of(site), _facts(site), site.sample)
    written = writer.write(first, last, f"rows-{site.key}-{first}.parquet").made()
    made_file.write(site.file("stretch", first), written.about, written.tables)


_MAKES: Final = {"facts": _facts_of_parts, "stretch": _stretch}
