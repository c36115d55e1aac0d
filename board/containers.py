"""Files that are not JSON lines → records: parquet rows, whole JSON files, JSON objects over many lines, PyTorch dumps.

Knows how records are wrapped; knows nothing of rollouts. A file that cannot be read ends in one Problem, what came before it counts.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from board import records, run_files, shards
from board.errors import RowRefused, RunNotFound
from board.formats.contract import COMPANIONS
from board.lines import longest_line
from board.records import Record
from board.shards import BOM, Problem, Shard

_ROWS_AT_ONCE: Final = 64

_SPACE: Final = re.compile(r"\s*")

_MOST_TORCH: Final = 8 << 30
"""Bytes of a `.pt` file, which is read at once; a step of the largest trainings has some 2 GB."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A record that needed no line of its own."""

    number: int
    """Of the record in its file, from 1."""
    record: Record
    size: int
    """Bytes it took, roughly."""


def read(shard: Shard) -> Iterator[Parsed | Problem]:
    """The records of a shard that is not JSON lines, in order."""
    try:
        yield from _READERS[_kind(shard)](shard)
    except RowRefused as error:
        yield Problem(shard.name, None, str(error), "refused")
    except OSError as error:
        yield Problem(shard.name, None, f"cannot be read: {error.strerror or error}", "refused")
    except pa.ArrowException as error:
        yield Problem(shard.name, None, f"cannot be read: {str(error).splitlines()[0]}", "refused")


def record(shard: Shard, number: int) -> Record:
    """One record as it was read. Raises RunNotFound when it is not there any more."""
    found = next((one for one in read(shard) if isinstance(one, Parsed) and one.number == number), None)
    if found is None:
        raise RunNotFound(f"{shard.name} has no record {number} any more: it was rewritten since the run was loaded.")
    return found.record


def _kind(shard: Shard) -> str:
    return "objects" if shard.objects else shard.path.suffix


def _parquet(shard: Shard) -> Iterator[Parsed]:
    with shards.opened(shard) as stream, pq.ParquetFile(stream) as file:
        before = 0
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
            size = batch.nbytes // max(1, len(batch))
            for number, row in enumerate(batch.to_pylist(), before + 1):
                yield Parsed(number, _plain(row), size)
            before += len(batch)


def _json(shard: Shard) -> Iterator[Parsed]:
    data = _whole(shard)
    yield Parsed(1, records.parse(data), len(data))


def _whole(shard: Shard) -> bytes:
    """All bytes of a shard that is no more than a line may be. Raises OSError."""
    return run_files.whole(shard.path, within=shard.within, most=longest_line())


def _objects(shard: Shard) -> Iterator[Parsed | Problem]:
    """Objects one after another, however many lines each takes."""
    text = _whole(shard).removeprefix(BOM).decode("utf-8", "surrogateescape").strip()
    decoder, at, number = json.JSONDecoder(), 0, 0
    while at < len(text):
        number += 1
        try:
            _, end = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            yield Problem(shard.name, number, f"is not JSON from here on: {error}", "refused")
            return
        data = text[at:end].encode("utf-8", "surrogateescape")
        yield Parsed(number, records.parse(data), len(data))
        at = cast("re.Match[str]", _SPACE.match(text, end)).end()


def _torch(shard: Shard) -> Iterator[Parsed]:
    record = _load_torch(shard.path, shard.within)
    if shard.companions:
        record[COMPANIONS] = [_load_torch(Path(path), shard.within) for path in shard.companions]
    yield Parsed(1, record, shard.size)


def _load_torch(path: Path, within: Path | None) -> Record:
    """What `torch.save` wrote, tensors as lists. Nothing in the file is executed: only tensors and plain values are read."""
    with run_files.opened(path, within=within, most=_MOST_TORCH) as stream:
        loaded = _tensors(stream)
    if not isinstance(loaded, dict):
        raise RowRefused(f"holds a {type(loaded).__name__}, not a dictionary")
    return {str(key): _plain(value) for key, value in loaded.items()}


def _tensors(stream: BinaryIO) -> Any:
    try:
        import torch
    except ImportError as error:
        raise RowRefused("needs PyTorch to be read: install torch beside the board") from error
    try:
        return torch.load(stream, map_location="cpu", weights_only=True)
    except Exception as error:  # of a damaged file torch raises whatever it stumbles over first
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RowRefused(f"cannot be read as tensors and plain values: {reason}") from error


def _plain(value: Any) -> Any:
    """The same value in what JSON can hold: tensors as lists, bytes as text, dates and decimals as they are written."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value] if value and not isinstance(value[0], (int, float)) else list(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    return value.tolist() if hasattr(value, "tolist") else value


_READERS: Final = {".parquet": _parquet, ".json": _json, ".pt": _torch, "objects": _objects}
