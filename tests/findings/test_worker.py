"""The process that scans a run: what it answers, and that it ends once its reader is gone."""

import sys
from pathlib import Path

import pytest
from hacked import TURN, write_hacked
from rows import write_run

from board.analysis.texts import phrases, vocabulary
from board.errors import BoardError
from board.findings import messages, worker
from board.findings.background_scan import ScanOrder, scan
from board.findings.scan import find_all
from board.runs.cache import part_tables
from board.runs.opening import open_run


def order(folder: Path) -> ScanOrder:
    """A scan of a run, with the thresholds as they are declared."""
    return ScanOrder(folder, folder.parent)


def test_another_process_finds_what_this_one_does(tmp_path: Path) -> None:
    """The report comes whole through two pipes."""
    folder = write_hacked(tmp_path / "run")

    found = scan(order(folder), lambda share: True)

    assert found is not None
    assert messages.as_json(found, "run") == messages.as_json(find_all(open_run(folder)), "run")
    gap = next(one for one in found.findings if "proxy_gold_gap" in (one.kind, *(sign.kind for sign in one.signs)))
    assert abs(gap.first_step - TURN) <= 1


def test_a_run_that_cannot_be_kept_is_looked_through_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the cache cannot be written the process reads the run by itself."""
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("RL_BOARD_CACHE", str(tmp_path / "file" / "cache"))

    found = scan(order(write_hacked(tmp_path / "run")), lambda share: True)

    assert found is not None
    assert found.findings


def test_what_cannot_be_opened_is_said_in_a_line(tmp_path: Path) -> None:
    """A folder without shards."""
    with pytest.raises(BoardError, match=r"^[^\n]*run[^\n]*$"):
        scan(order(write_run(tmp_path / "run", {})), lambda share: True)


def test_thresholds_that_a_reader_set_are_used(tmp_path: Path) -> None:
    """A gap that no run reaches is not found, and the others stay as declared."""
    asked = ScanOrder(write_hacked(tmp_path / "run"), tmp_path, limits={"proxy_gold_gap": {"gap": 1e9}})

    found = scan(asked, lambda share: True)

    assert found is not None
    assert "proxy_gold_gap" not in {one.kind for finding in found.findings for one in (finding, *finding.signs)}


def test_it_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    """Whoever is told the share may say that nothing more is wanted."""
    assert scan(order(write_hacked(tmp_path / "run")), lambda share: False) is None


def test_one_that_ends_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken installation is an error in one line."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(BoardError, match="looks for findings gave no answer: it ended with exit status 1"):
        scan(order(tmp_path), lambda share: True)


def test_the_answer_names_why_there_is_none(tmp_path: Path) -> None:
    """A run that is gone is refused in the words of whoever opens it."""
    said = worker.answer(order(tmp_path / "gone").written(), lambda share: None)

    assert "gone" in said["refused"]


def test_words_finds_what_it_shows(tmp_path: Path) -> None:
    """Who opens the page Words after a scan waits for nothing: phrases and tokens of the run are cached."""
    folder = write_hacked(tmp_path / "run")

    scan(order(folder), lambda share: True)

    run = open_run(folder).trained
    assert {name for name in (vocabulary.TABLE, phrases.TABLE) if part_tables.is_cached(run.parts[0], name)} == {
        vocabulary.TABLE,
        phrases.TABLE,
    }
