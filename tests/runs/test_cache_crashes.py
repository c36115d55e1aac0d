"""A cache on a medium that fails, and one that somebody else changes: the run opens and is right, and the report says what was lost."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from read_rows import prompts
from rows import compressed, lines, read_manifest, token_row, write_manifest, write_run

from board import open_run
from board.runs.cache.part_folder import File, Manifest
from board.runs.cache.parts import Part
from board.runs.cache.store import Store
from board.runs.parsing import parsed_shard
from board.runs.parsing.byte_range import ByteRange, parse
from board.runs.read_options import ReadOptions
from board.settings import user_folders
from board.sources.shards import find_shards

REPOSITORY = Path(__file__).parents[2]

OPENED = """
import sys
from board import open_run
from board.runs.parsing import parsed_shard, range_parsing
parsed_shard.RANGE_BYTES = 20_000
for small in map(int, sys.argv[2:]):
    range_parsing.SMALL_BYTES = small
    run = open_run(sys.argv[1])
    rows = [run.rollout(int(key)) for key in run.frame.index]
    right = [(row["prompt"], row["logprobs"].tolist()) for row in rows] == [(f"p{at}", [-1.0, -2.0]) for at in range(len(rows))]
    print(len(rows), right, run.report.counts.total(), run.report.cache_note)
