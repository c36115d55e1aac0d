"""What a task made of an index's frame, as a file that vouches for itself: a little JSON and some tables.

Named by what it was made of, so that whoever goes on after a stop takes it as it is. Knows nothing of what it holds.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from xxhash import xxh3_64_hexdigest

from board.sources import run_files
from board.system import atomic_write

_MOST_BYTES = 4_000_000_000
_DIGEST = 16


@dataclass(frozen=True)
class Made:
    """What such a file holds."""

    about: dict[str, Any]
    tables: dict[str, pa.Table]


def write(path: Path, about: dict[str, Any], tables: dict[str, pa.Table]) -> None:
    """Write it in one move. Raises OSError."""
    bodies = []
    for table in tables.values():
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as out:
            out.write_table(table.unify_dictionaries().combine_chunks())
        bodies.append(stream.getvalue().to_pybytes())
    head = json.dumps({"about": about, "tables": [[name, len(body)] for name, body in zip(tables, bodies, strict=True)]}).encode()
    whole = b"".join([head, b"\n", *bodies])
    atomic_write.write(path, xxh3_64_hexdigest(whole).encode() + whole, durable=True)


def read(path: Path) -> Made | None:
    """What is there; None where nothing is, or it is not as it was written."""
    try:
        whole = run_files.whole(path, most=_MOST_BYTES, within=path.parent)
    except OSError:
        return None
    digest, body = whole[:_DIGEST], memoryview(whole)[_DIGEST:]
    if xxh3_64_hexdigest(body).encode() != digest:
        return None
    head = bytes(body[: whole.index(b"\n", _DIGEST) - _DIGEST])
    told, at, tables = json.loads(head), len(head) + 1, {}
    for name, size in told["tables"]:
        tables[name] = pa.ipc.open_stream(pa.py_buffer(body[at : at + size])).read_all()
        at += size
    return Made(told["about"], tables)
