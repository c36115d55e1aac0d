"""Tests of the command `index`: what it prints, its JSON, and its exit status."""

import json
from pathlib import Path

from click.testing import CliRunner, Result
from rows import row, write_run

from board.cli.main import main


def index(*arguments: str | Path) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, ["index", *map(str, arguments)])


def test_makes_an_index_and_says_what_it_did(tmp_path: Path) -> None:
    """In words, and for scripts; the second run keeps what is there."""
    run = write_run(tmp_path / "run", {"rank_0.jsonl": [row(step) for step in range(3)]})

    first = index(run, "--out", tmp_path / "index")
    second = index(run, "--out", tmp_path / "index", "--json")

    assert first.exit_code == second.exit_code == 0
    assert "3 rollouts of 1 shard" in first.stdout
    said = json.loads(second.stdout)
    assert (said["version"], said["complete"], said["rollouts"]) == (2, True, 3)
    assert (said["parsed"], said["kept"], said["mended"]) == (0, 1, 0)


def test_bad_lines_are_faults(tmp_path: Path) -> None:
    """The index is whole, and the exit status says that lines were refused."""
    run = write_run(tmp_path / "run", {"rank_0.jsonl": [row(), b"{no"]})
    ended = index(run, "--out", tmp_path / "index")
    assert (ended.exit_code, "1 bad line" in ended.stdout) == (1, True)


def test_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    """No run, a folder with other files, options of the other engine: exit status 2, and a sentence."""
    run = write_run(tmp_path / "run", {"rank_0.jsonl": [row()]})
    for arguments, said in (
        ((tmp_path / "nowhere", "--out", tmp_path / "index"), "No folder"),
        (("ftp://host/run", "--out", tmp_path / "index"), "none the board reads"),
        ((run, "--out", "s3://me:secret@bucket/index"), "holds a name or password"),
        ((run, "--out", run), "within the run"),
        ((run, "--out", tmp_path / "index", "--address", "auto"), "--engine ray"),
        ((run, "--out", tmp_path / "index", "--engine", "ray", "--workers", "2"), "--engine local"),
    ):
        ended = index(*arguments)
        assert ended.exit_code == 2, ended.output
        assert said in ended.output
    assert not (tmp_path / "index").exists()
