"""Write one source of a run to Parquet files of an index, in any engine's worker.

`python -m board.cli.indexing.source_writer` is a worker of this machine: orders and answers are lines of JSON.
"""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from board.analysis.texts.measured_columns import MEASURES
from board.cli.indexing.destination import Destination, options
from board.errors import BoardError
from board.runs import child_process
from board.runs.cache.code_version import version
from board.runs.cache.columns import as_table
from board.runs.cache.parts import Part, with_lines_after
from board.runs.child_process import Tell
from board.runs.indexed.index_rows import LOT, MEASURED, PLACES, ROLLOUT, sum_of_footer, table_of
from board.runs.load_report import LoadReport
from board.runs.parsing import discarded
from board.runs.parsing.byte_range import ByteRange, parse, parse_tail
from board.runs.parsing.format_detection import Identity
from board.runs.parsing.parsed_shard import ParsedShard, missing
from board.runs.parsing.repeated_steps import repeated_steps
from board.runs.parsing.worker import range_of, reading_of
from board.runs.prompt_keys import NO_PROMPT
from board.runs.read_options import ReadOptions
from board.schema import DISCARD_FLAGS
from board.settings import user_folders
from board.sources import index_file, presence, shards
from board.sources.remote import listings, local_names, object_store
from board.sources.remote.addresses import Address
from board.sources.remote.mirror import local_stamp
from board.sources.remote.object_store import RemoteObject
from board.sources.shards import Shard

GROUP_ROWS: Final = 2_048
"""Rows of a row group at most: what one rollout costs to read."""

LEVELS: Final = 4
"""Rows of a part stand by their lots in groups of rows, each a quarter of the one before: a sample reads the small ones alone."""

_DATABASE_LOGS: Final = ("-wal",)
"""Ends of the names of files that a database is not whole without."""


def order_for(
    destination: Destination, shard: Shard, identity: Identity, number: int, reading: ReadOptions, **more: Any
) -> dict[str, Any]:
    """To parse a source, as JSON holds it but for paths; `more` are the entries `seal` and `in_order` of the order."""
    return {
        "destination": destination.named,
        "store": version(),
        "number": number,
        "range": asdict(ByteRange(shard, 0, shard.size, identity.format)),
        "identity": {"format": identity.format, "note": identity.note, "objects": identity.objects},
        "reading": reading.written(),
        "objects": _objects_of(shard),
        **more,
    }


def answer(order: dict[str, Any], on_bytes: Tell) -> dict[str, Any]:
    """Have the source of the order be in the index: what the file of the index says of it, `failed` being the reason why it is not there."""
    try:
        if order["store"] != version():
            return {"failed": f"{platform.node()} has another version of the board than the machine that asks"}
        with _at_hand(order["objects"], range_of(order).shard) as shard:
            return _Writer(order, shard, on_bytes).written()
    except BoardError as error:
        return {"failed": str(error)}
    except OSError as error:
        return {"failed": error.strerror or str(error)}
    except Exception as error:  # noqa: BLE001 - it is reported with its source, and the others are whole
        return {"failed": f"{type(error).__name__}: {error}"}


