"""Tests of mapped files: every byte is vouched for, and nothing damaged is used, before or after the file was mapped."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from rows import token_row, write_run

from board import open_run
from board.errors import RunNotFound
from board.runs.cache import sealed_file
from board.runs.cache.sealed_file import Damaged, Sealed
from board.runs.cache.store import Store
from board.runs.run import Run

BESIDE = 3
"""Columns of the test's file that are verified one by one."""


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, list[tuple[int, int]]]:
    """An Arrow file with its sums."""
    table = pa.table(
        {
            "id": pa.array(["a", "b", "a"]).dictionary_encode(),
            "step": [1, 2, 3],
            "text": ["x", None, "long " * 20],
            "empty": pa.array([None, None, None], pa.large_string()),
            "tokens": pa.array([[1.0, 2.0], None, []], pa.large_list(pa.float32())),
        }
    )
    path = tmp_path / "part.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path, [*sealed_file.sums(path, BESIDE)]


def test_every_byte_is_vouched_for(kept: tuple[Path, list[tuple[int, int]]]) -> None:
    """Whichever byte of the file is another, one stretch is not sound, and the others are."""
    path, sums = kept
    data = path.read_bytes()
    assert len(sums) == BESIDE + 2
    assert sums[-1][0] == len(data)
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :])
        try:
            mapped = Sealed(path, sums)
        except Damaged:
            assert at < sums[0][0] or at >= sums[-2][0]
        else:
            assert [mapped.is_sound(one) for one in range(len(sums))] == [
                not start <= at < stop
                for start, stop in zip([0, *(stop for stop, _ in sums)], (stop for stop, _ in sums), strict=False)
            ]


def later(path: Path) -> None:
    """Give a file that was just written a later time: clocks of file systems are coarse."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))


def written_in_place(path: Path, data: bytes) -> None:
    """Other bytes under an open map."""
    with path.open("r+b") as stream:
        stream.truncate(len(data))
        stream.write(data)
    later(path)


def test_what_is_cut_off_is_not_read(kept: tuple[Path, list[tuple[int, int]]]) -> None:
    """A file that was cut after it was mapped is not sound from then on, even once it is gone: reading it would end the process."""
    path, sums = kept
    mapped = Sealed(path, sums)
    written_in_place(path, b"")

    assert [mapped.is_sound(one) for one in range(len(sums))] == [False] * len(sums)
    path.unlink()
    assert not mapped.is_sound(0)


def run_of(tmp_path: Path) -> Path:
    """A run of two shards."""
    shards = {f"rank_{rank}.jsonl": [token_row(at // 4, prompt=f"{rank}.{at}") for at in range(8)] for rank in range(2)}
    return write_run(tmp_path / "run", shards)


def shown(run: Run) -> pd.DataFrame:
    """All there is of a run: frame, texts, arrays, moments, and the lines they come from."""
    moments = run.moments(sorted({name for part in run.parts for name in part.moments.column_names}))
    rows = [(run.rollout(int(key)).source, run.raw(int(key))) for key in run.frame.index]
    sources = pd.DataFrame(rows, index=run.frame.index, columns=["source", "raw"])
    everything = run.to_pandas()
    arrays = {name: [array.tolist() for array in everything[name]] for name in run.token_metrics}  # out of the map
    return pd.concat([everything.assign(**arrays), moments, sources], axis=1)


def flipped(data: bytes, dice: random.Random) -> bytes:
    """One bit is another."""
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def zeroed(data: bytes, dice: random.Random) -> bytes:
    """A stretch of up to 4 kB is zeros, as a disk leaves a block that it lost."""
    at = dice.randrange(len(data))
    size = min(dice.choice([8, 64, 4096]), len(data) - at)
    return data[:at] + bytes(size) + data[at + size :]


def cut(data: bytes, dice: random.Random) -> bytes:
    """The end is missing."""
    return data[: dice.randrange(len(data))]


def longer(data: bytes, dice: random.Random) -> bytes:
    """There is more behind the end."""
    return data + dice.randbytes(dice.choice([1, 4096]))


def scrambled(data: bytes, dice: random.Random) -> bytes:
    """Anything else."""
    return dice.randbytes(len(data))


CHANGES: list[Callable[[bytes, random.Random], bytes]] = [flipped, zeroed, cut, longer, scrambled]


def replaced(path: Path, data: bytes) -> None:
    """Another file of that name."""
    path.unlink()
    path.write_bytes(data)


def swapped(folder: Path, ending: str) -> None:
    """Two files of the cache have changed places."""
    first, second = sorted(folder.glob(f"*{ending}"))[:2]
    data = first.read_bytes()
    replaced(first, second.read_bytes())
    replaced(second, data)


@pytest.mark.parametrize("damages", [20, pytest.param(50, marks=pytest.mark.slow)])
def test_no_damage_changes_a_number(tmp_path: Path, damages: int) -> None:
    """After each of many random damages to any file of the cache the run is the shards', and the report says what was read again."""
    folder, dice = run_of(tmp_path), random.Random(5)
    whole = shown(open_run(folder))
    kept = {path: data for path in sorted(Store(folder).folder.iterdir()) if (data := path.read_bytes())}  # a lock holds nothing
    for at in range(damages):
        path, data = dice.choice([*kept.items()])
        change = dice.choice(CHANGES)
        damaged = change(data, dice)
        replaced(path, damaged)

        run = open_run(folder)

        assert shown(run).equals(whole), (at, change.__name__, path.name)
        assert len(run.report.mended) == (damaged != data), (at, change.__name__, path.name)
        assert run.report.counts.total() == 0
        for name, good in kept.items():
            name.write_bytes(good)


