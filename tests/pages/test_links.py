"""Links by AppTest: what a URL asks for is opened, what it asks for in vain is said, and what the reader does is put into it."""

import time
from pathlib import Path

import pytest
from opened_pages import ENTRY, GOOD, linked, opened, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest
from top_line import choose, the_list, to_step_after, to_step_before

from board.ui.frame.header import MOST_OPTIONS


def test_run_and_step_are_in_the_url(root: Path) -> None:
    """Opening the board writes the chosen run and step into the URL: the first run, its last step."""
    add_run(root, "a", GOOD)
    add_run(root, "b", GOOD)

    test = opened("rewards")

    assert linked(test, "run") == "a"
    assert linked(test, "step") == "2"


def test_link_opens_its_rollout(root: Path) -> None:
    """A link with run, step and rollout opens exactly that rollout."""
    add_run(root, "a", [whole_row(0)])
    add_run(root, "b", [whole_row(s, response=f"text of step {s}, row {i}") for s in range(3) for i in range(2)])

    test = opened("responses", run="b", step=1, rollout="rank_0.jsonl:4")

    assert "step 1 · rank_0.jsonl:4" in texts(test)
    assert "text of step 1, row 1" in texts(test)


def test_link_to_a_run_that_was_just_written(root: Path) -> None:
    """A run is there for its link at once, though the list of runs was looked up a moment ago."""
    add_run(root, "a", [whole_row(0)])
    opened("rewards")
    add_run(root, "b", [whole_row(0, response="written since")])

    test = opened("responses", run="b")

    assert linked(test, "run") == "b"
    assert "written since" in texts(test)


LINKS = {
    "unknown run": ({"run": "../secret"}, "There is no run '../secret' under this root"),
    "unknown step": ({"run": "run", "step": "99"}, "4 rollouts of step 2"),
    "step that is no number": ({"run": "run", "step": "abc"}, "4 rollouts of step 2"),
    "rollout of another run": ({"run": "run", "step": "1", "rollout": "rank_7.jsonl:4"}, "step 1 · rank_0.jsonl:5"),
    "rollout that is no place": ({"run": "run", "step": "1", "rollout": "<script>"}, "step 1 · rank_0.jsonl:5"),
}


AMISS = {
    "step": ({"step": "99"}, "This run has no step 99: the last one is shown."),
    "rollout": (
        {"step": "1", "rollout": "rank_7.jsonl:4"},
        "This run has no rollout 'rank_7.jsonl:4': the link leads to its step alone.",
    ),
    "token beyond the end": (
        {"step": "1", "rollout": "rank_0.jsonl:5", "token": "4"},
        "This rollout has no token 4: it has 4, which links count from 0.",
    ),
    "token that is no number": (
        {"step": "1", "token": "x"},
        "The first rollout of step 1 has no token x: it has 4, which links count from 0.",
    ),
    "metric": ({"step": "1", "rollout": "rank_0.jsonl:5", "metric": "zzz"}, "This rollout has no token metric 'zzz'."),
}
"""Part of a link that is not there → what is said of it."""


@pytest.mark.parametrize("page", ["rewards", "tokens"])
@pytest.mark.parametrize("name", AMISS)
def test_what_a_link_asks_for_in_vain_is_said(root: Path, page: str, name: str) -> None:
    """On pages that show it or not, in a sentence that stays until the reader moves; then the link is one that leads somewhere."""
    asked, said = AMISS[name]
    add_run(root, "run", GOOD)
    test = opened(page, run="run", **asked)

    assert not test.exception
    assert said in texts(test)
    assert said in texts(test.run())
    assert linked(test, name.split()[0]) != asked[name.split()[0]]

    to_step_before(test)
    assert said not in texts(test)


def test_a_link_to_an_evaluation_says_where_it_is(root: Path) -> None:
    """A rollout of the split that is not shown is not said to be missing."""
    add_run(root, "run", [whole_row(0), whole_row(0, split="evaluation")])

    said = texts(opened("responses", run="run", rollout="rank_0.jsonl:2"))

    assert "The rollout 'rank_0.jsonl:2' is one of evaluations: choose them under Split to see it." in said


SAID_ONCE = {"unknown run"}
"""What stands on the screen until the next click."""


def first_seen(**place: str) -> AppTest:
    """The board as a link opens it, before any click."""
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    test.query_params.update(place)
    return test.run()


@pytest.mark.parametrize("name", LINKS)
def test_links_are_requests_not_facts(root: Path, name: str) -> None:
    """A link that asks for what is not there opens what is, or says so."""
    place, wanted = LINKS[name]
    add_run(root, "run", GOOD)
    test = first_seen(**place) if name in SAID_ONCE else opened("responses", **place)

    assert not test.exception
    assert wanted in texts(test)


def test_link_with_a_token_alone_keeps_it(root: Path) -> None:
    """A link that names a step and a token but no rollout pins that token of the step's first rollout."""
    add_run(root, "run", [whole_row(0), whole_row(1)])

    test = opened("tokens", step=1, token=2)

    assert (linked(test, "rollout"), linked(test, "token")) == ("rank_0.jsonl:2", "2")


