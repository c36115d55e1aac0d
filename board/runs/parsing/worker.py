"""`python -m board.runs.parsing.worker`: parse the byte ranges that are ordered.

Orders come on standard input, a line of JSON each, and answers are lines of JSON. What an order says is written and read here.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from board.errors import BoardError
from board.runs import child_process
from board.runs.cache.store import Store
from board.runs.child_process import Tell
from board.runs.parsing.byte_range import ByteRange, parse
from board.runs.read_options import ReadOptions
from board.sources.shards import Shard


def order_for(store: Store, reading: ReadOptions, byte_range: ByteRange) -> dict[str, Any]:
    """To parse a byte range into a store, as JSON holds it but for paths."""
    return {"location": str(store.location), "cache": str(store.root), "reading": reading.written(), "range": asdict(byte_range)}


def range_of(order: dict[str, Any]) -> ByteRange:
    """The byte range that an order is for."""
    return ByteRange(**{**order["range"], "shard": _shard(order["range"]["shard"])})


def _shard(fields: dict[str, Any]) -> Shard:
    within = Path(fields["within"]) if fields["within"] else None
    members = tuple(map(_shard, fields["members"]))
    companions = tuple(fields["companions"])
    return Shard(**{**fields, "path": Path(fields["path"]), "companions": companions, "within": within, "members": members})


def reading_of(order: dict[str, Any]) -> ReadOptions:
    """How an order's shard is read."""
    return ReadOptions(**{**order["reading"], "pads": tuple(order["reading"]["pads"])})


def answer(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """Parse what the order names into its store: `piece`, or `refused` (the shard) or `failed` (the store) with the reason."""
    reading = reading_of(order)
    store = Store(Path(order["location"]), reading.key, Path(order["cache"]))
    try:
        return {"piece": parse(range_of(order), reading, store.write, on_bytes).written()}
    except BoardError as error:
        return {"refused": str(error)}
    except OSError as error:
        return {"failed": str(error)}


if __name__ == "__main__":
    child_process.serve(answer)
