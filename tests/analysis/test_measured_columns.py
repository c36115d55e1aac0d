"""Measures as columns of the frame: made once, never in the place of a trainer's own, named by `--where`, and shown once they are there."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from opened_pages import opened, texts
from rows import add_run, row, write_run

from board import open_run
from board.analysis.texts import measured_columns, text_health
from board.cli.main import main
from board.sql.condition import matching

ROWS = [
    row(0, response="a b c d e f g h i j", reward=1.0),
    row(0, response="no no no no no no no no no no no no no no no no no no no no", reward=2.0, script_mix=7.5),
    row(1, response="something else entirely", reward=3.0),
]


def test_columns_are_kept_and_named(tmp_path: Path) -> None:
    """Once they are made they are read, another load than the run's own; a column of the trainer's stays what it was."""
    run = open_run(write_run(tmp_path, {"a.jsonl": ROWS}))
    assert not measured_columns.are_cached(run)
    measured = measured_columns.with_measures(run)

    assert measured_columns.are_cached(open_run(tmp_path))
    assert measured.load_id != run.load_id
    assert measured.selection == run.selection == ""
    assert measured.frame["repeated_characters"].idxmax() == 1
    assert measured.frame["script_mix"].tolist()[1] == 7.5
    assert list(run.frame.columns) == list(measured.frame.columns[: len(run.frame.columns)])
    assert matching(measured, "repeated_characters > 0.5").tolist() == [False, True, False]


def test_declared_names() -> None:
    """What a measure means is known as what a loaded column means is; of a trainer's own column nothing is."""
    assert all(measured_columns.declared(one.name) == one for one in text_health.COLUMNS)
    assert measured_columns.declared("reward") is not None
    assert measured_columns.declared("accuracy_reward") is None
    assert measured_columns.is_measured("compression_ratio")
    assert [measured_columns.family(name) for name in ("compression_ratio", "kl_gini", "reward")] == ["text", "kl", None]
    assert not measured_columns.is_measured("kl_k3_peak_1")
    assert not measured_columns.is_measured("reward")


def test_where_may_name_a_measure(tmp_path: Path) -> None:
    """A command's condition may name a measure though nobody looked through the run before."""
    run = write_run(tmp_path / "run", {"a.jsonl": ROWS})
    done = CliRunner().invoke(main, ["export", "--where", "repeated_characters > 0.5", str(run), str(tmp_path / "x.csv")])

    assert done.exit_code == 0, done.output
    assert done.output.startswith("1 rollout")


def test_pages_have_them_once_they_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter by a measure is a condition that is wrong until the run was looked through, and one like any other after that."""
    folder = add_run(tmp_path, "run", ROWS)
    monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path))
    measured_columns.with_measures(open_run(folder))
    page = opened("responses", run="run", filter="repeated_characters > 0.5")

    assert not page.exception
    assert "1 rollout of step 0" in texts(page)
