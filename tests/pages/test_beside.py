"""Tests of runs side by side: which the link names, the chips of the top line, ticks on Runs, and what is told of those that cannot be shown."""

from pathlib import Path
from typing import Any

import pytest
from drawn_tables import clicked, tables, ticked
from metrics_page import scalars
from opened_pages import ENTRY, GOOD, linked, opened, sent, texts, when_read, whole_row
from rows import write_run
from streamlit.testing.v1 import AppTest
from top_line import choose

from board.figures.overlay_panel import BAND, NO_BAND
from board.figures.theme import RUN_COLORS
from board.runs import opening
from board.settings import run_choices

HOSTILE = "<b>x<b> ![](http:) $y$ :red[z]&beside=q"
FIRST, SECOND, THIRD = [*RUN_COLORS.values()][:3]


@pytest.fixture
def runs(root: Path) -> Path:
    """Three runs, one with a name that is much."""
    for name in ("alpha", "sweep/beta", HOSTILE):
        write_run(root / name, {"a.jsonl": GOOD})
    return root


def beside(run: str, *others: str, page: str = "rewards", **place: str) -> AppTest:
    """The page of a run with others beside it, as a link opens it."""
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    test.query_params["run"] = run
    test.query_params["beside"] = list(others)
    for name, value in place.items():
        test.query_params[name] = value
    return (test.switch_page(f"board/ui/pages/{page}/{page}.py") if page != "rewards" else test).run()


def chips(test: AppTest) -> list[tuple[str, str]]:
    """Name and colour of each run in the top line."""
    return [(one["name"], one["color"]) for one in _chips(test)]


def _chips(test: AppTest) -> list[dict[str, Any]]:
    return [chip for one in sent(test, "run_chips") for chip in one["chips"]]


def test_a_run_alone_has_no_chips(runs: Path) -> None:
    """Nor does its link change."""
    test = opened("rewards", run="alpha")
    assert chips(test) == []
    assert "beside" not in test.query_params


@pytest.mark.parametrize(
    ("others", "named"),
    [
        (["sweep/beta", HOSTILE, HOSTILE], ["alpha", "sweep/beta", HOSTILE]),
        (["sweep/beta", "alpha"], ["sweep/beta", "alpha"]),
    ],
    ids=["the run of the place comes first", "unless the link gives it another place"],
)
def test_runs_of_a_link_are_named_in_their_colours(runs: Path, others: list[str], named: list[str]) -> None:
    """Each once, with a colour of its own; the link names them all, letter for letter."""
    test = beside("alpha", *others)
    assert chips(test) == list(zip(named, (FIRST, SECOND, THIRD), strict=False))
    assert dict.fromkeys(test.query_params["beside"]) == dict.fromkeys(named)
    assert not test.exception
    test.switch_page("board/ui/pages/steps/steps.py").run()
    assert [name for name, _ in chips(test)] == named


def test_a_run_that_is_not_there_is_told(runs: Path) -> None:
    """In one line; it can be taken out of the link, and the others stay."""
    test = beside("alpha", "nowhere", "sweep/beta")
    assert "There is no run 'nowhere' under this root" in texts(test)
    assert [one["gone"] for one in _chips(test)] == [False, False, True]
    test.session_state["run_chips"] = {"removed": 2}
    test.session_state["beside"] = ("alpha", "sweep/beta")
    test.run()
    assert "There is no run" not in texts(test)


def test_another_run_keeps_the_colours(runs: Path) -> None:
    """Whoever goes to one of them, or to one more, finds the others as they were."""
    test = beside("alpha", "sweep/beta")
    choose(test, "run", "sweep/beta")
    assert chips(test) == [("alpha", FIRST), ("sweep/beta", SECOND)]
    choose(test, "run", HOSTILE)
    assert chips(test) == [("alpha", FIRST), ("sweep/beta", SECOND), (HOSTILE, THIRD)]


