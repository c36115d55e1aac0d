"""Tests of the Runs page: all runs at once, what a link asks for, what the reader says of a run, and hostile names."""

import time
from pathlib import Path
from typing import Any

import pytest
from drawn_tables import tables, with_column
from opened_pages import GOOD, linked, opened, table, texts
from rows import write_run
from streamlit.testing.v1 import AppTest

from board.settings import run_choices

HOSTILE = "<b>x</b> ![](http:) $y$ :red[z]"


def filled(test: AppTest) -> AppTest:
    """The page once every run was looked at."""
    until = time.monotonic() + 300
    while "not read yet" in texts(test) and time.monotonic() < until:
        time.sleep(0.1)
        test.run()
    return test


@pytest.fixture
def runs(root: Path) -> Path:
    """Three runs, one of them in a folder."""
    for name in ("alpha", "sweep/beta", HOSTILE):
        write_run(root / name, {"a.jsonl": [{**one, "ground_truth": name} for one in GOOD]})
    return root


def field(test: AppTest, kind: str, label: str) -> Any:
    """A widget of the panel, by its label."""
    return next(one for one in test.get(kind) if getattr(one, "label", "") == label)


def test_every_run_is_listed_at_once_and_told_of_soon(runs: Path) -> None:
    """Names and sizes before anything is read; the reward, steps and rollouts then. What a run is called is text."""
    test = opened("runs")
    assert "3 runs" in texts(test)
    assert set(table(test)["run"]) == {"alpha", "sweep/beta", HOSTILE}
    frame = table(filled(test)).set_index("run")
    assert frame.loc["alpha", "step"] == 2
    assert frame.loc["sweep/beta", "rollouts"] == "12"
    assert frame["findings"].tolist() == ["not looked at"] * 3
    assert not test.exception
    assert all(HOSTILE not in str(element.value) for element in [*test.markdown, *test.caption])


def test_a_link_says_what_is_listed_and_how(runs: Path) -> None:
    """Text, order and groups."""
    test = opened("runs", runs_text="a", runs_sort="name", runs_order="ascending", runs_group="folder")
    assert [one.frame["run"].tolist() for one in tables(test)] == [["alpha"], ["sweep/beta"]]
    assert "sweep · 1 run" in texts(test)


def test_what_is_said_of_a_run_is_kept_and_shown(runs: Path) -> None:
    """A name, tags, a note, a colour and a pin, in the panel of the run that the link names; what is hidden is left out."""
    test = filled(opened("runs", run="sweep/beta"))
    field(test, "text_input", "Name").input("The <i>best</i>").run()
    field(test, "text_area", "Note").input("# no heading\nmore").run()
    field(test, "toggle", "Pin").set_value(True).run()
    field(test, "selectbox", "Colour").select("violet").run()
    (kept,) = run_choices.NOTES.read().values()
    assert (kept.title, kept.note, kept.pinned, kept.colour) == ("The <i>best</i>", "# no heading\nmore", True, "violet")
    frame = table(test)
    assert frame["run"][0] == "★ The <i>best</i>"
    assert frame["note"][0] == "# no heading"
    field(test, "toggle", "Hide").set_value(True).run()
    assert len(table(test)) == 2
    assert linked(test, "run") == "sweep/beta"
    assert not test.exception


def test_a_run_that_cannot_be_read_says_why(root: Path) -> None:
    """The first reason, however many files there are; the list is of the run as it opens."""
    for at in range(60):
        write_run(root / "many", {f"out_{at}.jsonl": [{"conversation": "hello", "points": 0.5, "env": "toy"}]})
    (told,) = table(filled(opened("runs")))["trainer"]
    assert told.startswith("No rollout could be read: 60 lines refused; the first reason: out_0.jsonl:1: has no `step`")


def test_a_root_without_runs_says_so(root: Path) -> None:
    """And what to do."""
    assert "No run folders" in texts(opened("runs"))
    assert not opened("runs").exception


def test_the_links_of_before_open_what_they_did(runs: Path) -> None:
    """A link to a run opens its rewards, and the tabs keep its place."""
    test = opened("rewards", run="alpha", step=1)
    assert linked(test, "run") == "alpha"
    assert linked(test, "step") == "1"
    test.switch_page("board/ui/pages/runs/runs.py").run()
    assert linked(test, "run") == "alpha"
    assert linked(test, "step") == "1"


def test_what_made_a_run_is_shown_and_searched(runs: Path) -> None:
    """Its settings by dotted names beside the list, as text; what could not be read is named; one line where there are none."""
    (runs / "alpha" / "config.yaml").write_text(f"actor: {{lr: 1e-6, note: '{HOSTILE}'}}\nseed: 3\n")
    (runs / "alpha" / "args.json").write_text("{")

    test = opened("runs", run="alpha")
    assert "3 settings from config.yaml" in texts(test)
    assert "args.json is not JSON" in texts(test)
    frame = with_column(test, "setting").frame
    assert dict(zip(frame["setting"], frame["value"], strict=True)) == {"actor.lr": "1e-06", "actor.note": HOSTILE, "seed": "3"}
    assert "1 of 3" in texts(opened("runs", run="alpha", run_settings_text="ACTOR <b>"))
    assert "No settings next to this run" in texts(opened("runs", run=HOSTILE))
    assert not test.exception
