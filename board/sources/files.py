"""Files that are not JSON lines → records.

Rows of Parquet, Arrow and CSV, JSON lists and objects over many lines, zips of JSON, PyTorch dumps, trackio. A file that cannot be read ends
in one Problem, what came before it counts.
"""

import csv
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa

from board.errors import BoardError, RowRefused, RunNotFound, pip_install
from board.sources import (
    arrow_values,
    json_archive,
    json_record,
    json_stream,
    packed_sizes,
    run_files,
    shards,
    sqlite_files,
    trackio_rollouts,
)
from board.sources.bounds import SHARED, Given, TooMuch, is_dense
from board.sources.json_record import COMPANIONS, Record, as_text, parse_value
from board.sources.lines import longest_line
from board.sources.packed_sizes import Claim
from board.sources.shards import Problem, Shard
from board.text.counting import plural
from board.text.path_names import shown

_MAY_BE_JSON: Final = tuple("-0123456789[{tfNI")


def rows(stream: BinaryIO, most: int) -> Iterator[Record | RowRefused]:
    """The records in order; for a row that does not fit the header, the reason. `most` bounds the bytes of a line and of a cell.

    Raises RowRefused where the file can be read no further.
    """
    csv.field_size_limit(min(most, 2**31 - 1))
    reader = csv.reader(_lines(stream, most))
    try:
        header = next(reader, [])
        if len(set(header)) < len(header):
            raise RowRefused("has a header that names a column twice")
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                other = (
                    "; it is separated by semicolons or tabs, not by commas" if re.search("[;\t]", "".join(header[:1])) else ""
                )
                yield RowRefused(f"has {len(cells):,} cells for the {plural(len(header), 'column')} of the header{other}")
                continue
            yield {name: value(cell) for name, cell in zip(header, cells, strict=True) if cell}
    except csv.Error as error:
        raise RowRefused(f"cannot be read further: {error}") from error


def value(cell: str) -> Any:
    """The JSON value that a cell is when it is written exactly so; else its text. `null` is text: an empty cell is what is missing."""
    if not cell.startswith(_MAY_BE_JSON):
        return cell
    try:
        found = parse_value(cell.encode())
        return found if as_text(found) == cell else cell
    except (RowRefused, ValueError):
        return cell


def _lines(stream: BinaryIO, most: int) -> Iterator[str]:
    """Lines as text, a byte that is no UTF-8 written out."""
    first = True
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise RowRefused(f"has a line of more than {most:,} bytes (RL_BOARD_LONGEST_LINE)")
        yield line.decode("utf-8-sig" if first else "utf-8", "backslashreplace")
        first = False


_ROWS_AT_ONCE: Final = 64

_AT_ONCE: Final = 32_000_000
"""Bytes of such rows; where they have more they are read one by one."""

_LEAST_VALUE: Final = 8
"""Bytes that a value takes at least, however short it is in its file."""

_ARROW_FILE: Final = b"ARROW1"
_FEATHER_1: Final = b"FEA1"

_MOST_TORCH: Final = 8 << 30
"""Bytes of a `.pt` file, which is read at once; a step of the largest trainings has some 2 GB."""

_TORCH_GLOBAL: Final = re.compile(r"GLOBAL ([\w.]{1,200}) (?:was not an allowed|whose module)")
"""The class or function in a file that PyTorch refuses to load."""


