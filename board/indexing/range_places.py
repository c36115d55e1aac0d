"""Where a worker finds the bytes of a range, and where it puts its parts: on this machine, whatever the order says of stores.

Of a remote shard the very version that the driver listed is fetched, no more than the range, and let go of when it is parsed. Knows places;
knows neither what a range means nor who asks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from board.indexing.index_prefix import IndexPrefix
from board.indexing.prefix_folder import PrefixFolder, folder_for_a_while
from board.remote import local_names, mounts
from board.remote.addresses import Address
from board.remote.mirror import local_stamp
from board.remote.object_store import RemoteObject, Replaced
from board.runs.byte_range import ByteRange
from board.runs.index_folder import IndexFolder
from board.runs.part_folder import Piece
from board.sources import index_file, presence, shards
from board.sources.shards import Shard

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
    """The range, to be read of its very version. Raises RemoteTrouble."""
    if source is None:
        yield byte_range
        return
    objects, shard = [RemoteObject(**one) for one in source["objects"]], byte_range.shard
    if shards.is_plain(shard) and local_stamp(objects[0]) != (shard.size, shard.mtime_ns):
        raise Replaced  # it was listed anew since the shard was cut
    with mounts.lent(Address(source["scheme"], source["authority"], ""), "", objects) as folder:
        path, *others = (folder / local_names.local_path(one.key) for one in objects)
        companions = tuple(str(one) for one in others[: len(shard.companions)])
        yield replace(byte_range, shard=replace(shard, path=path, companions=companions, within=folder))


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