class _Writer:
    """Writes the rows of one source as they are parsed, into another file where there are more columns."""

    def __init__(self, order: dict[str, Any], shard: Shard, on_bytes: Tell) -> None:
        self._order, self._shard, self._on_bytes = order, shard, on_bytes
        self._reading = reading_of(order)
        self._system, base = Destination(order["destination"]).place
        self._folder = f"{base}/{index_file.ROWS}"
        self._rows, self._files = 0, list[dict[str, Any]]()
        self._schema = pa.schema([])
        self._open: pq.ParquetWriter | None = None
        self._flags: dict[str, bool] = {}
        self._places = list[pa.Table]()
        """Where each row stands, by which steps that are written twice are found."""

    def written(self) -> dict[str, Any]:
        """Parse and write all of it. Raises BoardError, OSError."""
        shard, identity = self._shard, Identity(**self._order["identity"])
        parsed, report = ParsedShard(shard, identity, []), LoadReport()
        first_line = 0
        for byte_range in missing(parsed):
            piece = parse(byte_range, self._reading, lambda part: self._add(part, first_line), self._on_bytes)  # noqa: B023
            self._take(parsed, piece, report, first_line)
            first_line += piece.lines
        if parsed.has_tail():
            tail = parse_tail(parsed.tail_range(), self._reading, lambda part: self._add(part, first_line))
            self._take(parsed, tail, report, first_line)
        self._close()
        if shards.seal(shard, 0, shard.size) != self._order["seal"]:
            return {"failed": "it was changed while it was read"}
        for problem in repeated_steps(self._in_order()) if self._order["in_order"] else ():
            report.add(problem)
        return {
            "number": self._order["number"],
            "size": shard.size,
            "seal": self._order["seal"],
            **self._order["identity"],
            "rows": self._rows,
            "files": self._files,
            "problems": [asdict(one) for one in report.problems],
            "counts": dict(report.counts),
            "unfinished": report.unfinished,
            "flags": self._flags,
            "trains_ends": report.trains_ends,
            "doubts_ends": report.doubts_ends,
            "failed": "",
        }

    def _take(self, parsed: ParsedShard, piece: Any, report: LoadReport, first_line: int) -> None:
        parsed.add(piece)
        piece.report_to(report, self._shard, first_line)
        report.trains_ends |= piece.trains_ends
        report.doubts_ends |= piece.doubts_ends
        if shards.is_plain(self._shard):
            self._on_bytes(piece.stop)

    def _add(self, part: Part, first_line: int) -> None:
        """Write the rows of a part, those of small lots first."""
        part = replace(part, scalars=with_lines_after(part.scalars, first_line, self._shard))
        table, lots = table_of(part), _lots(part)
        levels = np.minimum(LEVELS - 1, np.floor(-np.log(lots) / np.log(LEVELS))).astype(np.int64)
        order = np.argsort(-levels, kind="stable")
        measured = {MEASURED + name: values for make in MEASURES.values() for name, values in make(part).items()}
        held = {
            name: pa.array(values, pa.float32(), from_pandas=True)
            for name, values in measured.items()
            if not np.isnan(values).all()
        }
        ids = (self._order["number"] << PLACES) + self._rows + np.arange(len(part))
        whole = pa.table({LOT: pa.array(lots), **dict(zip(table.column_names, table.columns, strict=True)), **held}).take(
            pa.array(order)
        )
        whole = whole.add_column(0, ROLLOUT, pa.array(ids))
        self._note(part)
        file = self._file_for(whole.schema)
        empty = self._schema.empty_table()
        whole = pa.concat_tables([empty, whole], promote_options="default").select(self._schema.names)
        ends = np.cumsum(np.bincount(levels, minlength=LEVELS)[::-1])
        for start, stop in zip([0, *ends], ends, strict=False):
            if start < stop:
                file.write_table(whole.slice(start, stop - start), row_group_size=GROUP_ROWS)
        self._rows += len(part)
        self._files[-1]["rows"] += len(part)

    def _note(self, part: Part) -> None:
        """Note what the index says of the source in addition to its rows."""
        names = [name for name in ("step", "shard", "line", "prompt_key", "split", "rank") if name in part.scalars.column_names]
        self._places.append(as_table(part.scalars, names))
        said = [name for name in DISCARD_FLAGS if name in part.scalars.column_names]
        rows = as_table(part.scalars, said).to_pandas() if said else pd.DataFrame()
        numbers = [name for name in said if pd.api.types.is_numeric_dtype(rows[name].dtype) and rows[name].notna().any()]
        flags = discarded.flags(rows)
        self._flags |= {name: name in flags and self._flags.get(name, True) for name in numbers}

    def _in_order(self) -> pd.DataFrame:
        found: pd.DataFrame = (
            pa.concat_tables(self._places, promote_options="default").to_pandas() if self._places else pd.DataFrame()
        )
        return found

    def _file_for(self, schema: pa.Schema) -> pq.ParquetWriter:
        """The file that is written to: another where it lacks a column."""
        if self._open is None or not set(schema.names) <= set(self._schema.names):
            self._close()
            names = [*schema.names, *(name for name in self._schema.names if name not in schema.names)]
            both = pa.unify_schemas([schema, self._schema])
            self._schema = pa.schema(
                [both.field(name) for name in sorted(names, key=lambda name: (_is_list(both, name), names.index(name)))]
            )
            name = f"{self._order['number']:06}-{len(self._files)}-{uuid4().hex[:12]}.parquet"
            self._files.append({"name": name, "size": 0, "sum": 0, "rows": 0})
            self._open = pq.ParquetWriter(f"{self._folder}/{name}", self._schema, filesystem=self._system, **options())
        return self._open

    def _close(self) -> None:
        if self._open is None:
            return
        self._open.close()
        self._open = None
        with self._system.open_input_file(f"{self._folder}/{self._files[-1]['name']}") as stream:
            self._files[-1] |= {"size": stream.size(), "sum": sum_of_footer(stream)}


