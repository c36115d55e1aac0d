"""Summaries of runs in the cache: one file a run, which vouches for itself and for the shards it was made of.

What is damaged, another's, or of shards that have changed is not there; it is made again. Knows files; knows nothing of what is in a summary.
"""

import json
from contextlib import suppress
from hashlib import blake2b
from typing import Final

from board.errors import BoardError
from board.runs.opening import read_as
from board.runs.run_summary import RunSummary, from_written
from board.runs.store import Store, version
from board.runs.summary_process import SummaryOrder
from board.sources import candidates
from board.sources.shards import find_shards, state_of
from board.system import atomic_write
from board.user_files import private_folders, user_folders

FOLDER: Final = "summaries"


class KeptSummary:
    """Where the summary of a run is kept, as the run was when this was made."""

    def __init__(self, order: SummaryOrder) -> None:
        """Looks at the run's files, not into them. Raises RunNotFound where the folder is gone."""
        name = json.dumps(
            [str(order.location), order.tokenizer, order.mapping, order.family, read_as(order.location, within=order.within).pads]
        )
        digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        self.path = user_folders.cache() / version() / FOLDER / f"{digest}.json"
        self._order, self._name = order, name.encode("unicode_escape").decode()
        beside = candidates.mapping_of(order.location, order.within)
        mapped = [beside.stat().st_mtime_ns, str(beside)] if beside else []
        self._stamp = json.dumps([mapped, state_of(order.location, find_shards(order.location, order.within)[0])])

    def read(self) -> RunSummary | None:
        """What is kept; None where nothing is, or it is of no use: of a sample too, once the cache holds more of the run."""
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
        """When something was last added to what the cache holds of the run, read without choices of a reader; 0 where there is nothing."""
        with suppress(OSError, BoardError):
            return Store(self._order.location).folder.stat().st_mtime_ns
        return 0


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).hexdigest().encode()