@pytest.mark.parametrize("ending", [".arrow", ".json"])
def test_swapped_files_are_known(tmp_path: Path, ending: str) -> None:
    """Two parts, or two manifests, that stand in each other's place are neither's: both shards are read again, and the report says so."""
    folder = run_of(tmp_path)
    whole = shown(open_run(folder))
    swapped(Store(folder).folder, ending)

    run = open_run(folder)

    pd.testing.assert_frame_equal(shown(run), whole)
    assert run.report.mended == ["rank_0.jsonl", "rank_1.jsonl"]
    assert open_run(folder).report.mended == []


def test_cache_of_another_run_is_not_taken(tmp_path: Path) -> None:
    """The whole cache folder of another run, whose shard has the size, the time and the ends of this one's, is not believed."""
    runs = [tmp_path / name for name in ("one", "two")]
    for at, folder in enumerate(runs):
        rows = [token_row(step, prompt=str(at if step == 500 else 7)) for step in range(1000)]
        write_run(folder, {"rank_0.jsonl": rows})
        os.utime(folder / "rank_0.jsonl", ns=(10**18, 10**18))
        open_run(folder)
    mine, others = (Store(folder).folder for folder in runs)
    for path in mine.iterdir():
        path.unlink()
    for path in others.iterdir():
        (mine / path.name).write_bytes(path.read_bytes())

    run = open_run(runs[0])

    assert run.rollout(500)["prompt"] == "0"
    assert run.report.mended == ["rank_0.jsonl"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_damage_while_open_is_seen_when_touched(tmp_path: Path, change: Callable[[bytes, random.Random], bytes]) -> None:
    """A part that is damaged under an open run, even after its columns were looked at, is read from the shard again, and that is said."""
    folder, dice = run_of(tmp_path), random.Random(3)
    whole = shown(open_run(folder))
    run = open_run(folder)
    shown(run)
    path = sorted(Store(folder).folder.glob("*.arrow"))[0]
    damaged = change(path.read_bytes(), dice)
    written_in_place(path, damaged)

    pd.testing.assert_frame_equal(shown(run), whole)
    assert len(run.report.mended) == (change is not longer)  # what is mapped is as it was


def test_damage_of_cache_and_shard_is_an_error(tmp_path: Path) -> None:
    """Where the shard was written anew as well, nothing is invented: the rollout says to load the run again."""
    folder = run_of(tmp_path)
    open_run(folder)
    run = open_run(folder)
    for path in Store(folder).folder.glob("*.arrow"):
        written_in_place(path, scrambled(path.read_bytes(), random.Random(1)))
    write_run(folder, {"rank_0.jsonl": [token_row(9)], "rank_1.jsonl": [token_row(9)]})

    with pytest.raises(RunNotFound, match="load the run again"):
        run.rollout(0)


def test_untouched_columns_are_not_read(tmp_path: Path) -> None:
    """Opening a run reads no token array: damage in one shows when a rollout is opened, and at no time as a number."""
    folder = run_of(tmp_path)
    whole = shown(open_run(folder))
    for path in Store(folder).folder.glob("*.arrow"):
        data = path.read_bytes()
        at = data.index(pa.array([-1.0, -2.0] * 8, pa.float32()).buffers()[1].to_pybytes())
        replaced(path, data[:at] + bytes(40) + data[at + 40 :])

    run = open_run(folder)

    assert run.report.mended == []
    assert run.rollout(0)["logprobs"].tolist() == [-1.0, -2.0]
    assert run.report.mended == ["rank_0.jsonl"]
    pd.testing.assert_frame_equal(shown(run), whole)
