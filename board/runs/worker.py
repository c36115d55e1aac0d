"""`python -m board.runs.worker`: parses the byte ranges it is told on standard input, a line of JSON each, and answers in lines of JSON.

What an order says is written and read here. Knows neither who asks nor what is kept of a run.
"""

import gc
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from board.errors import BoardError
from board.runs.byte_range import ByteRange, parse
from board.runs.read_options import ReadOptions
from board.runs.store import Store
from board.sources.shards import Shard
from board.system import kept_memory

TellBytes = Callable[[int], None]

Answer = Callable[[dict[str, Any], TellBytes], dict[str, Any]]
"""What becomes of an order; it may tell meanwhile how many bytes it has read."""


def order_for(store: Store, reading: ReadOptions, byte_range: ByteRange) -> dict[str, Any]:
    """To parse a byte range into a store, as JSON holds it but for paths."""
    return {"location": str(store.location), "cache": str(store.root), "reading": reading.written(), "range": asdict(byte_range)}


def range_of(order: dict[str, Any]) -> ByteRange:
    """The byte range that an order is for."""
    told = order["range"]["shard"]
    within = Path(told["within"]) if told["within"] else None
    shard = Shard(**{**told, "path": Path(told["path"]), "companions": tuple(told["companions"]), "within": within})
    return ByteRange(**{**order["range"], "shard": shard})


def reading_of(order: dict[str, Any]) -> ReadOptions:
    """How an order's shard is read."""
    return ReadOptions(**{**order["reading"], "pads": tuple(order["reading"]["pads"])})


def answer(order: dict[str, Any], on_bytes: TellBytes) -> dict[str, Any]:
    """Parse what the order names into its store: `piece`, or `refused` (the shard) or `failed` (the store) with the reason."""
    reading = reading_of(order)
    store = Store(Path(order["location"]), reading.key, Path(order["cache"]))
    try:
        return {"piece": parse(range_of(order), reading, store.write, on_bytes).written()}
    except BoardError as error:
        return {"refused": str(error)}
    except OSError as error:
        return {"failed": str(error)}


class _WithoutPandas:
    """Says that there is no pandas: pyarrow imports it, where it can, to make its first array, and that takes long."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("a process that parses makes no frames", name="pandas")


def serve(answer: Answer, orders: BinaryIO, said: BinaryIO) -> None:
    """Answer orders, a line each, until there is nothing more to do."""
    gc.disable()  # parsed JSON has no cycles, and looking for some takes time
    kept_memory.keep_all()

    def say(words: dict[str, Any]) -> None:
        said.write(json.dumps(words).encode() + b"\n")
        said.flush()

    for line in orders:
        say(answer(json.loads(line), lambda count: say({"bytes": count})))


def main() -> None:
    """Parse byte ranges until there is nothing more to do."""
    sys.meta_path.insert(0, _WithoutPandas())
    serve(answer, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
