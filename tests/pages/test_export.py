"""Export in the top line: what is asked for, how large it will be, and how far it is. What is written has tests of its own."""

import time
from pathlib import Path

import pytest
from opened_pages import GOOD, opened, texts
from rows import add_run
from streamlit.testing.v1 import AppTest

from board.runs.export import ExportPiece
from board.serving.exports import EXPORTS, MOST_AT_ONCE, Export
from board.ui.export_panel import progress_words


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """The board's own server, with nothing asked for."""
    for name, value in {"served": True, "_out": {}, "_running": []}.items():
        monkeypatch.setattr(EXPORTS, name, value)


def opened_choices(**place: str | int) -> AppTest:
    """A page with the choices of Export open."""
    test = opened("steps", **place)
    test.session_state["export_choices"] = True
    return test.run()


def asked_for(test: AppTest) -> Export:
    """What was asked for last."""
    export: Export = test.session_state["_remembered"]["export"]
    return export


def test_what_the_filter_leaves_is_asked_for(root: Path, served: None) -> None:
    """The file is of the filtered rollouts with what was chosen; the page says how far it is while it is sent, and what was sent."""
    add_run(root, "run", GOOD)
    test = opened_choices(filter="reward > 2")
    assert "6 rollouts, about" in texts(test)
    assert "begins with =" in texts(test)

    test.radio(key="export_format").set_value("jsonl")
    test.toggle(key="export_arrays").set_value(True)
    test.run()
    test.button(key="export_ask").click().run()

    assert not test.exception
    export = asked_for(test)
    assert (export.name, export.rows, export.state) == ("run-6-rollouts.jsonl", 6, "asked for")
    assert "Starting the download" in texts(test)
    assert "begins with =" not in texts(test)
    (ticket,) = EXPORTS._out
    assert any(f'"export/{ticket}"' in one.proto.json for one in test.get("bidi_component"))
    assert not any(f'"export/{ticket}"' in one.proto.json for one in test.run().get("bidi_component"))

    assert EXPORTS.begin(ticket) is export
    (piece,) = export.pieces()
    assert piece.data.count(b'"logprobs":[') == 6
    export.sent(piece)
    assert "6 of 6 rollouts" in texts(test.run())
    EXPORTS.end(export, "done")
    assert f"Sent: 6 rollouts, {len(piece.data) / 1000:.3g} kB." in texts(test.run())


def test_too_many_and_failed(root: Path, served: None) -> None:
    """While others are sent the reader is told to wait; what failed says why, in words alone."""
    add_run(root, "run", GOOD)
    test = opened_choices()
    busy = [Export("a", "", 1, lambda: iter(())) for _ in range(MOST_AT_ONCE)]
    for one in busy:
        EXPORTS.begin(EXPORTS.ask(one))

    test.button(key="export_ask").click().run()
    assert "wait until one is done" in texts(test)
    for one in busy:
        EXPORTS.end(one, "done")
    test.button(key="export_ask").click().run()
    assert "wait until one is done" not in texts(test)
    assert asked_for(test).name == "run.csv"
    EXPORTS.end(asked_for(test), "failed", "the disk is full")
    assert "Export failed: the disk is full" in texts(test.run())


def test_another_server_names_the_command(root: Path) -> None:
    """Under plain Streamlit there is no address for files: the command is named."""
    add_run(root, "run", GOOD)
    assert "rl-logging-board export" in texts(opened_choices())


def test_words_of_progress() -> None:
    """Rows of how many, and how long the rest takes once that is known."""
    export = Export("a.csv", "", 100_000, lambda: iter(()))
    assert progress_words(export) == "Starting the download"
    export.state, export.began_at = "running", time.monotonic()
    assert progress_words(export) == "0 of 100,000 rollouts"
    export.sent(ExportPiece(50_000, b""))
    export.began_at -= 30.2
    assert progress_words(export) == "50,000 of 100,000 rollouts · 30 s left"