def test_back_takes_a_pin_away_and_a_click_with_the_link_of_before_does_not(root: Path) -> None:
    """A link of before, without a pin, unpins; with a click, or at once, it is one that a slow browser had not yet replaced."""
    add_run(root, "run", [whole_row(0), whole_row(1)])
    test = opened("tokens", run="run", step=1, rollout="rank_0.jsonl:2")
    test.session_state["token"] = 2
    test.run()
    assert linked(test, "token") == "2"

    del test.query_params["token"]
    test.toggle(key="hide_system").set_value(True).run()
    assert (linked(test, "token"), linked(test, "hide_system")) == ("2", "true")

    del test.query_params["token"]
    test.run()
    assert linked(test, "token") == "2"

    time.sleep(1)
    del test.query_params["token"]
    test.run()
    assert linked(test, "token") is None
    assert linked(test, "rollout") == "rank_0.jsonl:2"


def test_unknown_metric_of_a_link_becomes_the_default(root: Path) -> None:
    """A link to a metric that the rollout does not have colours by the log-ratio, not by whatever comes first."""
    add_run(root, "run", [whole_row(0)])

    assert linked(opened("tokens", metric="zzz"), "metric") == "log_ratio"


def test_next_step_moves_the_page(root: Path) -> None:
    """The buttons beside the step go to the steps there are, in order."""
    add_run(root, "run", [whole_row(step) for step in (0, 10, 35)])
    test = opened("responses", step=10)

    to_step_after(test)

    assert linked(test, "step") == "35"
    assert "1 rollout of step 35" in texts(test)
    assert the_list(test, "step").after is None


def test_step_chooser_offers_exactly_the_steps_there_are(root: Path) -> None:
    """Uneven steps are offered as they are, none invented."""
    add_run(root, "run", [whole_row(step) for step in (0, 10, 20, 35)])

    test = opened("rewards")

    assert the_list(test, "step").options == ["0", "10", "20", "35"]


def test_another_run_forgets_step_and_rollout(root: Path) -> None:
    """Choosing a run starts at its last step."""
    add_run(root, "a", GOOD)
    add_run(root, "b", [whole_row(5)])
    test = opened("responses", run="a", step=1, rollout="rank_0.jsonl:6")

    choose(test, "run", "b")

    assert linked(test, "step") == "5"
    assert linked(test, "rollout") == "rank_0.jsonl:1"


def test_the_list_of_steps_of_a_long_run_holds_those_around_the_chosen_one(root: Path) -> None:
    """The browser is given few; Previous and Next go on, the first and the last step are reached by link, too."""
    add_run(root, "run", [whole_row(step) for step in range(MOST_OPTIONS + 100)])
    for step, expected in ((0, (0, MOST_OPTIONS)), (300, (50, MOST_OPTIONS + 50)), (599, (100, MOST_OPTIONS + 100))):
        test = opened("rewards", run="run", step=step)
        assert the_list(test, "step").options == [str(at) for at in range(*expected)]
    to_step_before(test)
    assert linked(test, "step") == "598"


TYPED = {
    "between two": ("17", "20"),
    "below all": ("-4", "0"),
    "above all": ("99999", "30"),
    "no number": ("seven", "10"),
    "no text": ("", "10"),
}
"""What is typed at step 10 of a run that has each tenth step → where the reader is then."""


@pytest.mark.parametrize(("typed", "expected"), TYPED.values(), ids=TYPED)
def test_a_typed_step_goes_to_the_nearest(root: Path, typed: str, expected: str) -> None:
    """What is no number leads nowhere."""
    add_run(root, "run", [whole_row(step) for step in (0, 10, 20, 30)])

    test = choose(opened("rewards", run="run", step=10), "step", typed)

    assert not test.exception
    assert linked(test, "step") == expected


LATE = {"the step the reader is at": ("1", "rank_0.jsonl:6"), "another": ("2", "rank_0.jsonl:9")}
"""A step chosen in the list at step 1, rollout rank_0.jsonl:6 → the rollout shown then."""


@pytest.mark.parametrize(("step", "rollout"), LATE.values(), ids=LATE)
def test_a_choice_of_where_the_reader_is_forgets_nothing(root: Path, step: str, rollout: str) -> None:
    """Another step leads to its first rollout."""
    add_run(root, "run", GOOD)

    test = choose(opened("responses", run="run", step=1, rollout="rank_0.jsonl:6"), "step", step)

    assert linked(test, "rollout") == rollout


def test_a_run_that_is_in_no_list_is_not_gone_to(root: Path) -> None:
    """The browser's word for a run is a request; one that is gone, or never was, leads nowhere."""
    add_run(root, "a", GOOD)

    test = choose(opened("rewards", run="a", step=1), "run", "nowhere")

    assert (linked(test, "run"), linked(test, "step"), [*test.exception]) == ("a", "1", [])


def test_training_and_evaluation_are_switched(root: Path) -> None:
    """A run that has both shows training first and never mixes them; the choice is in the link. Other runs have no such switch."""
    add_run(root, "both", [whole_row(0), whole_row(0, split="evaluation"), whole_row(1)])
    add_run(root, "one", [whole_row(0)])

    training, evaluated = opened("responses", run="both"), opened("responses", run="both", split="evaluation")

    assert the_list(training, "step").options == ["0", "1"]
    assert the_list(evaluated, "step").options == ["0"]
    labels = [[group.label for group in page.button_group] for page in (training, opened("responses", run="one"))]
    assert ["Split" in found for found in labels] == [True, False]
