"""board.sources.shards: which files are a run's shards, which bytes are their lines, and what is said of those that cannot be read."""

import gzip
import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import compressed, lines, row, write_run, write_shard

from board.errors import RunNotFound
from board.sources import shards
from board.sources.shards import BOM, Line, Problem, Shard

KINDS = ["data.jsonl", "data.jsonl.gz", "data.jsonl.zst"]


def only_shard(folder: Path) -> Shard:
    """The one shard of a folder."""
    (shard,) = shards.find_shards(folder)[0]
    return shard


def read(path: Path) -> tuple[list[Line], list[Problem]]:
    """Lines and problems of one file."""
    found = list(shards.read_lines(only_shard(path.parent)))
    return [one for one in found if isinstance(one, Line)], [one for one in found if isinstance(one, Problem)]


NATURAL = {
    "ranks": ["rank_1.jsonl", "rank_2.jsonl", "rank_10.jsonl"],
    "folders before names": ["step_2/rank_10.jsonl", "step_2/rank_11.jsonl", "step_10/rank_0.jsonl"],
    "dates": ["2026-01-02.jsonl", "2026-01-11.jsonl", "2026-10-01.jsonl"],
    "a name and its continuation": ["rank", "rank1", "rank10"],
    "leading zeros": ["r01", "r1", "r002", "r2", "r010"],
    "superscripts are not digits": ["a1²3", "a1²10", "a2"],
    "more digits than Python reads as a number": ["a1", "a" + "1" * 5000, "a" + "2" * 5000],
    "zero": ["r0", "r00", "r1"],
}


@pytest.mark.parametrize("names", NATURAL.values(), ids=NATURAL)
def test_names_are_ordered_as_people_count(names: list[str]) -> None:
    """Digits in a name count as a number, and names that count the same still have one order."""
    for order in itertools.permutations(names):
        assert sorted(order, key=shards.natural_key) == names


@given(st.lists(st.text("ab_/019٣²", max_size=6), max_size=6, unique=True))
def test_no_two_names_share_a_place(names: list[str]) -> None:
    """Whatever the names, their order does not depend on the order they come in."""
    assert len({shards.natural_key(name) for name in names}) == len(names)


def test_shards_at_any_depth_in_natural_order_whatever_order_they_were_written_in(tmp_path: Path) -> None:
    """All three suffixes count, names are relative to the run with `/`, and the directory's own order does not matter."""
    names = ["a.jsonl", "rank_2.jsonl.gz", "rank_10.jsonl.zst", "step_2/deep/er/x.jsonl", "step_10/x.jsonl"]
    for order in (names, names[::-1]):
        folder = tmp_path / str(order is names)
        write_run(folder, {name: [row()] for name in order})

        found, problems = shards.find_shards(folder)

        assert [shard.name for shard in found] == names
        assert [shard.path for shard in found] == [folder / name for name in names]
        assert [shard.size for shard in found] == [(folder / name).stat().st_size for name in names]
        assert problems == []


IGNORED = {
    "hidden file": ".hidden.jsonl",
    "file in a hidden folder": ".cache/data.jsonl",
    "temporary name": "data.jsonl.tmp",
    "other kind": "notes.txt",
    "plain json": "data.json",
    "suffix alone, which is a hidden file": ".jsonl",
    "upper case": "DATA.JSONL",
}


@pytest.mark.parametrize("name", IGNORED.values(), ids=IGNORED)
def test_what_is_no_shard_is_ignored(tmp_path: Path, name: str) -> None:
    """Only visible files with one of the suffixes are shards; anything else is nobody's problem."""
    write_run(tmp_path, {"good.jsonl": [row()], name: [row()]})

    found, problems = shards.find_shards(tmp_path)

    assert ([shard.name for shard in found], problems) == (["good.jsonl"], [])


def test_directory_named_like_a_shard_is_looked_into(tmp_path: Path) -> None:
    """A folder called x.jsonl is a folder: no shard itself, but shards inside it count."""
    write_run(tmp_path, {"x.jsonl/data.jsonl": [row()]})

    assert [shard.name for shard in shards.find_shards(tmp_path)[0]] == ["x.jsonl/data.jsonl"]


def test_missing_folder_is_said(tmp_path: Path) -> None:
    """A folder that is not there, or is a file, is one sentence for the screen."""
    (tmp_path / "file").write_text("")

    for name, says in (("missing", "No folder 'missing' here"), ("file", "'file' is a file: name the folder that holds it")):
        with pytest.raises(RunNotFound, match=says):
            shards.find_shards(tmp_path / name)


