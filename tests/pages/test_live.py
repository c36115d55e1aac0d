"""Runs that change while they are open, by AppTest: followed, offered, told."""

import json
import os
from pathlib import Path
from typing import Any

from opened_pages import linked, opened, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest
from top_line import choose, the_list

from board.ui.frame import live_reload


def grow(folder: Path, *rows: dict[str, Any]) -> None:
    """Append rows to the shard that `write_run` made."""
    with (folder / "rank_0.jsonl").open("a") as shard:
        shard.writelines(json.dumps(one) + "\n" for one in rows)


def switch(test: AppTest, label: str) -> Any:
    """The switch with that label."""
    return next(toggle for toggle in test.toggle if toggle.label == label)


def test_running_job_is_followed(root: Path) -> None:
    """Of a run that was just written to, what its shards gain is loaded unasked, and the place of who is at an older step is kept."""
    folder = add_run(root, "run", [whole_row(0), whole_row(1)])
    test = opened("responses", step=0, rollout="rank_0.jsonl:1")
    assert switch(test, "Live").value
    assert not switch(test, "Follow newest step").value
    grow(folder, whole_row(2))

    test.run()

    assert the_list(test, "step").options == ["0", "1", "2"]
    assert (linked(test, "step"), linked(test, "rollout")) == ("0", "rank_0.jsonl:1")


def test_on_the_newest_step_the_reader_goes_along(root: Path) -> None:
    """The switch says so while one is on the newest step; turned off there it keeps the step, turned on it goes to the newest."""
    folder = add_run(root, "run", [whole_row(0), whole_row(1)])
    test = opened("responses")
    assert switch(test, "Follow newest step").value

    grow(folder, whole_row(2))
    test.run()
    assert (linked(test, "step"), linked(test, "rollout")) == ("2", "rank_0.jsonl:3")

    switch(test, "Follow newest step").set_value(False).run()
    grow(folder, whole_row(3))
    test.run()
    assert linked(test, "step") == "2"
    assert not switch(test, "Follow newest step").value

    switch(test, "Follow newest step").set_value(True).run()
    assert linked(test, "step") == "3"
    choose(test, "step", 0)
    assert not switch(test, "Follow newest step").value
    choose(test, "step", 3)
    assert switch(test, "Follow newest step").value


def test_changed_run_offers_a_reload(root: Path) -> None:
    """A run that was written long ago is not followed: when it changes, the board says so, reads it when asked, and says no more."""
    folder = add_run(root, "run", [whole_row(0)])
    os.utime(folder / "rank_0.jsonl", (1e9, 1e9))
    test = opened("responses")
    switch(test, "Follow newest step").set_value(False).run()
    grow(folder, whole_row(1))
    os.utime(folder / "rank_0.jsonl", (1e9 + 1, 1e9 + 1))

    test.run()
    assert the_list(test, "step").options == ["0"]
    test.button(key="reload").click().run()

    assert the_list(test, "step").options == ["0", "1"]
    assert linked(test, "step") == "0"
    assert "reload" not in {button.key for button in test.button}


def test_who_comes_to_a_run_that_rested_sees_what_is_on_the_disk(root: Path) -> None:
    """A run that was opened, rested and went on: a new page has all steps, opens a link to the newest, and follows the run again."""
    folder = add_run(root, "run", [whole_row(0)])
    os.utime(folder / "rank_0.jsonl", (1e9, 1e9))
    before = opened("responses")
    grow(folder, whole_row(1))

    after = opened("responses", step=1)
    before.run()

    assert the_list(after, "step").options == ["0", "1"]
    assert linked(after, "step") == "1"
    assert "no step" not in texts(after)
    assert switch(after, "Live").value
    assert the_list(before, "step").options == ["0", "1"]


def test_what_changed_is_told_within_five_seconds() -> None:
    """While Live is off too, and the look itself takes time."""
    assert live_reload.TELL_SECONDS <= 4
