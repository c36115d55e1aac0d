"""What the files of a golden run become: the rows of a file, and a row as one flat dict that a test can compare."""

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from rows import plain

from board import formats
from board.formats.contract import Format, Head, Place
from board.formats.row import Row
from board.sources import json_archive, streams, trackio_rollouts
from board.sources.json_record import Record, parse

GOLDEN = Path(__file__).parents[1] / "formats" / "golden"


HEAD = 8

SIDECARS: dict[str, tuple[str, ...]] = {
    "areal": ("**/perf_tracer/*.jsonl",),
    "art": ("models/*/history.jsonl", "models/*/state.json"),
    "atropos": ("data/*.html",),
    "ms_swift": ("logging.jsonl",),
    "lighteval": ("results/**/*.json",),
    "lm_eval": ("told/results_*.json",),
    "native": ("metrics.jsonl",),
    "nemo_gym": ("results/*_materialized_inputs.jsonl", "results/*_aggregate_metrics.json"),
    "nemo_rl": ("exp_001/metrics.jsonl",),
    "open_instruct": ("*_metadata.jsonl",),
    "relax": ("reward_terminal_traces/*.jsonl", "weight_serving_ready.jsonl"),
    "rllm": ("**/batch_summary.json", "*/meta.json", "*/progress/*.json"),
    "skyrl": ("dumped_evals/*/aggregated_results.jsonl",),
    "tinker_eval": ("bench/*/result.json",),
    "tinker_summaries": ("**/*_logtree.json", "**/*.html", "log/*.jsonl"),
    "token_export": ("token_exports/*/STABLE",),
    "traces": (
        "run/metrics.jsonl",
        "run/otel/traces.jsonl",
        "run_stream/**/*.index.jsonl",
        "run_stream/**/annotations/*/*.jsonl",
    ),
    "trl": ("trainer_state.json",),
    "verifiers_results": ("outputs/evals/*/*/metadata.json",),
    "verl": ("metrics/*.jsonl",),
    "wandb_rows": ("**/histogram_*.table.json",),
    "xtuner": ("work/otlp/*.jsonl",),
}
"""By format, what lies beside its rollouts and is none: patterns within its folder."""

MODULES = {module.__name__.rpartition(".")[2]: module for module in formats.FORMATS}  # type: ignore[attr-defined]

FOLDERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())


def sidecars(folder: str) -> set[Path]:
    """The files of a golden run that hold no rollouts."""
    return {path for pattern in SIDECARS.get(folder, ()) for path in (GOLDEN / folder).glob(pattern)}


def shards(folder: str) -> list[Path]:
    """The files of a golden run that hold rollouts."""
    return sorted(path for path in (GOLDEN / folder).rglob("*") if path.is_file() and path not in sidecars(folder))


def objects(text: str) -> Iterator[Any]:
    """JSON values one after another, a line each or indented over many."""
    decoder, text = json.JSONDecoder(), text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        yield value
        text = text[end:].lstrip()


def records(path: Path) -> list[dict[str, Any]]:
    """The first objects of a file; none of one that is neither JSON, Parquet, torch's, a zip nor a database."""
    if path.suffix in (".jsonl", ".json", ".zst"):
        with streams.opened(path) as text:
            values = list(itertools.islice(objects(text.read().decode()), HEAD))
    elif path.suffix == ".parquet":
        values = pq.read_table(path).slice(0, HEAD).to_pylist()
    elif path.suffix == ".pt":
        values = [plain(pytest.importorskip("torch").load(path, weights_only=True))]
    elif path.suffix == ".db":
        values = [row for row, _ in trackio_rollouts.rows(path, 1 << 20)][:HEAD]
    elif path.suffix == ".eval":
        with path.open("rb") as stream:
            values = [record for _, record, _ in json_archive.records(stream, path.stat().st_size, 1 << 20)][:HEAD]
    else:
        values = []
    items = [item for value in values for item in (value[:HEAD] if isinstance(value, list) else [value])]
    return [item for item in items if isinstance(item, dict)]


SHARDS = [pytest.param(folder, path, id=path.relative_to(GOLDEN).as_posix()) for folder in FOLDERS for path in shards(folder)]


def golden(kind: Format, name: str) -> list[Row]:
    """The rows of a file of the golden run of a format, read as a run is."""
    records = golden_records(kind, name)
    return [row for at, record in enumerate(records, 1) for row in formats.read(record, kind, Place(name, at))]


def golden_records(kind: Format, name: str) -> list[Record]:
    """The records of that file."""
    path = GOLDEN / kind.__name__.rpartition(".")[2] / name  # type: ignore[attr-defined]
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    return [parse(line) for line in path.read_bytes().splitlines()]


def golden_head(kind: Format, name: str) -> Head:
    """The beginning of that file."""
    return Head(name, tuple(golden_records(kind, name)[:8]))


def read_one(kind: Format, record: Record, name: str = "run.jsonl") -> Row:
    """The only row of a record."""
    (row,) = formats.read(record, kind, Place(name, 1))
    return row


def read_all(kind: Format, record: Record, name: str, line: int = 1) -> list[Row]:
    """The rows of a record."""
    return formats.read(record, kind, Place(name, line))


def mapped_one(kind: Format, record: Record, name: str) -> Record:
    """The only rollout of a record, under our names, before it is checked."""
    (found,) = kind.rollouts(record, Place(name, 1))
    assert isinstance(found, dict)
    return found


def flat(row: Row) -> dict[str, Any]:
    """All that a row holds by name: texts, ids and numbers, arrays as lists, None for NaN; flags where there are any."""
    numbers = {name: _known(number) for name, number in row.numbers.items()}
    arrays = {
        name: [_known(number) for number in np.round(array.astype(float), 6).tolist()] for name, array in row.arrays.items()
    }
    rest = {"response_tokens": row.tokens} if row.tokens is not None else {}
    flags = {"flags": row.flags} if row.flags else {}
    return {"step": row.step, **row.texts, **row.ids, **numbers, **arrays, **rest, **flags}


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
