"""A run that is not read whole, by AppTest: every page opens on what is read, says so, and stays where the reader is."""

import json
from pathlib import Path

import pytest
from opened_pages import linked, opened, texts, when_read, whole_row
from rows import write_run
from top_line import the_list, to_step_before

from board.runs import opening
from board.runs.loading import background_load
from board.runs.parsing import parsed_shard, range_parsing
from board.ui.state import caches

PAGES = ("rewards", "metrics", "steps", "responses", "tokens", "data")

STEPS = 4_000


@pytest.fixture
def run(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of which many small ranges are to be parsed, one after the other."""
    monkeypatch.setattr(range_parsing, "SMALL_BYTES", 10**12)
    monkeypatch.setattr(parsed_shard, "RANGE_BYTES", 4_000)
    monkeypatch.setattr(background_load, "FIRST_SECONDS", 0.0)
    lines = [json.dumps(whole_row(step, reward=-step / 100)) for step in range(STEPS)]
    return write_run(root / "run", {"a.jsonl": "\n".join([*lines, ""]).encode()})


def stopped(run: Path) -> int:
    """Have the run read in part, by a reader who stopped the reading; how many rollouts of it there are."""
    part = caches.library().open(run, run.parent)
    caches.library().stop(run)
    part = caches.library().open(run, run.parent)
    assert part.reading is not None
    assert part.reading.stopped
    return len(part.frame)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_a_part_and_says_so(run: Path, page: str) -> None:
    """With how much of it there is, and a button that lets the reading go on."""
    rows = stopped(run)

    test = opened(page, run="run")

    assert not test.exception
    assert f"{rows:,} of about " in texts(test)
    assert "A part of this run: " in texts(test)
    assert ("so far reward falls most" in texts(test)) == (page == "rewards")
    assert [button.label for button in test.button if button.key == "go_on"] == ["Go on"]
    assert "Live" not in [toggle.label for toggle in test.toggle]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_a_sample_and_says_so(run: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """With the command that makes all of it readable, and nothing that would read on; a link to what is not in it is answered."""
    monkeypatch.setenv(opening.SETTING, "300")
    when_read(test := opened(page, run="run", rollout="a.jsonl:1234567"), run)

    assert not test.exception
    assert "A sample of this run: 300 of about 3,999 rollouts · curves, counts and checks are of 300" in texts(test)
    assert ("Findings are looked for in no sample" in texts(test)) == (page == "findings")
    assert f"`rl-logging-board index {run} --out DEST` makes all of it readable." in texts(test)
    assert "The sample has no rollout 'a.jsonl:1234567'" in texts(test)
    assert not [button for button in test.button if button.key in ("go_on", "stop_reading")]
    assert "Live" not in [toggle.label for toggle in test.toggle]


def test_a_stopped_run_goes_on_when_asked(run: Path) -> None:
    """The reader stays at the step that was on the screen, though the run has later ones now; the line is gone when all is read."""
    rows = stopped(run)
    test = opened("responses", run="run")
    step = linked(test, "step")

    test.button(key="go_on").click().run()
    when_read(test, run)

    assert rows < STEPS
    assert (linked(test, "step"), step) == (str(rows - 1), str(rows - 1))
    assert "of about" not in texts(test)
    assert the_list(test, "step").label == f"Step (of {STEPS:,})"
    assert not [button for button in test.button if button.key in ("go_on", "stop_reading")]


def test_a_reader_may_stop_the_reading(run: Path) -> None:
    """The button stands beside the words while the run is read; a second reader sees that it was stopped, too."""
    test = opened("rewards", run="run")
    (button,) = [button for button in test.button if button.key == "stop_reading"]
    assert "Reading: " in texts(test)

    button.click().run()
    other = opened("rewards", run="run")

    assert "A part of this run: " in texts(test)
    assert "A part of this run: " in texts(other)
    assert caches.library().load(run) is None


def test_a_link_waits_for_its_rollout(run: Path) -> None:
    """It is not said to be missing while it may still come; when it has come it opens at its token, and when there is none that is said."""
    stopped(run)
    last, none = f"a.jsonl:{STEPS}", f"a.jsonl:{STEPS + 1}"

    test = opened("tokens", run="run", rollout=last, token=2, step=STEPS - 1)
    other = opened("tokens", run="run", rollout=none)
    assert f"The rollout {last!r} is not read yet: it opens as soon as it is." in texts(test)
    caches.library().go_on(run, run.parent)
    when_read(test, run)
    when_read(other, run)

    assert (linked(test, "rollout"), linked(test, "token"), linked(test, "step")) == (last, "2", str(STEPS - 1))
    assert "not read yet" not in texts(test)
    assert f"This run has no rollout {none!r}" in texts(other)


def test_a_link_by_byte_becomes_one_by_line(root: Path) -> None:
    """A rollout that was linked before its line was known is the same one later, under its line."""
    write_run(root / "run", {"a.jsonl": [whole_row(0), whole_row(1)]})
    offset = (root / "run/a.jsonl").read_bytes().index(b"\n") + 1

    test = opened("tokens", run="run", rollout=f"a.jsonl:@{offset}")

    assert (linked(test, "rollout"), linked(test, "step")) == ("a.jsonl:2", "1")


def test_a_link_waits_for_its_step(run: Path) -> None:
    """The nearest step is shown until then; a reader who moves on meanwhile is not called back."""
    rows = stopped(run)
    test, other = opened("rewards", run="run", step=STEPS - 5), opened("rewards", run="run", step=STEPS - 5)
    assert f"Step {STEPS - 5} is not read yet: it opens as soon as it is. Step {rows - 1} is shown." in texts(test)
    to_step_before(other)

    caches.library().go_on(run, run.parent)
    when_read(test, run)
    when_read(other, run)

    assert (linked(test, "step"), linked(other, "step")) == (str(STEPS - 5), str(rows - 2))
