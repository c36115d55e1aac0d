"""Tests of runs that are larger than what is opened at once: a sample from all over them, or a sentence with the command that indexes them."""

import json
import shlex
from pathlib import Path

import pytest
from rows import token_row, write_run

from board import open_run
from board.errors import ArgumentRefused
from board.runs import opening
from board.runs.library import Library
from board.runs.progress import Reading
from board.runs.run import Run

FILES, EACH, MOST = 12, 20, 50


def write(run: Path, first: int, stop: int, ending: str = ".jsonl") -> Path:
    """Files of twenty rollouts, four a step."""
    rows = [json.dumps(token_row(at // 4, prompt=f"p{at % 9}", reward=at / 8)).encode() for at in range(stop * EACH)]
    return write_run(run, {f"step_{at:02}{ending}": rows[EACH * at : EACH * (at + 1)] for at in range(first, stop)})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve files, of whose rollouts fifty are opened at once."""
    monkeypatch.setenv(opening.SETTING, str(MOST))
    return write(tmp_path / "a run", 0, FILES)


def seen(folder: Path, library: Library) -> Run:
    """The run as pages have it, once its load has ended."""
    library.open(folder, folder.parent)
    if load := library.load(folder):
        load.wait()
    return library.open(folder, folder.parent)


def sample(folder: Path, library: Library) -> tuple[Run, Reading]:
    """The same, and what it says of itself."""
    found = seen(folder, library)
    assert library.load(folder) is None
    assert found.reading is not None
    return found, found.reading


def test_a_sample_is_spread_over_the_run_and_stays(run: Path) -> None:
    """Not one rollout more than may be opened, from most files; another board opens the very same, and reads no more."""
    (found, said), (again, said_again) = sample(run, Library()), sample(run, Library())

    assert MOST - 2 <= len(found.frame) <= MOST
    assert found.frame["shard"].nunique() > FILES / 2
    assert said.words() == f"A sample of this run: {len(found.frame)} of about 240 rollouts"
    assert shlex.split(said.command) == ["rl-logging-board", "index", str(run), "--out", "DEST"]
    assert said_again.progress.rows == said.progress.rows
    assert again.sources(again.frame.index.to_numpy()) == found.sources(found.frame.index.to_numpy())


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize("most", [2 * EACH + 5, FILES * EACH - 1])
def test_what_is_cached_whole_is_a_sample_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, ending: str) -> None:
    """`export` and `push` read all of it, in whole files, as those are read that cannot be cut; a page takes some of them."""
    run = write(tmp_path / "run", 0, FILES, ending)
    monkeypatch.setenv(opening.SETTING, str(most))
    assert len(open_run(run, whole=True).frame) == FILES * EACH

    found, said = sample(run, Library())

    assert (len(found.frame), found.frame["shard"].nunique()) == (most // EACH * EACH, most // EACH)
    assert 200 < said.rows_expected < 280


def test_scripts_are_refused_with_the_command(run: Path) -> None:
    """No number of a sample is given out as one of the run, the second time neither, when it is cached."""
    for _ in range(2):
        with pytest.raises(ArgumentRefused, match=r"a run has about 240 rollouts.*_ROLLOUTS: 50.*index '.*' --out DEST"):
            open_run(run)


def test_a_run_that_grows_becomes_a_sample(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Just as many as may be opened are opened whole; once there are more, a sample has of the new ones and of the old."""
    monkeypatch.setenv(opening.SETTING, str(FILES * EACH))
    library = Library()
    whole = seen(run, library)
    assert (len(whole.frame), whole.reading) == (FILES * EACH, None)

    write(run, FILES, 2 * FILES)
    library.refresh(whole, run.parent)
    grown, _ = sample(run, library)

    assert FILES * EACH - EACH <= len(grown.frame) <= FILES * EACH
    assert 0 < (grown.frame["step"] <= whole.steps[-1]).mean() < 1


@pytest.mark.parametrize("nonsense", ["0", "-5", "many", "1.5", ""])
def test_a_setting_that_is_no_number_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch, nonsense: str) -> None:
    """With a sentence that names it."""
    monkeypatch.setenv(opening.SETTING, nonsense)
    with pytest.raises(ArgumentRefused, match="RL_BOARD_OPEN_ROLLOUTS is a whole number of rollouts above 0"):
        open_run(run)
    monkeypatch.setenv(opening.SETTING, "9" * 5_000)
    assert open_run(run).reading is None
