"""Tests of opening an index: it is found and listed as a run is, and no index leads out of its root or ends the board."""

import copy
import os
import shutil
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from damages import damaged
from indexed import indexed
from rows import row, token_row, write_run

from board import open_run
from board.errors import BoardError, RunNotFound
from board.runs.library import current_fingerprint, list_runs
from board.runs.summaries import run_summary
from board.sources import index_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a run and its index, beside a file that no reader may see."""
    write_run(tmp_path / "root" / "run", {"rank_0.jsonl": [token_row(step) for step in range(3)]})
    indexed(tmp_path / "root" / "run", tmp_path / "root" / "index")
    (tmp_path / "secret.jsonl").write_text('{"step": 0, "response": "classified"}\n')
    return tmp_path / "root"


def test_is_listed_as_a_run(root: Path) -> None:
    """Among others and as the root itself, with the shards it was made of; its parts are no shards of anybody."""
    run, index = sorted(list_runs(root), key=lambda one: one.name, reverse=True)
    assert (run.name, index.name) == ("run", "index")
    assert (index.shards, index.bytes) == (run.shards, run.bytes)
    assert [one.name for one in list_runs(root / "index")] == ["."]
    with pytest.raises(RunNotFound):
        open_run(root / "index" / index_file.ROWS / "nothing")


def test_raw_record_where_the_run_lies_under_the_same_root(root: Path) -> None:
    """The shard is read where it may be; an index alone has no raw records."""
    assert '"step": 0' in open_run(root / "index", within=root).raw(0)
    with pytest.raises(RunNotFound, match="outside the root"):
        open_run(root / "index").raw(0)


def test_renewed_index_is_another(root: Path) -> None:
    """A board that follows an index sees that it was brought up to date."""
    before = open_run(root / "index").fingerprint
    assert current_fingerprint(root / "index", root) == before
    with (root / "run" / "rank_0.jsonl").open("a") as shard:
        shard.write('{"step": 3, "response": "new"}\n')
    assert current_fingerprint(root / "index", root) == before
    indexed(root / "run", root / "index")
    assert current_fingerprint(root / "index", root) != before


def test_summary(root: Path) -> None:
    """The list of runs says of an index what it says of its run."""
    assert run_summary.summarise(root / "index", root) == run_summary.summarise(root / "run", root)


def test_other_choices_are_told(root: Path) -> None:
    """What counts as padding was decided when the index was made."""
    assert open_run(root / "index").report.noted == []
    assert "other choices of padding" in open_run(root / "index", extra_pads=["b"]).report.noted[0]


def said_anew(index: Path, told: dict[str, Any]) -> None:
    """Have the file of an index say something else."""
    (index / index_file.NAME).write_bytes(index_file.written(told))


def test_leads_nowhere_else(root: Path, tmp_path: Path) -> None:
    """Neither a location nor a shard's name nor a file's leads out of the root."""
    told = copy.deepcopy(index_file.read(root / "index"))
    told.pop("layout")
    for location, name in (("/", "etc/passwd"), (str(root / "run"), "../../secret.jsonl"), (str(tmp_path), "secret.jsonl")):
        said = copy.deepcopy(told) | {"location": location}
        said["shards"][0]["name"] = name
        said["sources"] = {name: said["sources"]["rank_0.jsonl"]}
        said_anew(root / "index", said)
        with pytest.raises(RunNotFound) as refused:  # its rows are of another shard
            open_run(root / "index", within=root)
        assert "classified" not in str(refused.value)
    said_anew(root / "index", copy.deepcopy(told) | {"location": str(tmp_path / "secret.jsonl" / "..")})
    with pytest.raises(RunNotFound):
        open_run(root / "index", within=root).raw(0)
    rows = told["sources"]["rank_0.jsonl"]["files"][0]["name"]
    (root / "index" / index_file.ROWS / rows).rename(tmp_path / rows)
    for name in (f"../../../{rows}", str(tmp_path / rows)):
        said = copy.deepcopy(told)
        said["sources"]["rank_0.jsonl"]["files"][0]["name"] = name
        said_anew(root / "index", said)
        with pytest.raises(RunNotFound, match="does not say what an index says"):
            open_run(root / "index")
    for said in (told | {"measures": {"../../escaped": ["words"]}}, copy.deepcopy(told)):
        said["sources"]["rank_0.jsonl"]["number"] = 2**40
        said_anew(root / "index", said)
        with pytest.raises(RunNotFound, match="does not say what an index says"):
            open_run(root / "index")
    told["sources"]["rank_0.jsonl"]["number"] = 0
    said_anew(root / "index", told)
    shutil.rmtree(os.environ["RL_BOARD_CACHE"])  # what was read before is kept there
    (root / "index" / index_file.ROWS / rows).symlink_to(tmp_path / rows)
    with pytest.raises(RunNotFound, match="outside the root"):
        open_run(root / "index")


def test_any_damage_is_a_sentence(root: Path) -> None:
    """Whatever stands in the file of an index, it opens, or a sentence says why not."""
    told = copy.deepcopy(index_file.read(root / "index"))
    told.pop("layout")
    for said in islice(damaged(told), 0, None, 4):
        said_anew(root / "index", said)
        with suppress(BoardError):
            open_run(root / "index", within=root)


def test_an_index_that_is_not_finished_says_so(root: Path) -> None:
    """It is listed, and opened with a sentence."""
    (root / "index" / index_file.NAME).rename(root / "index" / index_file.UNFINISHED)
    with pytest.raises(RunNotFound, match="is not finished, or its file is gone: run `rl-logging-board index` again"):
        open_run(root / "index")
    assert "run" in [one.name for one in list_runs(root)]


def test_an_index_within_a_run_is_no_part_of_it(root: Path) -> None:
    """Parts are no shards: a folder around an index does not take them for its own."""
    write_run(root / "outer", {"rank_0.jsonl": [row()]})
    (root / "index").rename(root / "outer" / "index")
    assert len(open_run(root / "outer").frame) == 1