LINKS = {
    "dangling": ("missing.jsonl", "cannot be read: No such file or directory"),
    "dangling, outside": ("../missing.jsonl", "link to a file outside the root"),
    "to a file outside": ("../outside.jsonl", "link to a file outside the root"),
    "absolute": ("/etc/hostname", "link to a file outside the root"),
    "to itself": ("link.jsonl", "cannot be read: "),
    "to a link that leads out": ("hop", "link to a file outside the root"),
}


@pytest.mark.parametrize(("target", "reason"), LINKS.values(), ids=LINKS)
def test_links_that_are_not_followed_are_reported(tmp_path: Path, target: str, reason: str) -> None:
    """A link that leads nowhere, to itself or out of the root is a refused shard; the others load."""
    write_shard(tmp_path / "outside.jsonl", [row()])
    run = write_run(tmp_path / "run", {"good.jsonl": [row()]})
    (run / "hop").symlink_to("../outside.jsonl")
    (run / "link.jsonl").symlink_to(target)

    found, problems = shards.find_shards(run)

    assert [shard.name for shard in found] == ["good.jsonl"]
    assert [(problem.shard, problem.line, problem.severity) for problem in problems] == [("link.jsonl", None, "refused")]
    assert reason in problems[0].reason


def test_links_within_the_root_are_read(tmp_path: Path) -> None:
    """A link to another file under the root is a shard like any other; without a root only the run itself counts."""
    write_shard(tmp_path / "other/data.jsonl", [row(reward=7.0)])
    run = write_run(tmp_path / "run", {})
    (run / "link.jsonl").symlink_to("../other/data.jsonl")

    found, problems = shards.find_shards(run, within=tmp_path)

    assert ([shard.name for shard in found], problems) == (["link.jsonl"], [])
    assert b"7.0" in next(one.data for one in shards.read_lines(found[0]) if isinstance(one, Line))
    assert shards.find_shards(run)[0] == []


def test_linked_folders_are_not_entered(tmp_path: Path) -> None:
    """A link to a folder may lead anywhere, in circles too."""
    run = write_run(tmp_path / "run", {"good.jsonl": [row()]})
    write_shard(tmp_path / "other/data.jsonl", [row()])
    (run / "other").symlink_to("../other")
    (run / "circle").symlink_to(".")

    assert [shard.name for shard in shards.find_shards(run, within=tmp_path)[0]] == ["good.jsonl"]


