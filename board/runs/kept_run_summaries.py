"""Summaries of runs in the cache: one file a run, which vouches for itself and for the shards it was made of.

What is damaged, another's, or of shards that have changed is not there; it is made again. Knows files; knows nothing of what is in a summary.
"""

import json
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from board.errors import MappingRefused
from board.runs.nothing_read import shards_of
from board.runs.opening import read_as, reading_key
from board.runs.read_options import ReadOptions
from board.runs.run_summary import RunSummary, from_written
from board.runs.store import Store, version
from board.runs.summary_process import SummaryOrder
from board.sources import candidates
from board.sources.shards import state_of
from board.system import atomic_write
from board.user_files import own_mappings, private_folders, user_folders

FOLDER: Final = "summaries"


class KeptSummary:
    """Where the summary of a run is kept, as the run was when this was made."""

    def __init__(self, order: SummaryOrder) -> None:
        """Looks at the run's files, not into them. Raises RunNotFound where the folder is gone, and what `reading_key` raises."""
        reading = _reading(order)
        name = json.dumps([str(order.location), order.tokenizer, order.mapping, order.family, reading.pads])
        digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        self.path = user_folders.cache() / version() / FOLDER / f"{digest}.json"
        self._name = name.encode("unicode_escape").decode()
        self._stamp = json.dumps([reading.mapping, state_of(order.location, shards_of(order.location, order.within)[0])])
        self._parts = Store(order.location, reading_key(reading)).folder
        above = (order.location, order.location.parent)
        self._mappings = [*(place / candidates.MAPPING for place in above), own_mappings.path(order.location)]

    def read(self) -> RunSummary | None:
        """What is kept; None where nothing is, or it is of no use: of a sample too, once the cache holds more of the run."""
        if private_folders.are_others(self.path.parent, user_folders.cache()):
            return None
        try:
            digest, _, text = self.path.read_bytes().partition(b"\n")
            if digest != _digest(text):
                return None
            written = json.loads(text)
            if (written["name"], written["stamp"]) != (self._name, self._stamp):
                return None
            told = from_written(written["summary"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None if told.sampled and written["parsed_ns"] != self.parsed_ns() else told

    def write(self, told: RunSummary, parsed_ns: int) -> None:
        """Keep it, where the cache can be written to; `parsed_ns` is what `parsed_ns` said before the run was looked at."""
        written = {"name": self._name, "stamp": self._stamp, "parsed_ns": parsed_ns, "summary": told.written()}
        text = json.dumps(written).encode()
        with suppress(OSError):
            private_folders.made(self.path.parent, user_folders.cache())
            atomic_write.write(self.path, _digest(text) + b"\n" + text)

    def parsed_ns(self) -> int:
        """When something was last added to what the cache holds of the run; 0 where there is nothing."""
        return _changed_ns(self._parts)

    def outside_ns(self) -> list[int]:
        """Other times where something outside the run's shards has changed that the summary depends on: the cache, or a mapping."""
        return [*map(_changed_ns, (self._parts, *self._mappings))]


def _reading(order: SummaryOrder) -> ReadOptions:
    """How the run is read; as without a mapping where that is refused, as who reads the run says why."""
    try:
        return read_as(order.location, (), order.tokenizer, order.mapping or None, order.family)
    except MappingRefused:
        return ReadOptions(tokenizer=order.tokenizer, family=order.family)


def _changed_ns(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mtime_ns
    return 0


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).hexdigest().encode()
