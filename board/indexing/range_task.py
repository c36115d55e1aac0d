"""One byte range of a run into an index: what any worker does, whichever engine asks it, and how it is asked.

A range that is kept already is verified to the last byte and taken as it is; else it is parsed by the code of the cache. Knows one range;
knows neither which there are nor who else is at work.
"""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from board.analysis import rollout_measures, vocabulary_counts
from board.analysis.tagged_responses import MEASURES
from board.errors import BoardError
from board.indexing.index_prefix import IndexPrefix
from board.indexing.prefix_folder import PrefixFolder, folder_for_a_while
from board.remote import local_names, mounts, object_store, stores
from board.remote.addresses import Address
from board.remote.mirror import local_stamp
from board.remote.object_store import Denied, RemoteObject, Replaced, Vanished
from board.runs.byte_range import ByteRange, parse
from board.runs.index_folder import IndexFolder
from board.runs.part_folder import File, Piece, piece_from
from board.runs.parts import Part
from board.runs.read_options import ReadOptions
from board.runs.store import version
from board.runs.worker import range_of, reading_of
from board.sources import index_file, presence, shards
from board.sources.shards import Shard
from board.system.child_process import Tell

_BESIDE_DATABASES = ("-wal",)
"""Ends of the names of files that a database is not whole without."""


def source_of(shard: Shard) -> dict[str, Any] | None:
    """The objects that a shard is made of, as they were listed; None where it is a file of every worker's."""
    paths = [shard.path, *map(Path, shard.companions), *(Path(f"{shard.path}{end}") for end in _BESIDE_DATABASES)]
    found = [one for one in map(mounts.object_at, paths) if one is not None]
    if not found or not presence.is_remote(shard.path):
        return None
    store = found[0][0]
    return {"scheme": store.scheme, "authority": store.authority, "objects": [asdict(one) for _, one in found]}


@contextmanager
def at_hand(source: dict[str, Any] | None, byte_range: ByteRange) -> Iterator[ByteRange]:
    """The range in a file of this machine, of its very version: of a shard that can be cut nothing else of it. Raises OSError."""
    if source is None:
        yield byte_range
        return
    objects, shard = [RemoteObject(**one) for one in source["objects"]], byte_range.shard
    start, stops = 0, [one.size for one in objects]
    if shards.is_plain(shard):
        if local_stamp(objects[0]) != (shard.size, shard.mtime_ns):
            raise Replaced  # it was listed anew since the shard was cut
        start, stops[0] = byte_range.start, byte_range.stop
    store = stores.shared(Address(source["scheme"], source["authority"], ""))
    with folder_for_a_while() as folder:
        paths = [folder / local_names.local_path(one.key) for one in objects]
        for one, path, stop in zip(objects, paths, stops, strict=True):
            object_store.waited(store.fetch(one, path, start, stop))
            os.utime(path, ns=(0, local_stamp(one)[1]))
        companions = tuple(map(str, paths[1 : 1 + len(shard.companions)]))
        found = replace(shard, path=paths[0], companions=companions, within=folder, inode=paths[0].stat().st_ino)
        yield replace(byte_range, shard=found)


@contextmanager
def index_at_hand(order: dict[str, Any], kept: Piece | None) -> Iterator[IndexFolder]:
    """The index's parts, to be written, flushed and published; those of `kept` are there to be read. Raises RemoteTrouble, OSError."""
    told = order["prefix"]
    if told is None:
        yield IndexFolder(Path(order["index"]), order["owner"])
        return
    prefix = IndexPrefix(Address(**told))
    with folder_for_a_while() as folder:
        (folder / index_file.PARTS).mkdir()
        fetched = [f"{index_file.PARTS}/{file.name}" for file in kept.files] if kept else []
        prefix.fetch_named(fetched, folder)
        yield PrefixFolder(folder, order["owner"], prefix, dict.fromkeys(fetched, 0))


def make(part: Part) -> None:
    """Make those tables of a part that are not beside it yet, or are not as they were written."""
    vocabulary_counts.kept(part)
    for name, measure in MEASURES.items():
        rollout_measures.of_part(part, name, measure)


@dataclass(frozen=True)
class RangeTask:
    """A byte range that an index is to hold."""

    byte_range: ByteRange
    kept: Piece | None = None
    """What the index holds of it, to be verified; None where it is to be parsed."""


@dataclass(frozen=True)
class Site:
    """The index that tasks are for, and how its run is read."""

    place: dict[str, Any]
    """Where it is, as its destination says (`Destination.order`)."""
    owner: str
    reading: ReadOptions

    def order(self, task: RangeTask) -> dict[str, Any]:
        """What a worker is told, as JSON holds it but for paths."""
        return {
            **self.place,
            "owner": self.owner,
            "reading": self.reading.written(),
            "store": version(),
            "range": asdict(task.byte_range),
            "source": source_of(task.byte_range.shard),
            "kept": task.kept.written() if task.kept else None,
        }


def answer(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """Have the index hold what the order names: `piece`, or `refused` (the shard) or `failed` (anything else) with the reason.

    `parsed` says whether it had to be parsed. One range's fault ends no other's work.
    """
    try:
        why = unfit(order)
        return {"failed": why} if why else _held(order, on_bytes)
    except BoardError as error:
        return {"refused": str(error)}
    except (Replaced, Vanished, Denied) as error:  # to try it again would not help
        return {"refused": f"cannot be read: {error.strerror}"}
    except OSError as error:
        return {"failed": error.strerror or str(error)}
    except Exception as error:  # noqa: BLE001 - it is reported with its range, and the others are whole
        return {"failed": f"{type(error).__name__}: {error}"}


def unfit(order: dict[str, Any]) -> str:
    """Why this process must not work on the order; empty when it may."""
    if order["store"] != version():
        return f"{platform.node()} has another version of the board than the machine that asks"
    if order.get("prefix"):  # which no worker sees as a folder; of a frame nothing but the index is told
        return ""
    try:
        owner = index_file.read(Path(order["index"]))["id"]
    except BoardError as error:
        return f"{platform.node()} does not see the index: {error}"
    return "" if owner == order["owner"] else "another index took the place of this one"


def _held(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    byte_range = range_of(order)
    kept = piece_from(order["kept"]) if order["kept"] else None
    with index_at_hand(order, kept) as folder:
        if kept is not None and folder.is_sound(kept):
            for file in kept.files:
                make(folder.read(file, byte_range.shard.name, partial(_parsed_again, byte_range)))
            folder.publish(kept)
            return {"piece": order["kept"], "parsed": False}
        with at_hand(order["source"], byte_range) as here:
            piece = parse(here, reading_of(order), partial(keep, folder), on_bytes)
        folder.flush(piece)
        folder.publish(piece)
        return {"piece": piece.written(), "parsed": True}


def keep(folder: IndexFolder, part: Part) -> File:
    """Write a part and all tables of it. Raises OSError."""
    file = folder.write(part)
    make(replace(part, file=folder.folder / file.name))
    return file


def _parsed_again(byte_range: ByteRange) -> Part:
    raise OSError(f"a part of {byte_range.shard.name} was written to while it was read")