def test_pipe_is_reported_and_never_opened(tmp_path: Path) -> None:
    """Reading a pipe would wait for ever."""
    write_shard(tmp_path / "good.jsonl", [row()])
    os.mkfifo(tmp_path / "pipe.jsonl")

    found, problems = shards.find_shards(tmp_path)

    assert [shard.name for shard in found] == ["good.jsonl"]
    assert [str(problem) for problem in problems] == ["pipe.jsonl: cannot be read: it is a pipe or a device, not a file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_reported(tmp_path: Path) -> None:
    """A shard or a folder without permission is one refused problem; the others load."""
    write_run(tmp_path, {"good.jsonl": [row()], "bad.jsonl": [row()], "locked/data.jsonl": [row()]})
    (tmp_path / "bad.jsonl").chmod(0)
    (tmp_path / "locked").chmod(0)

    found, problems = shards.find_shards(tmp_path)
    reasons = [str(one) for shard in found for one in shards.read_lines(shard) if isinstance(one, Problem)]
    (tmp_path / "locked").chmod(0o700)

    assert [str(problem) for problem in problems] == ["locked: cannot be read: Permission denied"]
    assert reasons == ["bad.jsonl: cannot be read further: Permission denied"]


def test_shard_that_vanished_is_reported(tmp_path: Path) -> None:
    """A file removed between looking and reading is a problem of that shard."""
    path = write_shard(tmp_path / "data.jsonl", [row()])
    shard = only_shard(tmp_path)
    path.unlink()

    assert [str(one) for one in shards.read_lines(shard)] == ["data.jsonl: cannot be read further: No such file or directory"]


def test_fingerprint_tells_growth_new_shards_and_rewriting(tmp_path: Path) -> None:
    """It stays while nothing changes and differs after each kind of change."""

    def now() -> shards.Fingerprint:
        return shards.fingerprint(shards.find_shards(tmp_path)[0])

    path = write_shard(tmp_path / "a.jsonl", [row()])
    seen = [now()]
    assert now() == seen[0]
    with path.open("ab") as file:
        file.write(lines([row(1)]))
    seen.append(now())
    write_shard(tmp_path / "b.jsonl", [row()])
    seen.append(now())
    path.write_bytes(b"x" * path.stat().st_size)
    os.utime(path, ns=(1, 1))
    seen.append(now())

    assert len(set(seen)) == 4


LINE_CASES: dict[str, tuple[bytes, list[tuple[int, int, bytes, bool]]]] = {
    "plain": (b"a\nbc\n", [(1, 0, b"a", True), (2, 2, b"bc", True)]),
    "no line end at the end": (b"a\nbc", [(1, 0, b"a", True), (2, 2, b"bc", False)]),
    "carriage returns": (b"a\r\nbc\r\n", [(1, 0, b"a", True), (2, 3, b"bc", True)]),
    "cut between carriage return and line feed": (b"a\r\nbc\r", [(1, 0, b"a", True), (2, 3, b"bc", False)]),
    "byte order mark": (BOM + b"a\nb\n", [(1, 3, b"a", True), (2, 5, b"b", True)]),
    "byte order mark and carriage returns": (BOM + b"a\r\nb\r\n", [(1, 3, b"a", True), (2, 6, b"b", True)]),
    "byte order mark alone": (BOM, []),
    "byte order mark on a line of its own": (BOM + b"\nb\n", [(2, 4, b"b", True)]),
    "byte order mark later is data": (b"a\n" + BOM + b"\n", [(1, 0, b"a", True), (2, 2, BOM, True)]),
    "blank lines": (b"\n  \na\n\r\n\t\nb\n", [(3, 4, b"a", True), (6, 10, b"b", True)]),
    "empty": (b"", []),
    "only blank": (b"\n\n \n", []),
    "cut within a character": ("a\n威".encode()[:-1], [(1, 0, b"a", True), (2, 2, b"\xe5\xa8", False)]),
    "spaces are kept": (b" a \n", [(1, 0, b" a ", True)]),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("data", "expected"), LINE_CASES.values(), ids=LINE_CASES)
def test_lines_have_number_offset_bytes_and_end(
    tmp_path: Path, data: bytes, expected: list[tuple[int, int, bytes, bool]], name: str
) -> None:
    """The same whatever the compression: 1-based number, offset in the decompressed bytes, no line end, no blank lines."""
    path = tmp_path / name
    path.write_bytes(compressed(data, name))

    found, problems = read(path)

    assert [(line.number, line.offset, line.data, line.whole) for line in found] == expected
    assert problems == []
    shard = only_shard(tmp_path)
    assert [shards.read_raw(shard, line.number, line.offset) for line in found] == [line.data for line in found]


@given(st.lists(st.binary(max_size=8), max_size=8), st.booleans(), st.sampled_from([b"\n", b"\r\n"]))
def test_offsets_point_at_the_data(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], bom: bool, end: bytes) -> None:
    """Whatever the bytes, the shard holds a line's data at its offset, and every line that is not blank is there."""
    data = (BOM if bom else b"") + b"".join(piece.replace(b"\n", b"") + end for piece in pieces)
    path = tmp_path_factory.mktemp("run") / "data.jsonl"
    path.write_bytes(data)

    found, _ = read(path)

    assert all(data[line.offset :].startswith(line.data) for line in found)
    wanted = [line for number, line in enumerate(data.split(b"\n")) if line.strip() and (number or line.strip() != BOM)]
    assert len(found) == len(wanted)


def incompressible(rows: int) -> bytes:
    """Rows that stay as long when compressed, so that a stream cut in its middle has whole blocks before the cut."""
    return lines(row(step, prompt=os.urandom(150).hex()) for step in range(rows))


@pytest.mark.parametrize("name", KINDS[1:])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_rows_before_a_cut_are_kept_and_the_cut_is_said(tmp_path: Path, name: str, share: float) -> None:
    """A compressed stream that ends early gives every whole line before the cut, then one flagged problem."""
    data = incompressible(2_000)
    stream = compressed(data, name)
    path = tmp_path / name
    path.write_bytes(stream[: int(len(stream) * share)])

    found, problems = read(path)

    assert [line.data for line in found] == data.splitlines()[: len(found)]
    assert len(found) > 2_000 * share - 1_024  # a zstd block holds 128 KiB, some 400 rows
    assert all(json.loads(line.data) for line in found)
    assert [(problem.line, problem.severity) for problem in problems] == [(len(found), "flagged")]
    assert "ends early: cut off, or still being written" in problems[0].reason


