"""Tests that no trainer's files are taken for another's.

Each folder of `tests/formats/` is a small run laid out as its trainer does, and bears the name of the module that reads it.
"""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rows import plain

from board import formats
from board.formats.contract import Head, Place
from board.sources import trackio_records

GOLDEN = Path(__file__).parent / "formats"
HEAD = 8

SIDECARS: dict[str, tuple[str, ...]] = {
    "areal": ("**/perf_tracer/*.jsonl",),
    "art": ("models/*/history.jsonl", "models/*/state.json"),
    "atropos": ("data/*.html",),
    "ms_swift": ("logging.jsonl",),
    "native": ("metrics.jsonl",),
    "nemo_rl": ("exp_001/metrics.jsonl",),
    "open_instruct": ("*_metadata.jsonl",),
    "relax": ("reward_terminal_traces/*.jsonl", "weight_serving_ready.jsonl"),
    "rllm": ("**/batch_summary.json", "*/meta.json", "*/progress/*.json"),
    "skyrl": ("dumped_evals/*/aggregated_results.jsonl",),
    "tinker_eval": ("bench/*/result.json",),
    "tinker_summaries": ("**/*_logtree.json", "**/*.html", "log/*.jsonl"),
    "token_export": ("token_exports/*/STABLE",),
    "traces": ("run/metrics.jsonl", "run/otel/traces.jsonl"),
    "trl": ("trainer_state.json",),
    "verifiers_results": ("outputs/evals/*/*/metadata.json",),
    "verl": ("metrics/*.jsonl",),
    "xtuner": ("work/otlp/*.jsonl",),
}
"""By format, what lies beside its rollouts and is none: patterns within its folder."""

MODULES = {module.__name__.rpartition(".")[2]: module for module in formats.FORMATS}  # type: ignore[attr-defined]
SAID = {"response", "response_tokens", "response_token_ids"}
"""What the policy sampled stands under one of these."""

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
    """The first objects of a file; none of one that is neither JSON, Parquet, torch's nor a database."""
    if path.suffix in (".jsonl", ".json"):
        values = list(itertools.islice(objects(path.read_text(encoding="utf-8")), HEAD))
    elif path.suffix == ".parquet":
        values = pq.read_table(path).slice(0, HEAD).to_pylist()
    elif path.suffix == ".pt":
        values = [plain(pytest.importorskip("torch").load(path, weights_only=True))]
    elif path.suffix == ".db":
        values = [row for row, _ in trackio_records.rows(path, 1 << 20)][:HEAD]
    else:
        values = []
    return [value for value in values if isinstance(value, dict)]


def known_by(path: Path, folder: str) -> list[str]:
    """The modules that take a file for their own."""
    head = Head(path.relative_to(GOLDEN / folder).as_posix(), tuple(records(path)))
    return [name for name, module in MODULES.items() if head.records and module.recognise(head)]


SHARDS = [pytest.param(folder, path, id=path.relative_to(GOLDEN).as_posix()) for folder in FOLDERS for path in shards(folder)]
ASIDE = [
    pytest.param(folder, path, id=path.relative_to(GOLDEN).as_posix()) for folder in FOLDERS for path in sorted(sidecars(folder))
]


def test_every_format_has_a_golden_run() -> None:
    """A format without a run to show for it is not listed, and no run is left without its format."""
    assert set(MODULES) == set(FOLDERS)
    assert [folder for folder in FOLDERS if not shards(folder)] == []


@pytest.mark.parametrize(("folder", "pattern"), [(folder, one) for folder, several in SIDECARS.items() for one in several])
def test_sidecars_are_there(folder: str, pattern: str) -> None:
    """What is listed as lying beside rollouts is a file of the run, so that it is tested."""
    assert list((GOLDEN / folder).glob(pattern))


@pytest.mark.parametrize(("folder", "path"), SHARDS)
def test_one_format_knows_a_file(folder: str, path: Path) -> None:
    """A file of rollouts is known by the format that wrote it and by no other."""
    assert known_by(path, folder) == [folder]


@pytest.mark.parametrize(("folder", "path"), SHARDS)
def test_names_do_not_decide(folder: str, path: Path) -> None:
    """A file that says nothing of rollouts is nobody's, whatever its name and its place."""
    head = Head(path.relative_to(GOLDEN / folder).as_posix(), ({"message": "hello"},))

    assert [name for name, module in MODULES.items() if module.recognise(head)] == []


@pytest.mark.parametrize(("folder", "path"), SHARDS)
def test_a_file_is_mapped_whole(folder: str, path: Path) -> None:
    """No record of a golden run is refused, and its rollouts have what every rollout needs."""
    place = path.relative_to(GOLDEN / folder).as_posix()

    rollouts = [one for at, record in enumerate(records(path), 1) for one in MODULES[folder].rollouts(record, Place(place, at))]

    assert rollouts
    assert all("step" in one and SAID & one.keys() for one in rollouts)


@pytest.mark.parametrize(("folder", "path"), ASIDE)
def test_sidecars_are_nobodys(folder: str, path: Path) -> None:
    """Metrics, logs and summaries that lie beside rollouts are not taken for rollouts."""
    assert known_by(path, folder) == []