"""
"""Opens a run several times, each with a SMALL_BYTES given: whether every row is right, and why the cache could not be written."""


def run_of(tmp_path: Path, rows: int = 400) -> Path:
    """A run of one shard, prompts counted."""
    return write_run(tmp_path / "run", {"rank_0.jsonl": [token_row(at // 4, prompt=f"p{at}") for at in range(rows)]})


def opened_under(mount: str, folder: Path, cache: Path, *small: int) -> list[str]:
    """What OPENED prints with something mounted on the cache, in a namespace of its own that ends with the process."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    cache.mkdir(exist_ok=True)
    command = f'{mount} && exec "$PYTHON" -c "$SCRIPT" "$FOLDER" {" ".join(map(str, small))}'
    environment = {"PYTHON": sys.executable, "SCRIPT": OPENED, "FOLDER": str(folder), "CACHE": str(cache)}
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", command],
        env=os.environ | environment | {"RL_BOARD_CACHE": str(cache), "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_disk_that_is_full(tmp_path: Path) -> None:
    """On a disk with room for a few parts the run opens whole, here and by processes, says why, and opens so again."""
    folder = run_of(tmp_path)

    said = opened_under('mount -t tmpfs -o size=64k tmpfs "$CACHE"', folder, tmp_path / "cache", 10**9, 10**9, 0)

    assert [line.split(" ", 3)[:3] for line in said] == [["400", "True", "0"]] * 3
    assert all("No space left" in line for line in said)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
@pytest.mark.parametrize("filled", [False, True], ids=["empty", "written before"])
def test_cache_that_may_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filled: bool) -> None:
    """On a read-only medium the run opens whole: out of the cache where it is there, else parsed, and the report says that nothing is kept."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("RL_BOARD_CACHE", str(cache))
    folder = run_of(tmp_path)
    if filled:
        open_run(folder)

    said = opened_under('mount --bind "$CACHE" "$CACHE" && mount -o remount,bind,ro "$CACHE"', folder, cache, 10**9, 0)

    assert [line.split(" ", 3)[:3] for line in said] == [["400", "True", "0"]] * 2
    assert ["Read-only file system" in line for line in said] == [not filled] * 2


def test_cache_deleted_and_made_again_while_open(tmp_path: Path) -> None:
    """A run that is open shows the rows it was loaded with, whatever becomes of its cache and its shards meanwhile."""
    folder = run_of(tmp_path, 40)
    run = open_run(folder)
    shutil.rmtree(user_folders.cache())
    write_run(folder, {"rank_0.jsonl": [token_row(9, prompt="other")]})

    other = open_run(folder)

    assert prompts(other) == ["other"]
    assert prompts(run) == [f"p{at}" for at in range(40)]
    assert [run.rollout(at)["logprobs"].tolist() for at in range(40)] == [[-1.0, -2.0]] * 40


def test_two_boards_that_saw_different_times(tmp_path: Path) -> None:
    """A board that keeps what it saw of a shard some time ago, after another has kept more, takes no row and invents none."""
    folder = run_of(tmp_path, 8)
    old = find_shards(folder)[0][0]
    slow = Store(folder)
    slow.open()
    piece = parse(ByteRange(old, 0, old.size, "native"), ReadOptions(), slow.write)
    write_run(folder, {"rank_0.jsonl": [token_row(at, prompt=f"p{at}") for at in range(20)]})
    open_run(folder)

    slow.write_manifest(old, Manifest("native", "", False, (piece,)))

    assert prompts(open_run(folder)) == [f"p{at}" for at in range(20)]


VERSIONS: dict[str, object] = {
    "nothing": None,
    "fields that are gone": {"size": 1, "mtime_ns": 1, "pieces": [{"start": 0, "stop": 5, "parts": ["a"]}]},
    "another shape": [],
}


@pytest.mark.parametrize("manifest", VERSIONS.values(), ids=VERSIONS)
def test_manifest_of_an_older_board_is_made_anew(tmp_path: Path, manifest: object) -> None:
    """What an older version wrote under the same name is not understood, and is replaced by what this one reads."""
    folder = run_of(tmp_path, 8)
    open_run(folder)
    kept = next(Store(folder).folder.glob("*.json"))
    good = read_manifest(kept)
    write_manifest(kept, manifest)

    run = open_run(folder)

    assert prompts(run) == [f"p{at}" for at in range(8)]
    assert read_manifest(kept).keys() == good.keys()


@pytest.mark.parametrize("at", [-1e9, 1e9], ids=["back", "forth"])
def test_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: float) -> None:
    """Times of shards and parts that lie far in the past or the future cost at most a second parsing."""
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 1_000)
    folder = run_of(tmp_path, 40)
    open_run(folder)
    for path in [folder / "rank_0.jsonl", *user_folders.cache().rglob("*")]:
        os.utime(path, (path.stat().st_mtime + at, path.stat().st_mtime + at))
    with (folder / "rank_0.jsonl").open("a") as shard:
        shard.write(json.dumps(token_row(10, prompt="p40")) + "\n")

    first, second = open_run(folder), open_run(folder)

    assert prompts(first) == prompts(second) == [f"p{at}" for at in range(41)]


@pytest.mark.parametrize("name", ["rank_0.jsonl.gz", "rank_0.jsonl.zst"])
def test_compressed_shard_that_grows(tmp_path: Path, name: str) -> None:
    """A member appended to a compressed shard that is kept already is read with the rest of it."""
    rows = [token_row(at, prompt=f"p{at}") for at in range(6)]
    folder = write_run(tmp_path / "run", {name: rows[:3]})
    assert prompts(open_run(folder)) == ["p0", "p1", "p2"]
    with (folder / name).open("ab") as shard:
        shard.write(compressed(lines(rows[3:]), name))

    assert prompts(open_run(folder)) == [f"p{at}" for at in range(6)]


def shard_of(folder: Path, note: str, rows: int = 30) -> Path:
    """The run's only shard, every row of the same size for notes of one length."""
    write_run(folder, {"rank_0.jsonl": [token_row(at // 2, prompt=f"{note}{at}") for at in range(rows)]})
    return folder / "rank_0.jsonl"


FLIPS = ["lines", "rows", "start", "stop"]


@pytest.mark.parametrize("name", FLIPS)
def test_flipped_digit_in_a_manifest_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A manifest that is still JSON but says another number than was written is not believed."""
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 2_000)
    folder = shard_of(tmp_path, "a").parent
    whole = open_run(folder)
    path = next(Store(folder).folder.glob("*.json"))
    digest, _, _ = path.read_bytes().partition(b"\n")
    manifest = read_manifest(path)
    manifest["pieces"][1][name] ^= 1
    path.write_bytes(digest + b"\n" + json.dumps(manifest).encode())

    run = open_run(folder)

    assert run.frame["line"].tolist() == whole.frame["line"].tolist()
    assert prompts(run) == prompts(whole)
    assert run.report.rows == 30


def test_shard_rewritten_while_it_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seal is of the bytes that were parsed: a shard rewritten between reading and sealing is read again once it has grown."""
    shard = shard_of(tmp_path, "old")
    found = find_shards(tmp_path)[0][0]
    kept = Store(tmp_path)
    kept.open()

    def keep(part: Part) -> File:
        shard_of(tmp_path, "new")
        return kept.write(part)

    piece = parse(ByteRange(found, 0, found.size, "native"), ReadOptions(), keep)
    kept.write_manifest(found, Manifest("native", "", False, (piece,)))
    with shard.open("a") as stream:
        stream.write("not json\n" * 3)
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 100)

    assert prompts(open_run(tmp_path)) == [f"new{at}" for at in range(30)]


def test_shard_with_another_head_and_an_old_time(tmp_path: Path) -> None:
    """A shard rewritten at the same size is seen by its head even where its time of modification is the old one."""
    shard = shard_of(tmp_path, "old")
    open_run(tmp_path)
    times = shard.stat()
    shard_of(tmp_path, "new")
    os.utime(shard, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert prompts(open_run(tmp_path)) == [f"new{at}" for at in range(30)]


def test_cache_of_another_version_that_is_in_use_stays(tmp_path: Path) -> None:
    """A cache of another version whose runs are written to is not removed, however long ago its last new run was opened."""
    shard_of(tmp_path / "run", "p")
    other = user_folders.cache() / "v-0123456789abcdef"
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
    next(Store(tmp_path).folder.glob("*.json")).write_bytes(manifest)

    assert len(open_run(tmp_path).frame) == 30
