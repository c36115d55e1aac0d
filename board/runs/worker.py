"""`python -m board.runs.worker`: parses the byte ranges it is told on standard input, a line of JSON each, and answers in lines of JSON."""

import gc
import json
import sys
from dataclasses import asdict
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from board.errors import BoardError
from board.runs.byte_range import ByteRange, parse
from board.runs.read_options import ReadOptions
from board.runs.store import Store
from board.sources.shards import Shard


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Parse what the order names into its store: `piece`, or `refused` (the shard) or `failed` (the store) with the reason."""
    given = order["range"]
    told = given["shard"]
    within = Path(told["within"]) if told["within"] else None
    shard = Shard(**{**told, "path": Path(told["path"]), "companions": tuple(told["companions"]), "within": within})
    byte_range = ByteRange(**{**given, "shard": shard})
    reading = ReadOptions(**{**order["reading"], "pads": tuple(order["reading"]["pads"])})
    store = Store(Path(order["location"]), reading.key, Path(order["cache"]))
    try:
        return {"piece": asdict(parse(byte_range, reading, store.write, _tell_bytes))}
    except BoardError as error:
        return {"refused": str(error)}
    except OSError as error:
        return {"failed": str(error)}


class _WithoutPandas(MetaPathFinder):
    """Says that there is no pandas: pyarrow imports it, where it can, to make its first array, and that takes long."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("a process that parses makes no frames", name="pandas")


def _tell_bytes(count: int) -> None:
    _say({"bytes": count})


def _say(words: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer until there is nothing more to do."""
    sys.meta_path.insert(0, _WithoutPandas())
    gc.disable()  # parsed JSON has no cycles, and looking for some takes time
    for line in sys.stdin:
        _say(answer(json.loads(line)))


if __name__ == "__main__":
    main()
