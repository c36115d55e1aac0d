"""Tables that take long to make of a whole run, cached next to its first part.

They are made in the background or on first read. Each table has the key of the rollouts it was made of; that of a run which has grown takes
its place. Of rollouts that a filter leaves nothing is cached.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, TypeVar, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
from xxhash import xxh3_128

from board.runs.cache import part_tables
from board.runs.run import Run, Split

_KEY: Final = b"of"
_ABOUT: Final = b"about"

_T = TypeVar("_T")


def is_cacheable(run: Run) -> bool:
    """Whether tables of such a run are cached: one that is read to its end, with all its rollouts or all of a split."""
    return len(run.frame) > 0 and run.reading is None and run.selection in ("", *get_args(Split))


def read(run: Run, name: str, choices: str = "") -> pa.Table | None:
    """The table of that name which was made of these very rollouts and with these `choices`; None where none was."""
    if not is_cacheable(run):
        return None
    found = part_tables.read(run.parts[0], name)
    return found if found is not None and found.schema.metadata.get(_KEY) == _key(run, choices) else None


def keep(run: Run, name: str, made: pa.Table, choices: str = "") -> None:
    """Keep a table that was made of the run, in the place of the one of that name that was made of another state of it."""
    if is_cacheable(run):
        part_tables.keep(
            run.parts[0], name, made.replace_schema_metadata({**(made.schema.metadata or {}), _KEY: _key(run, choices)})
        )


def _key(run: Run, choices: str) -> bytes:
    """Another text where a rollout, a part or a choice is another."""
    digest = xxh3_128(run.frame.index.to_numpy(np.int64).tobytes())
    for part in run.parts:
        digest.update(f"{len(part)} {part.file and part.file.stem} ".encode())
    digest.update(choices.encode())
    return digest.hexdigest().encode()


def made(run: Run, name: str, choices: str, kind: type[_T], make: Callable[[], _T]) -> _T:
    """What `make` makes of the run, a dataclass of `kind`: out of the cache where it was made of these very rollouts before, else made now,
    and cached if they are all."""
    found = read(run, name, choices)
    if found is None:
        new = make()
        keep(run, name, packed(new), choices)
        return new
    about = json.loads(found.schema.metadata[_ABOUT])
    return kind(**{field: _read(one, found.column(0)) for field, one in about.items()})


def packed(of: Any) -> pa.Table:
    """A dataclass of arrays, frames, texts and numbers as a table: a row of bytes for each array; what each field is stands in its metadata."""
    arrays: list[bytes] = []
    about = {one.name: _described(getattr(of, one.name), arrays) for one in fields(of)}
    return pa.table({"bytes": pa.array(arrays, pa.large_binary())}, metadata={_ABOUT: json.dumps(about)})


def _described(value: Any, arrays: list[bytes]) -> Any:
    if isinstance(value, Mapping | pd.DataFrame):
        inner = {name: _described(np.asarray(one), arrays) for name, one in value.items()}
        return {"by_name": inner, "is_frame": isinstance(value, pd.DataFrame)}
    if isinstance(value, np.ndarray) and value.dtype != object:
        written = value.tobytes() + bytes(8 - value.nbytes % 8)  # so that each begins where its numbers may
        if written not in arrays:  # as of a vocabulary of which all numbers are known
            arrays.append(written)
        return {"array": arrays.index(written), "type": value.dtype.str, "shape": value.shape}
    return [*value] if isinstance(value, np.ndarray | tuple) else value


def _read(about: Any, arrays: pa.ChunkedArray) -> Any:
    if not isinstance(about, dict):
        return tuple(about) if isinstance(about, list) else about
    if "array" in about:
        return np.frombuffer(arrays[about["array"]].as_buffer(), about["type"], math.prod(about["shape"])).reshape(about["shape"])
    found = {name: _read(one, arrays) for name, one in about["by_name"].items()}
    if not about["is_frame"]:
        return found
    return pd.DataFrame({name: pd.Series(one, dtype=getattr(one, "dtype", object)) for name, one in found.items()})