def test_a_run_keeps_its_colour_when_another_is_taken_away(runs: Path) -> None:
    """By its chip or by its tick on Runs; in the link, too, which a colleague opens. The next run takes the seat that is left."""
    test = beside("alpha", "sweep/beta", HOSTILE)
    test.session_state["run_chips"] = {"removed": 1}
    test.session_state["beside"] = ("alpha", "", HOSTILE)
    test.run()
    kept = [("alpha", FIRST), (HOSTILE, THIRD)]
    assert chips(test) == kept
    assert test.query_params["beside"] == ["alpha", "", HOSTILE]
    again = beside("alpha", *test.query_params["beside"])
    assert chips(again) == kept
    again.selectbox(key="compared_add").select("sweep").run()
    assert set(chips(again)) == {*kept, ("sweep", SECOND)}


SEATS: dict[str, tuple[tuple[str, ...], str, bool, tuple[str, ...] | None]] = {
    "the first goes": (("a", "b", "c"), "a", False, ("", "b", "c")),
    "the last goes": (("a", "", "c"), "c", False, ("a",)),
    "one comes": (("", "b", "c"), "d", True, ("d", "b", "c")),
    "one is there": (("", "b", "c"), "b", True, ("", "b", "c")),
    "all go": (("", "b"), "b", False, None),
    "no ninth": (tuple("abcdefgh"), "i", True, tuple("abcdefgh")),
}


@pytest.mark.parametrize("name", SEATS)
def test_ticks_leave_the_seats_of_the_others(name: str) -> None:
    """Who stays keeps his seat; who comes takes the first that is left."""
    seats, address, on, expected = SEATS[name]

    def script() -> None:
        import streamlit as st

        from board.ui.state import run_looks

        run_looks.tick(*st.session_state["ticked"][:1], on=st.session_state["ticked"][1])

    test = AppTest.from_function(script)
    for key, value in {"beside": seats, "ticked": (address, on)}.items():
        test.session_state[key] = value
    test.run()
    assert not test.exception
    assert test.session_state["beside"] == expected


def test_one_more_run_is_added(runs: Path) -> None:
    """By the list in the top line, which then offers the rest."""
    test = beside("alpha", "sweep/beta")
    assert test.selectbox(key="compared_add").options == [HOSTILE, "sweep"]
    test.selectbox(key="compared_add").select(HOSTILE).run()
    assert [name for name, _ in chips(test)] == ["alpha", "sweep/beta", HOSTILE]
    assert test.selectbox(key="compared_add").options == ["sweep"]


def test_a_reader_s_name_and_colour_are_shown(runs: Path) -> None:
    """What he called and coloured; the others take colours that are left. Two of one name are told apart."""
    for path, title in (("alpha", "Mine"), ("sweep/beta", "Mine")):
        run_choices.save_note(str(runs / path), title=title, colour="teal" if path == "sweep/beta" else "")
    assert chips(beside("alpha", "sweep/beta")) == [("Mine (alpha)", SECOND), ("Mine (sweep/beta)", FIRST)]


def test_ticks_on_runs_lay_runs_side_by_side(runs: Path) -> None:
    """Two ticks and the button lead to the first of them; a click on a row leaves ticks as they are, and a second one takes one off."""
    test = opened("runs", runs_sort="name", runs_order="ascending")
    names = tables(test)[0].frame["run"].tolist()
    third = next(name for name in names if name not in ("alpha", "sweep/beta"))
    for count, name in enumerate(("alpha", "sweep/beta", third), 1):
        ticked(test, tables(test)[0], names.index(name), on=True)
        assert test.button(key="side_by_side").disabled == (count < 2)
    ticked(test, tables(test)[0], names.index(third), on=False)
    clicked(test, tables(test)[0], names.index(third), "size")
    assert tables(test)[0].chosen == names.index(third)
    assert [name for name, on in zip(names, tables(test)[0].frame["compared"], strict=True) if on] == ["alpha", "sweep/beta"]
    test.button(key="side_by_side").click().run()
    assert linked(test, "run") == "alpha"
    assert [name for name, _ in chips(test)] == ["alpha", "sweep/beta"]


def panels(test: AppTest) -> dict[str, dict[str, Any]]:
    """The panels of curves, by title."""
    return {card["title"]: card for one in sent(test, ".curves") for card in one["meta"]["cards"]}


