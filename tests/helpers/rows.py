"""Rows and run folders for tests: real JSON lines on disk, plain, gzip or zstd by the file's name."""

import gzip
import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa


def row(step: int = 0, **fields: Any) -> dict[str, Any]:
    """The least a row needs, and whatever else is given."""
    return {"step": step, "response": "ok", **fields}


def token_row(step: int = 0, **fields: Any) -> dict[str, Any]:
    """A row of two tokens with every field a PPO run has."""
    return {
        "prompt": "p",
        "response": "a b",
        "response_tokens": ["a", " b"],
        "logprobs": [-1.0, -2.0],
        "ref_logprobs": [-1.5, -2.5],
        "values": [0.5, 0.25],
        "token_rewards": [0.0, 1.0],
        "reward": 1.0,
        "step": step,
        **fields,
    }


def lines(rows: Iterable[Mapping[str, Any] | bytes]) -> bytes:
    """Rows as JSON lines, as Python's json writes them; bytes stand as they are, one line each."""
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in rows)


def compressed(data: bytes, name: str) -> bytes:
    """The bytes as a shard of that name holds them."""
    if name.endswith(".gz"):
        return gzip.compress(data, mtime=0)
    if name.endswith(".zst"):
        return bytes(pa.Codec("zstd").compress(data, asbytes=True))
    return data


def write_shard(path: Path, rows: Iterable[Mapping[str, Any] | bytes] | bytes) -> Path:
    """One shard, its folder included; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(compressed(rows if isinstance(rows, bytes) else lines(rows), path.name))
    return path


def write_run(folder: Path, shards: Mapping[str, Iterable[Mapping[str, Any] | bytes] | bytes]) -> Path:
    """A run folder of several shards by name, written in the order given; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in shards.items():
        write_shard(folder / name, rows)
    return folder


def add_run(root: Path, name: str, rows: Iterable[Mapping[str, Any] | bytes], shard: str = "rank_0.jsonl") -> Path:
    """A run folder of one shard under a root; returns the folder."""
    return write_shard(root / name / shard, rows).parent


def read_manifest(path: Path) -> dict[str, Any]:
    """What a shard's manifest says, below the line that vouches for it."""
    found: dict[str, Any] = json.loads(path.read_bytes().partition(b"\n")[2])
    return found


def write_manifest(path: Path, said: Any) -> None:
    """A manifest that says something else, and vouches for it."""
    text = json.dumps(said).encode()
    path.write_bytes(blake2b(text, digest_size=16).hexdigest().encode() + b"\n" + text)


def plain(value: Any) -> Any:
    """A value out of a torch file with lists instead of tensors."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def database(path: Path, *statements: str) -> Path:
    """A database of SQLite made by hand."""
    with closing(sqlite3.connect(path)) as made:
        for statement in statements:
            made.execute(statement)
        made.commit()
    return path