def _is_list(schema: pa.Schema, name: str) -> bool:
    """Lists stand last: the places of columns in a group of rows count their parts."""
    return bool(pa.types.is_nested(schema.field(name).type))


def _lots(part: Part) -> NDArray[np.float64]:
    """A number above 0 and up to 1 of each rollout, the same for those of one group: of one step and prompt. (rows,)"""
    scalars = part.scalars
    steps, prompts, offsets = (scalars.column(name).to_numpy().astype(np.int64) for name in ("step", "prompt_key", "offset"))
    keys = pd.util.hash_array(np.where(prompts == NO_PROMPT, offsets, prompts)).astype(np.uint64)
    if "group_id" in scalars.column_names:
        ids = as_table(scalars, ["group_id"]).to_pandas()["group_id"].astype(object)
        keys = np.where(ids.notna(), pd.util.hash_array(ids.fillna("").to_numpy(object)), keys)
    mixed = pd.util.hash_array(keys + np.uint64(0x9E3779B97F4A7C15) * steps.astype(np.uint64))
    found: NDArray[np.float64] = (mixed.astype(np.float64) + 1) / 2**64
    return np.minimum(found, 1.0)


def _objects_of(shard: Shard) -> dict[str, Any] | None:
    """The objects that a shard is made of, as they were listed; None where it is a file of every worker's."""
    paths = [shard.path, *map(Path, shard.companions), *(Path(f"{shard.path}{end}") for end in _DATABASE_LOGS)]
    found = [one for one in map(listings.object_at, paths) if one is not None]
    if not found or not presence.is_remote(shard.path):
        return None
    store = found[0][0]
    return {"scheme": store.scheme, "authority": store.authority, "objects": [asdict(one) for _, one in found]}


@contextmanager
def _at_hand(source: dict[str, Any] | None, shard: Shard) -> Iterator[Shard]:
    """The shard in files of this machine, of its very version. Raises OSError."""
    if source is None:
        yield shard
        return
    objects = [RemoteObject(**one) for one in source["objects"]]
    store, cache = object_store.shared(Address(source["scheme"], source["authority"], "")), user_folders.cache()
    with user_folders.temporary(cache / "indexing", cache, "source") as folder:
        paths = [folder / local_names.local_path(one.key) for one in objects]
        for one, path in zip(objects, paths, strict=True):
            object_store.waited(store.fetch(one, path))
            os.utime(path, ns=(0, local_stamp(one)[1]))
        companions = tuple(map(str, paths[1 : 1 + len(shard.companions)]))
        yield replace(shard, path=paths[0], companions=companions, within=folder, inode=paths[0].stat().st_ino)


if __name__ == "__main__":
    child_process.serve(answer)