DAMAGED = {
    "gzip in name only": ("data.jsonl.gz", b'{"step": 0}\n', "Not a gzipped file"),
    "zstd in name only": ("data.jsonl.zst", b'{"step": 0}\n', "ZSTD decompress failed"),
    "checksum wrong": ("data.jsonl.gz", gzip.compress(b"a\n", mtime=0)[:-8] + b"\0" * 8, "CRC check failed"),
    "deflate wrong": ("data.jsonl.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20, "Error -3"),
}


@pytest.mark.parametrize(("name", "data", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_streams_end_in_one_problem(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    """What cannot be decompressed is refused with the reason."""
    path = tmp_path / name
    path.write_bytes(data)

    _, problems = read(path)

    assert [problem.severity for problem in problems] == ["refused"]
    assert problems[0].reason.startswith("cannot be read further: ")
    assert reason in problems[0].reason


@pytest.mark.parametrize("name", KINDS[1:])
def test_streams_appended_to_streams_are_read_through(tmp_path: Path, name: str) -> None:
    """A job that opens its compressed shard again appends a second stream."""
    path = tmp_path / name
    path.write_bytes(compressed(b"a\n", name) + compressed(b"b\n", name))

    found, problems = read(path)

    assert ([(line.number, line.offset, line.data) for line in found], problems) == ([(1, 0, b"a"), (2, 2, b"b")], [])


@pytest.mark.parametrize("name", KINDS[1:])
def test_empty_compressed_file_has_no_lines(tmp_path: Path, name: str) -> None:
    """A file of no bytes is a stream that has not begun."""
    (tmp_path / name).write_bytes(b"")

    assert read(tmp_path / name) == ([], [])


@pytest.mark.parametrize("name", KINDS)
def test_reading_tells_how_far_it_is_in_the_file(tmp_path: Path, name: str) -> None:
    """Bytes of the file itself, never more than it has, never going back."""
    path = write_shard(tmp_path / name, incompressible(600))
    seen: list[int] = []

    list(shards.read_lines(only_shard(tmp_path), seen.append))

    assert seen == sorted(seen)
    assert seen
    assert 0 < seen[-1] <= path.stat().st_size


@pytest.mark.parametrize("name", KINDS)
def test_raw_line_is_what_was_read_even_after_the_shard_grew(tmp_path: Path, name: str) -> None:
    """Appending moves no line."""
    rows: list[Any] = [row(), row(1, text="威 é\U0001f600"), row(2)]
    path = write_shard(tmp_path / name, rows)
    shard = only_shard(tmp_path)
    found = [one for one in shards.read_lines(shard) if isinstance(one, Line)]
    path.write_bytes(path.read_bytes() + compressed(lines([row(3)]), name))

    assert [json.loads(shards.read_raw(shard, line.number, line.offset)) for line in found] == rows


REWRITTEN = {
    "shorter": b"a\n",
    "gone blank": b"x\n\n\n\n\n\n\n\n\n\n",
    "other line ends": b"x" * 100 + b"\n",
    "empty": b"",
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("data", REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten_shard_is_said_rather_than_another_line_shown(tmp_path: Path, data: bytes, name: str) -> None:
    """Where there is no line any more, or the old place is in the middle of another, the reader is told."""
    path = tmp_path / name
    path.write_bytes(compressed(b"ab\ncd\n", name))
    shard = only_shard(tmp_path)
    path.write_bytes(compressed(data, name))

    with pytest.raises(RunNotFound, match=r"has no line 2 any more: it was rewritten"):
        shards.read_raw(shard, 2, 3)


def test_raw_line_of_a_vanished_shard_is_said(tmp_path: Path) -> None:
    """The message names the shard and why."""
    path = write_shard(tmp_path / "data.jsonl", [row()])
    shard = only_shard(tmp_path)
    path.unlink()

    with pytest.raises(RunNotFound, match=r"data\.jsonl cannot be read any more: No such file"):
        shards.read_raw(shard, 1, 0)


def test_folder_without_shards_says_what_was_looked_for(tmp_path: Path) -> None:
    """The kinds, and what is there instead: at most eight names, hidden ones left out."""
    said = str(shards.no_shards(tmp_path))
    assert (
        "looked for *.jsonl, *.jsonl.gz, *.jsonl.zst, *.jsonl.xz, *.jsonl.bz2, *.parquet, *.arrow, *.feather, *.csv, *.json with"
        in said
    )
    assert said.endswith("at any depth. It is empty.")
    for number in range(12):
        (tmp_path / f"note{number:02}.txt").write_text("")
    (tmp_path / ".hidden").write_text("")

    text = str(shards.no_shards(tmp_path))

    assert "It holds note00.txt" in text
    assert "note07.txt" in text
    assert "note08" not in text
    assert "hidden" not in text


PROBLEMS = {
    "a line": (Problem("a.jsonl", 3, "is odd", "flagged"), "a.jsonl:3: is odd"),
    "a shard": (Problem("a.jsonl", None, "is gone", "refused"), "a.jsonl: is gone"),
}


@pytest.mark.parametrize(("problem", "text"), PROBLEMS.values(), ids=PROBLEMS)
def test_problems_read_as_place_and_reason(problem: Problem, text: str) -> None:
    """`shard:line: reason`, without a line where the whole shard is meant."""
    assert str(problem) == text