_SCALARS: Final = frozenset((bool, int, float))


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
    given, number = Given(shard.size), None
    try:
        for one in _READERS[_kind(shard)](shard):
            number = one.number if isinstance(one, Parsed) else one.line
            if isinstance(one, Parsed):
                given.take(1, one.size)
            yield one
    except TooMuch as error:
        yield Problem(shard.name, number, f"{error}: what follows is left out" if number else str(error), "refused")
    except RowRefused as error:
        yield Problem(shard.name, None, str(error), "refused")
    except OSError as error:
        yield Problem(shard.name, None, f"cannot be read: {error.strerror or error}", "refused")
    except pa.ArrowException as error:
        yield Problem(shard.name, None, f"cannot be read: {str(error).splitlines()[0]}", "refused")
    except MemoryError:  # which Arrow raises for a length that damage made large
        yield Problem(shard.name, None, "cannot be read: it asks for more memory than there is, as damaged files do", "refused")
    except UnicodeDecodeError as error:  # a column's name; a value that is no UTF-8 is written out
        yield Problem(shard.name, None, f"cannot be read: a name in it is not UTF-8: {error.object[:40]!r}", "refused")


def record(shard: Shard, number: int) -> Record:
    """One record as it was read. Raises RunNotFound when it is not there any more."""
    found = next((one for one in read(shard) if isinstance(one, Parsed) and one.number == number), None)
    if found is None:
        raise RunNotFound(f"{shard.name} has no record {number} any more: it was rewritten since the run was loaded.")
    return found.record


def _kind(shard: Shard) -> str:
    return ".json" if shard.objects else shard.path.suffix


def _parquet(shard: Shard) -> Iterator[Parsed | Problem]:
    import pyarrow.parquet as pq  # with Arrow's clients of remote stores; runs of JSON lines need none of it

    with shards.opened(shard) as stream:
        about = pq.read_metadata(stream)
        given = Given(shard.size)
        at_once, dictionaries = _measured(stream, about, given)
        stream.seek(0)
        with pq.ParquetFile(stream, metadata=about, read_dictionary=dictionaries) as file:
            yield from _numbered(shard, file.iter_batches(batch_size=at_once), given.bytes)