def names(card: dict[str, Any]) -> list[str]:
    """Of the lines of a panel, the topmost last."""
    return [curve["name"] for curve in card["curves"]]


def test_runs_are_laid_over_each_other(runs: Path) -> None:
    """In every panel, each in its colour; less one of them; along rollouts, where another page's link leads too."""
    write_run(runs / "gamma_1", {"a.jsonl": [whole_row(step, reward=2.0, valid_reward=1.0) for step in range(5)]})
    test = beside("alpha", "gamma_1")
    reward = panels(test)["Does the reward rise?"]
    assert names(reward) == ["gamma_1", "alpha"]
    assert [one["color"] for one in reward["curves"]] == [SECOND, FIRST]
    assert "bootstrap over prompts" in reward["drawn"]
    assert "Does the validation reward rise with it?" not in panels(test)
    test.segmented_control(key="along").set_value("rollouts").run()
    test.selectbox(key="less").select("gamma_1").run()
    assert linked(test, "baseline") == "gamma_1"
    reward = panels(test)["Does the reward rise?"]
    assert names(reward) == ["alpha"]
    assert reward["drawn"].startswith("minus gamma_1")
    test.segmented_control(key="along").set_value("time").run()
    assert "Not drawn over time: alpha, gamma_1" in texts(test)
    assert not test.exception


def test_runs_are_laid_over_a_sample(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more of it will come: no other waits for that."""
    monkeypatch.setenv(opening.SETTING, str(len(GOOD)))
    write_run(runs / "larger", {"a.jsonl": GOOD, "b.jsonl": GOOD})
    test = when_read(beside("larger", "alpha"), runs / "larger", runs / "alpha")
    assert "A sample of this run: " in texts(test)
    assert names(panels(test)["Does the reward rise?"]) == ["alpha", "larger"]


def test_a_run_without_rollouts_and_a_split_that_is_not_there_are_told(runs: Path) -> None:
    """The others are shown."""
    write_run(runs / "empty", {"a.jsonl": []})
    write_run(runs / "evaluated", {"a.jsonl": [{**one, "split": "evaluation"} for one in GOOD]})
    write_run(runs / "beta_2", {"a.jsonl": GOOD})
    write_run(runs / "beta_1", {"a.jsonl": GOOD})
    test = beside("alpha", "empty", "evaluated", "beta_1", "beta_2", filter="reward > 0", seeds="name")
    assert "empty cannot be compared" in texts(test)
    assert "evaluated has no rollout of split train: those of split evaluation are shown." in texts(test)
    assert not test.exception
    assert names(panels(test)["Does the reward rise?"]) == ["beta (2 runs)", "evaluated", "alpha"]


def test_metrics_are_laid_over_each_other(runs: Path) -> None:
    """Those that both runs give, in the panels of the page; what a band can be drawn of has one, and what is no mean says so."""
    rows = [whole_row(step, reward=2.0 + at, prompt=f"p{at}") for step in range(5) for at in range(3)]
    write_run(runs / "gamma", {"a.jsonl": rows})
    test = beside("alpha", "gamma", page="metrics", families="Reward", along="tokens")
    found = panels(test)
    assert names(found["reward/mean"]) == ["gamma", "alpha"]
    assert found["reward/mean"]["drawn"] == BAND
    assert "low" in found["reward/mean"]["curves"][0]
    assert found["reward/std"]["drawn"] == NO_BAND
    assert not test.exception


def test_what_trainers_logged_is_laid_over_each_other(runs: Path) -> None:
    """A scalar that no rollout gives: of each run that logged it, under one name."""
    for name, value in (("alpha", 1.0), ("sweep/beta", 2.0)):
        scalars(runs / name, [{"step": step, "actor/lr": value} for step in (0, 1, 2)])
    test = when_read(beside("alpha", "sweep/beta", HOSTILE, page="metrics", find="actor/lr"), runs / "alpha", runs / "sweep/beta")
    card = panels(test)["optimiser/learning_rate"]
    assert "dashed grey" not in texts(test)
    assert names(card) == ["sweep/beta", "alpha"]
    assert card["texts"]["note"] == f"Not in {HOSTILE}."
    assert not test.exception
