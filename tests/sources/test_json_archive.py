"""Tests of zips of JSON: what is damaged or too much is one problem, in bounded memory, and the rest is read."""

import json
import struct
import zipfile
from pathlib import Path

import pytest

from board.sources import files
from board.sources.files import Parsed
from board.sources.shards import Shard

HEADER = json.dumps({"eval": {"task": "t"}})


def made(path: Path, *entries: tuple[str, bytes | str], packing: int = zipfile.ZIP_DEFLATED) -> Shard:
    """A shard with these entries."""
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return shard(path)


def shard(path: Path) -> Shard:
    """The shard at a path."""
    return Shard(path, path.name, path.stat().st_size, 0)


def read(one: Shard) -> tuple[list[object], list[str]]:
    """The samples of a shard, and what is wrong with it."""
    found = list(files.read(one))
    return [p.record["samples"][0] for p in found if isinstance(p, Parsed)], [str(p) for p in found if not isinstance(p, Parsed)]


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED], ids=["deflated", "stored"])
def test_samples_are_records(tmp_path: Path, packing: int) -> None:
    """Each sample is a record beside what the header says; other entries are none; one that is no JSON is a problem of its own."""
    one = made(
        tmp_path / "a.eval",
        ("samples/1_epoch_1.json", '{"id": 1}'),
        ("header.json", HEADER),
        ("samples/2_epoch_1.json", "{"),
        ("summaries.json", "[]"),
        ("samples/3_epoch_1.json", '{"id": 3}'),
        packing=packing,
    )
    samples, problems = read(one)
    assert samples == [{"id": 1}, {"id": 3}]
    assert [problem.partition(" is not JSON")[0] for problem in problems] == ["a.eval:2: samples/2_epoch_1.json"]
    assert files.record(one, 3)["eval"] == {"task": "t"}


def test_a_log_that_is_still_written_has_the_header_it_began_with(tmp_path: Path) -> None:
    """Before the end there is no header.json."""
    one = made(tmp_path / "a.eval", ("_journal/start.json", HEADER), ("samples/1.json", '{"id": 1}'))
    assert files.record(one, 1)["eval"] == {"task": "t"}


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that becomes far more than it takes, or is longer than a line may be, is left out; the others are read."""
    one = made(tmp_path / "a.eval", ("samples/1.json", b" " * 300_000_000), ("samples/2.json", "{}"))
    monkeypatch.setenv("RL_BOARD_LONGEST_LINE", "400000000")
    dense = read(one)
    monkeypatch.setenv("RL_BOARD_LONGEST_LINE", "1000")
    assert dense[0] == read(one)[0] == [{}]
    assert "become 300,000,000 when they are unpacked" in dense[1][0]
    assert "is longer than 1,000 bytes" in read(one)[1][0]


def test_entries_that_lie_over_each_other_are_counted_each(tmp_path: Path) -> None:
    """Two hundred names of one entry, no sample, are not all unpacked."""
    with zipfile.ZipFile(tmp_path / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1.json", b" " * 2_000_000)
        archive.filelist *= 200
    problems = read(shard(tmp_path / "a.eval"))[1]
    assert (len(problems), "holds more than 200 times" in problems[-1]) == (129, True)


def test_deep_nesting_is_a_problem(tmp_path: Path) -> None:
    """Of the sample alone."""
    samples, problems = read(made(tmp_path / "a.eval", ("samples/1.json", "[" * 100_000), ("samples/2.json", "{}")))
    assert (samples, len(problems)) == ([{}], 1)


def test_damage_is_said(tmp_path: Path) -> None:
    """No zip, a cut one, a changed byte and a size that is not true are each a problem."""
    one = made(tmp_path / "a.eval", ("samples/1.json", '{"id": "abcdefgh"}'), packing=zipfile.ZIP_STORED)
    whole = one.path.read_bytes()
    entry = whole.index(b"PK\1\2")
    damaged = {
        "cannot be read as a zip archive": [b"x", whole[:40]],
        "is damaged": [
            whole.replace(b"abcdefgh", b"abcdefgx"),
            whole[: entry + 24] + struct.pack("<I", 5) + whole[entry + 28 :],
            whole[: entry + 24] + struct.pack("<I", 1 << 20) + whole[entry + 28 :],
        ],
        "cannot be unpacked": [whole[: entry + 10] + struct.pack("<H", 14) + whole[entry + 12 :]],
        "is not where the archive says": [whole[: entry + 42] + struct.pack("<I", 3) + whole[entry + 46 :]],
    }
    for reason, several in damaged.items():
        for data in several:
            one.path.write_bytes(data)
            samples, (problem,) = read(shard(one.path))
            assert (samples, reason in problem) == ([], True), problem
