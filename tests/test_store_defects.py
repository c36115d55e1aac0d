"""Faults of the store that random histories did not reach: what a manifest or a seal says must be about the bytes that were parsed."""

import json
import os
from pathlib import Path

import pytest
from rows import token_row, write_run

from board import loading, open_run, store
from board.formats.row import COMMON_PADS
from board.loading import Stretch, parse
from board.parts import Part
from board.rollouts import Run
from board.shards import find_shards
from board.store import Store


def prompts(run: Run) -> list[str]:
    """The prompts in the frame's order."""
    return list(run.texts("prompt", run.frame.index.to_numpy()).to_pylist())


def shard_of(folder: Path, note: str, rows: int = 30) -> Path:
    """The run's only shard, every row of the same size for notes of one length."""
    write_run(folder, {"rank_0.jsonl": [token_row(at // 2, prompt=f"{note}{at}") for at in range(rows)]})
    return folder / "rank_0.jsonl"


FLIPS = ["lines", "rows", "start", "stop"]


@pytest.mark.parametrize("name", FLIPS)
def test_flipped_digit_in_a_manifest_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A manifest that is still JSON but says another number than was written is not believed."""
    monkeypatch.setattr(loading, "STRETCH_BYTES", 2_000)
    folder = shard_of(tmp_path, "a").parent
    whole = open_run(folder)
    path = next(Store(folder, COMMON_PADS).folder.glob("*.json"))
    manifest = json.loads(path.read_bytes())
    manifest["pieces"][1][name] ^= 1
    path.write_text(json.dumps(manifest))

    run = open_run(folder)

    assert run.frame["line"].tolist() == whole.frame["line"].tolist()
    assert prompts(run) == prompts(whole)
    assert run.report.rows == 30


def test_shard_rewritten_while_it_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seal is of the bytes that were parsed: a shard rewritten between reading and sealing is read again once it has grown."""
    shard = shard_of(tmp_path, "old")
    found = find_shards(tmp_path)[0][0]
    kept = Store(tmp_path, COMMON_PADS)
    kept.open()

    def keep(part: Part) -> str:
        shard_of(tmp_path, "new")
        return kept.write(part)

    kept.keep(found, [parse(Stretch(found, 0, found.size), COMMON_PADS, keep)])
    with shard.open("a") as stream:
        stream.write("not json\n" * 3)
    monkeypatch.setattr(loading, "STRETCH_BYTES", 100)

    assert prompts(open_run(tmp_path)) == [f"new{at}" for at in range(30)]


def test_shard_with_another_head_and_an_old_time(tmp_path: Path) -> None:
    """A shard rewritten at the same size is seen by its head even where its time of modification is the old one."""
    shard = shard_of(tmp_path, "old")
    open_run(tmp_path)
    times = shard.stat()
    shard_of(tmp_path, "new")
    os.utime(shard, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert prompts(open_run(tmp_path)) == [f"new{at}" for at in range(30)]


def test_shard_that_grew_and_has_another_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shard written afresh that differs in its middle alone, and is longer, is not taken for one that was appended to."""
    monkeypatch.setattr(loading, "STRETCH_BYTES", 20_000)
    shard = shard_of(tmp_path, "p", 200)
    open_run(tmp_path)
    shard.write_bytes(shard.read_bytes().replace(b'"p50"', b'"q50"') + json.dumps(token_row(200, prompt="p200")).encode() + b"\n")

    assert prompts(open_run(tmp_path))[50] == "q50"


def test_cache_of_another_version_that_is_in_use_stays(tmp_path: Path) -> None:
    """A cache of another version whose runs are written to is not removed, however long ago its last new run was opened."""
    shard_of(tmp_path / "run", "p")
    other = store.cache_root() / "v-0123456789abcdef"
    (other / "run").mkdir(parents=True)
    (other / "run" / "today.arrow").write_text("new")
    os.utime(other, (1e9, 1e9))

    open_run(tmp_path / "run")

    assert (other / "run" / "today.arrow").exists()


@pytest.mark.parametrize("manifest", [b"[" * 100_000, b'{"size": 1'], ids=["deep", "cut"])
def test_manifest_of_brackets(tmp_path: Path, manifest: bytes) -> None:
    """Whatever stands in a manifest, the run opens."""
    shard_of(tmp_path, "p")
    open_run(tmp_path)
    next(Store(tmp_path, COMMON_PADS).folder.glob("*.json")).write_bytes(manifest)

    assert len(open_run(tmp_path).frame) == 30