def _measured(stream: BinaryIO, about: Any, given: Given) -> tuple[int, list[str]]:
    """How many rows of a Parquet file to read at once, and columns whose dictionaries are to stay such. Raises RowRefused.

    Arrow copies a value of a dictionary for each place that it has in the rows read at once, before anyone can ask how long it is.
    """
    given.expect(about.num_rows, 0)
    largest: dict[str, int] = {}
    nested: dict[str, None] = {}
    for group in range(about.num_row_groups):
        for at in range(about.num_columns):
            chunk = about.row_group(group).column(at)
            start = min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
            for page in packed_sizes.of_pages(stream, start, chunk.total_compressed_size):
                _refuse_dense(page)
                given.take(0, max(page.unpacked, page.values * _LEAST_VALUE))
                if page.is_dictionary and chunk.physical_type == "BYTE_ARRAY":
                    name = chunk.path_in_schema
                    largest[name] = max(largest.get(name, 0), page.unpacked)
                    if about.schema.column(at).max_repetition_level and page.unpacked * chunk.num_values > _AT_ONCE:
                        nested[name] = None
    flat = sum(size for name, size in largest.items() if name not in nested)
    return max(1, min(_ROWS_AT_ONCE, _AT_ONCE // max(1, flat))), [*nested]


def _refuse_dense(claim: Claim) -> None:
    if is_dense(claim.packed, claim.unpacked):
        raise RowRefused(
            f"says that {claim.packed:,} bytes of it become {claim.unpacked:,} when they are unpacked: it is not read"
        )


def _arrow(shard: Shard) -> Iterator[Parsed | Problem]:
    """Arrow's own files, of either kind: with their end at the end, or a stream, as `datasets` writes them."""
    with shards.opened(shard) as stream:
        start = stream.peek(len(_ARROW_FILE))
        if start.startswith(_FEATHER_1):
            raise RowRefused("is a Feather file of version 1, which Arrow reads no more: write it again with version 2")
        given = Given(shard.size)
        for batch in packed_sizes.of_messages(stream):
            _refuse_dense(batch)
            given.take(0 if batch.is_dictionary else batch.values, batch.unpacked)
        stream.seek(0)
        if start.startswith(_ARROW_FILE):
            with pa.ipc.open_file(stream) as file:
                yield from _numbered(shard, (_sound(file.get_batch(at)) for at in range(file.num_record_batches)), given.bytes)
            return
        with pa.ipc.open_stream(stream) as batches:
            yield from _numbered(shard, map(_sound, batches), given.bytes)


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, its offsets checked: Arrow believes those of its own files, and damaged ones lead anywhere. Raises ArrowInvalid."""
    batch.validate(full=True)
    return batch


def _numbered(shard: Shard, batches: Iterable[pa.RecordBatch], unpacked: int) -> Iterator[Parsed | Problem]:
    """The rows of batches of so many bytes in all. A row that is too long is left out."""
    number, given = 0, Given(unpacked, SHARED)
    for batch in batches:
        for start in range(0, len(batch), _ROWS_AT_ONCE):
            piece = batch.slice(start, _ROWS_AT_ONCE)
            step = len(piece) if arrow_values.weight(piece) <= _AT_ONCE else 1
            for at in range(0, len(piece), step):
                rows = piece.slice(at, step)
                weight = arrow_values.weight(rows)
                if step == 1 and weight > longest_line():
                    number += 1
                    reason = f"is longer than {longest_line():,} bytes (RL_BOARD_LONGEST_LINE): it is left out"
                    yield Problem(shard.name, number, reason, "refused")
                    continue
                given.take(len(rows), weight)
                for row in arrow_values.rows(rows):
                    number += 1
                    yield Parsed(number, row, weight // len(rows))


def _json(shard: Shard) -> Iterator[Parsed | Problem]:
    """A JSON object, several one after another, or a list of them, however many lines each takes."""
    number = 0
    with shards.opened(shard) as stream:
        try:
            for number, text in enumerate(json_stream.texts(stream, longest_line()), 1):
                yield _parsed(shard, number, text.encode("utf-8", "surrogateescape"))
        except RowRefused as error:
            yield Problem(shard.name, number + 1 if number else None, str(error), "refused")


def _parsed(shard: Shard, number: int, data: bytes) -> Parsed | Problem:
    try:
        return Parsed(number, json_record.parse(data), len(data))
    except RowRefused as error:
        return Problem(shard.name, number, str(error), "refused")


def _csv(shard: Shard) -> Iterator[Parsed | Problem]:
    with shards.opened(shard) as stream:
        before = 0
        for number, row in enumerate(rows(stream, longest_line()), 1):
            if isinstance(row, RowRefused):
                yield Problem(shard.name, number, str(row), "refused")
                continue
            at = stream.tell()
            yield Parsed(number, row, at - before)
            before = at


def _archive(shard: Shard) -> Iterator[Parsed | Problem]:
    """The samples of a log of inspect_ai."""
    with shards.opened(shard) as stream:
        for number, found, size in json_archive.records(stream, shard.size, longest_line()):
            yield (
                Problem(shard.name, number, str(found), "refused")
                if isinstance(found, RowRefused)
                else Parsed(number, found, size)
            )


def _database(shard: Shard) -> Iterator[Parsed | Problem]:
    """The rollouts of one run of a trackio database; of the others it says that they are there."""
    path, within = shard.path, shard.within
    try:
        for number, (row, size) in enumerate(trackio_rollouts.rows(path, longest_line(), within), 1):
            if isinstance(row, RowRefused):
                yield Problem(shard.name, number, str(row), "refused")
            else:
                yield Parsed(number, row, size)
        if others := [shown(name) for name in trackio_rollouts.others(path, within)]:
            runs = f"{plural(len(others), 'other run')} ({', '.join(others[:8])})"
            yield Problem(shard.name, None, f"holds {runs} as well: shown is the one that logged rollouts last", "flagged")
    except BoardError as error:
        reason = str(error).removeprefix(f"{path}: ").removeprefix(f"{path} cannot be read: ")
        yield Problem(shard.name, None, f"cannot be read further: {reason.rstrip('.')}", "refused")


def _torch(shard: Shard) -> Iterator[Parsed]:
    record = _load_torch(shard.path, shard.within)
    if shard.companions:
        record[COMPANIONS] = [_load_torch(Path(path), shard.within) for path in shard.companions]
    yield Parsed(1, record, shard.size)


def _load_torch(path: Path, within: Path | None) -> Record:
    """What `torch.save` wrote, tensors as lists. Nothing in the file is executed: only tensors and plain values are read."""
    with run_files.opened(path, within=within, most=_MOST_TORCH) as stream:
        size = _stored(stream)
        loaded = _tensors(stream)
    if not isinstance(loaded, dict):
        raise RowRefused(f"holds a {type(loaded).__name__}, not a dictionary")
    given = Given(size, SHARED)
    try:
        return {str(key): _plain(value, given) for key, value in loaded.items()}
    except RecursionError as error:
        raise RowRefused("holds values in each other, too deep to be read") from error


def _stored(stream: BinaryIO) -> int:
    """Bytes of what a file of torch holds once it is unpacked, by its list of contents. Raises RowRefused where they are too many."""
    size = stream.seek(0, 2)
    stream.seek(0)
    if not zipfile.is_zipfile(stream):  # as before PyTorch 1.6, which packs nothing
        stream.seek(0)
        return size
    given = Given(size)
    try:
        with zipfile.ZipFile(stream) as contents:
            given.take(0, sum(one.file_size for one in contents.infolist()))
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise RowRefused(f"cannot be read as tensors and plain values: {error}") from error
    stream.seek(0)
    return given.bytes


def _tensors(stream: BinaryIO) -> Any:
    try:
        import torch
    except ImportError as error:
        raise RowRefused(f"needs PyTorch to be read: {pip_install('torch')}") from error
    try:
        return torch.load(stream, map_location="cpu", weights_only=True)
    except Exception as error:  # of a damaged file torch raises whatever it stumbles over first
        text = str(error) or type(error).__name__
        if "weights_only" in text:  # PyTorch advises to load it without the check, which would run what is in it
            named = _TORCH_GLOBAL.search(text)
            text = f"it holds {named[1] if named else 'other objects'}"
        raise RowRefused(f"cannot be read as tensors and plain values: {text.splitlines()[0]}") from error


def _plain(value: Any, given: Given) -> Any:
    """A value as JSON can hold it: tensors as lists, bytes as text. Raises RowRefused for what has no values, or far too many."""
    if isinstance(value, Mapping):
        given.take(0, _LEAST_VALUE * len(value))
        return {str(key): _plain(one, given) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        given.take(0, _LEAST_VALUE * len(value))
        return [*value] if _SCALARS.issuperset(map(type, value)) else [_plain(one, given) for one in value]
    if isinstance(value, (bytes, str)):
        given.take(0, len(value))
        return value.decode("utf-8", errors="backslashreplace") if isinstance(value, bytes) else value
    return _listed(value, given) if hasattr(value, "tolist") else value


def _listed(tensor: Any, given: Given) -> Any:
    """A tensor's values: a few bytes of it may be said to be any number of them, or none at all."""
    is_plain = str(tensor.layout) == "torch.strided" and not (tensor.is_meta or tensor.is_quantized or tensor.is_complex())
    if not is_plain:
        raise RowRefused(f"holds a tensor that is no list of numbers ({tensor.layout}, {tensor.dtype}, on {tensor.device})")
    given.take(0, _LEAST_VALUE * tensor.numel())
    return tensor.tolist()


_READERS: Final[Mapping[str, Callable[[Shard], Iterator[Parsed | Problem]]]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".json": _json,
    ".csv": _csv,
    ".eval": _archive,
    sqlite_files.ENDING: _database,
    ".pt": _torch,
}
