"""Tests of finding a run's shards: which files, in what order, and what is said of those that are none."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from found_shards import only_shard
from rows import lines, row, write_run, write_shard

from board.errors import RunNotFound
from board.sources import candidates, index_file, shards
from board.sources.shards import Line, Problem


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
    "other kind": "notes.txt",
    "plain json of settings": "config.json",
    "suffix alone, which is a hidden file": ".jsonl",
    "upper case": "DATA.JSONL",
}


@pytest.mark.parametrize("name", IGNORED.values(), ids=IGNORED)
def test_what_is_no_shard_is_ignored(tmp_path: Path, name: str) -> None:
    """Only visible files with one of the suffixes are shards; anything else is nobody's problem."""
    write_run(tmp_path, {"good.jsonl": [row()], name: [row()]})

    found, problems = shards.find_shards(tmp_path)

    assert ([shard.name for shard in found], problems) == (["good.jsonl"], [])


ONE_OBJECT: dict[str, tuple[dict[str, str], set[str], set[str]]] = {
    "small and large": (
        {"a.json": '{"x": 1, "m": 2}', "b.json": '{"x": 1, "m": "' + "y" * 5_000 + '"}'},
        {"a.json", "b.json"},
        set(),
    ),
    "over many lines": (
        {"a.json": '{\n "x": 1\n}', "b.json": '{"x": 1, "m": "' + "y" * 5_000 + '"}'},
        {"a.json", "b.json"},
        set(),
    ),
    "by a key of rollouts": ({"a.json": '{"id": 1, "messages": []}'}, {"a.json"}, set()),
    "by a chat": ({"a.json": '{\n "id": 1,\n "said": [\n {"role": "user"}]}'}, {"a.json"}, set()),
    "a mapping beside it": ({"a.json": '{"id": 1}', "rollouts.toml": 'response = "x"'}, {"a.json"}, set()),
    "an empty mapping": ({"a.json": '{"id": 1}', "rollouts.toml": ""}, set(), {"a.json"}),
    "neither": ({"a.json": '{"id": 1}'}, set(), {"a.json"}),
    "key of a schema": ({"a.json": '{"features": {"response": {"dtype": "string"}}}'}, set(), {"a.json"}),
    "settings, even where a mapping is": (
        {"config.json": '{"x": 1}', "trainer_state.json": "{}", "rollouts.toml": 'response = "x"'},
        set(),
        set(),
    ),
    "half-written": (
        {
            "a.jsonl": "{}",
            "b.jsonl.tmp": "{}",
            "c.parquet.part": "",
            "d.json.tmp12": '[{"x"',
            "notes.tmp": "",
            "config.json.tmp": "[{",
        },
        {"a.jsonl"},
        {"b.jsonl.tmp", "c.parquet.part", "d.json.tmp12"},
    ),
}


@pytest.mark.parametrize(("files", "taken", "named"), ONE_OBJECT.values(), ids=ONE_OBJECT)
def test_a_file_of_one_object(tmp_path: Path, files: dict[str, str], taken: set[str], named: set[str]) -> None:
    """Whether it is a shard depends on its keys, on those beside it and on a mapping, not on its size or lines; else it is named."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    found, problems = shards.find_shards(tmp_path)

    assert {shard.name for shard in found} == taken
    assert {problem.shard for problem in problems if problem.severity == "skipped"} == named


def test_a_mapping_one_folder_above_counts(tmp_path: Path) -> None:
    """It has files of one object read, as one beside them has, and where the run itself is served, too."""
    (tmp_path / "rollouts.toml").write_text('response = "x"')
    (tmp_path / "run").mkdir()
    (tmp_path / "run/a.json").write_text('{"id": 1}')

    for within in (None, tmp_path, tmp_path / "run"):
        assert [one.name for one in shards.find_shards(tmp_path / "run", within)[0]] == ["a.json"]


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


@pytest.mark.parametrize("where", ["", "below"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["a pipe", "a folder"])
def test_only_a_file_makes_a_folder_an_index(make: Callable[[Path], None], where: str, tmp_path: Path) -> None:
    """What is called as an index's file is, and is none, hides no shard beside it."""
    write_shard(tmp_path / where / "good.jsonl", [row()])
    make(tmp_path / where / index_file.NAME)

    found, problems = shards.find_shards(tmp_path)

    assert [shard.path.name for shard in found] == ["good.jsonl"]
    assert problems == []


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


def test_folder_without_shards_says_what_was_looked_for(tmp_path: Path) -> None:
    """The kinds, and what is there instead: at most eight names, hidden ones left out."""
    said = str(candidates.no_shards(tmp_path))
    assert (
        "looked for *.jsonl, *.jsonl.gz, *.jsonl.zst, *.jsonl.xz, *.jsonl.bz2, *.parquet, *.arrow, *.feather, *.csv, *.eval, *.json with"
        in said
    )
    assert said.endswith("at any depth. It is empty.")
    for number in range(12):
        (tmp_path / f"note{number:02}.txt").write_text('{"a": 1}')
    (tmp_path / ".hidden").write_text("")

    text = str(candidates.no_shards(tmp_path))

    assert all(one in text for one in ("It holds note00.txt", "note07.txt", "note00.txt looks like JSON: with .json at the end"))
    assert not any(one in text for one in ("note08", "hidden"))
