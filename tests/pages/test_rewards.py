"""The page Rewards by AppTest: its charts, their choices and what they say is missing."""

import json
import math
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from drawn_panels import chosen, panels
from opened_pages import GOOD, figure, linked, opened, scrolled, table, texts, whole_row
from rows import add_run, row
from streamlit.testing.v1 import AppTest
from top_line import the_list, to_step_after


def test_infinite_kl_is_said_to_be_left_out(root: Path) -> None:
    """The shares of the KL are those of its finite values, and the page says what they leave out."""
    add_run(root, "run", [whole_row(0, logprobs=[-0.1, -0.2, -math.inf, -0.4])])

    assert "1 token of infinite KL left out" in texts(opened("tokens"))


@pytest.mark.parametrize(("x", "expected"), [(10.4, 10), (35, 35), (-3, 0), (1e9, 35)], ids=str)
def test_a_click_on_a_chart_goes_to_the_nearest_step(x: float, expected: int) -> None:
    """The x of the click is a place on the axis of steps; what depended on the old step is forgotten. The browser tests click."""
    script = f"""
import numpy as np
import streamlit as st
from board.ui.state import place
st.session_state.update(step=20, rollout="rank_0.jsonl:1", marks={{"clicked": {x}}})
place.step_clicked("marks", np.array([0, 10, 20, 35]))()
st.text(f"{{st.session_state.step}} {{'rollout' in st.session_state}}")
"""
    test = AppTest.from_string(script, default_timeout=60).run()

    assert test.text[0].value == f"{expected} False"


def test_charts_stay_as_they_are_when_the_step_changes(root: Path) -> None:
    """What is drawn for all steps is sent once: another step moves the marks alone, and is told to the curves beside their numbers."""
    add_run(root, "run", [whole_row(step, reward=step / 10) for step in range(4)])
    test = scrolled(opened("rewards", run="run", step=1))
    before = {chart.proto.id for chart in test.get("plotly_chart")}
    curves = {title: panel.sent for title, panel in panels(test).items()}

    to_step_after(test)

    changed = [json.loads(chart.proto.spec) for chart in test.get("plotly_chart") if chart.proto.id not in before]
    assert len(before) > len(changed)
    assert len(curves) == 5
    assert {title: panel.sent for title, panel in panels(test).items()} == curves
    assert chosen(test)["step"] == 2
    assert all(
        "step 2" in str(spec["layout"]["title"]) or "beat the reference" in str(spec["layout"]["title"]) for spec in changed
    )


def test_curves_are_drawn_per_step(root: Path) -> None:
    """The reward curve's x are the steps in order, its y their means, whatever order the rows came in."""
    add_run(root, "run", [whole_row(step, reward=float(step)) for step in (4, 0, 3, 1, 2)])

    policy = panels(opened("rewards"))["Does the reward rise?"].curves["policy"]

    assert policy["steps"].tolist() == policy["values"].tolist() == [0, 1, 2, 3, 4]
    assert policy["low"].tolist() == policy["high"].tolist() == [0, 1, 2, 3, 4]
    assert policy["count"].tolist() == [1] * 5


def test_a_warning_leads_to_where_it_breaks(root: Path) -> None:
    """A validation reward that falls while the reward rises is said with the word "warning", apart from the notes, and linked where it broke."""
    gold = (1.0, 1.1, 1.0, 1.1, 0.1, 0.0)
    add_run(root, "run", [whole_row(step, reward=float(step), valid_reward=value) for step, value in enumerate(gold)])
    test = opened("rewards", step=1)

    badges = [element.value for element in test.markdown if "warning" in element.value]
    assert badges == [":orange-badge[warning]"]
    assert "validation reward breaks at step 4: since its peak at step 1 it falls by 1.10 while the reward rises by 4" in texts(
        test
    )
    test.button(key="highlight_0").click().run()
    assert linked(test, "step") == "4"


def test_an_extreme_leads_to_the_rollouts_that_make_it(root: Path) -> None:
    """The step of a highlight opens on Responses with the smallest first of what fell there."""
    add_run(root, "run", [row(step, reward=float(-(step == 3))) for step in range(5)])
    test = opened("rewards", step=1)

    assert not test.exception
    links = {one.proto.label: parse_qs(one.proto.query_string) for one in test.get("page_link")}
    fall = links["reward falls most: by 1 at step 3"]
    assert (fall["step"], fall["sort"], fall["order"]) == (["3"], ["reward"], ["ascending"])


def test_what_sources_and_parts_earn_have_a_panel_each(root: Path) -> None:
    """By data source, in training and in an evaluation beside it, and by part of the reward; one source alone has none."""
    rows = [
        row(
            step,
            split=split,
            data_source=source,
            reward=float(step + (source == "b")),
            a_reward=1.0,
            b_reward=2.0 if split == "train" else 7.0,
        )
        for step in range(3)
        for split in ("train", "evaluation")
        for source in ("a", "b")
    ]
    add_run(root, "run", rows)
    add_run(root, "one", [one for one in rows if one["data_source"] == "a"])

    drawn = panels(opened("rewards", run="run"))
    assert drawn["What do the parts of the reward earn?"].values["b_reward"] == [2, 2, 2]
    assert drawn["What do the parts of the reward earn?"].curves["b_reward, evaluation"]["values"].tolist() == [7, 7, 7]
    assert drawn["What does each data source earn?"].curves["b"]["values"].tolist() == [1, 2, 3]
    assert {*drawn["What does each data source earn?"].curves} == {"a", "b", "a, evaluation", "b, evaluation"}
    assert "What does each data source earn?" not in panels(opened("rewards", run="one"))


def test_sources_beyond_twelve_are_listed(root: Path) -> None:
    """The smaller ones without a curve stand below the curves, with their rollouts and what they earn at first and in the end."""
    rows = [
        row(step, data_source=f"source {number}", reward=float(step * number))
        for step in range(3)
        for number in range(14)
        for _ in range(20 - number)
    ]
    add_run(root, "run", rows)
    test = opened("rewards", run="run")

    assert len(panels(test)["What does each data source earn?"].curves) == 12
    assert "2 more data sources, smaller ones, without a curve" in [one.label for one in test.expander]
    assert table(test).to_numpy().tolist() == [["source 12", 0, 24, 24], ["source 13", 0, 26, 21]]


def test_sources_of_any_name_and_without_a_reward_end_no_page(root: Path) -> None:
    """One that is called like another's evaluation; rewards that are all missing, or those of one source."""
    odd = ("a", "a, evaluation", "{x}", "\u202e<b>", "x" * 3000)
    whole = [
        row(step, split=split, data_source=name, reward=1.0) for step in (0, 1) for split in ("train", "eval") for name in odd
    ]
    for name, rows in {"odd": whole, "none": [one | {"reward": None} for one in whole]}.items():
        add_run(root, name, rows)
        test = opened("rewards", run=name)
        assert not test.exception
        lines = panels(test)["What does each data source earn?"].curves if name == "odd" else {}
        assert all(len(line) <= 60 and line.isprintable() for line in lines), (
            "long names are cut, and none turns the writing round"
        )


def test_choices_change_the_curves(root: Path) -> None:
    """Band, smoothing and shift are the curves' own numbers; the panel says in words what is drawn."""
    add_run(root, "run", [whole_row(step, reward=float(step + i)) for step in range(1, 4) for i in (0, 2)])

    plain = panels(opened("rewards", band="No band"))["Does the reward rise?"]
    chosen = panels(opened("rewards", band="Min–max", smoothing="0.5", zero_shift="true"))["Does the reward rise?"]

    assert set(plain.curves["policy"]) == {"steps", "values", "count"}
    assert plain.sent["drawn"] == ""
    assert chosen.curves["policy"]["raw"].tolist() == [0, 1, 2]
    assert chosen.values["policy"][0] == 0
    assert chosen.curves["policy"]["low"][0] == -1
    assert chosen.sent["drawn"] == "mean and minimum to maximum · smoothed 0.5 · from the first value"


def test_absent_fields_are_named_in_one_line(root: Path) -> None:
    """Panels without their fields are one line at the end, which says what each needs; no reference is invented."""
    add_run(root, "run", [{"step": 0, "response": "x", "reward": 1.0}])

    page = opened("rewards")

    said = [str(element.value) for element in page.text if " needs " in str(element.value)]
    assert said == [
        "Not drawn: How far is the policy from the reference? needs logprobs and ref_logprobs"
        " · Does it prefer its tokens to the reference? needs logprobs and ref_logprobs"
        " · Does it still explore? needs entropies · Reward against the reference needs ref_reward"
    ]


def test_length_is_of_characters_without_tokens(root: Path) -> None:
    """A run of texts alone has a curve of their lengths all the same, and its unit says what is counted."""
    add_run(root, "run", [{"step": step, "response": "x" * (step + 3), "reward": 1.0} for step in range(3)])

    lengths = panels(opened("rewards"))["How long are the responses?"]

    assert lengths.sent["unit"] == "characters"
    assert lengths.values == {"length": [3.0, 4.0, 5.0]}


def test_limit_draws_a_stated_seeded_sample(root: Path) -> None:
    """Asked for 128 of 300 rollouts, the table shows the same 128 each time and says so."""
    add_run(root, "run", [whole_row(0, reward=float(i)) for i in range(300)])
    test = opened("responses")
    assert len(table(test)) == 300

    test.number_input(key="limit").set_value(128).run()

    drawn = table(test)["reward"].tolist()
    assert "128 of 300 shown, drawn at random with seed 0" in texts(test)
    assert len(drawn) == len(set(drawn)) == 128
    assert table(opened("responses", limit=128))["reward"].tolist() == drawn


@pytest.mark.parametrize("place", [{"estimator": "k1"}, {"curves": "KL k3"}, {"step": "--5"}, {"token": "--5"}], ids=str)
def test_no_choice_breaks_the_rewards_page(root: Path, place: dict[str, str]) -> None:
    """Panels that draw the same column stand beside each other, and a link that makes no sense is ignored."""
    add_run(root, "run", GOOD)

    test = opened("rewards", **place)

    assert not test.exception
    assert figure(test, "How is the reward spread")


def test_a_zoom_is_told_to_the_curves(root: Path) -> None:
    """The range of the link reaches them beside the chosen step; one that makes no sense is none."""
    add_run(root, "run", GOOD)

    assert chosen(opened("rewards", zoom="1-2"))["zoom"] == [1, 2]
    for nonsense in ("2-1", "a-b", "1", "1-99999999999999999999"):
        assert chosen(opened("rewards", zoom=nonsense))["zoom"] is None


@pytest.mark.parametrize("page", ["rewards", "metrics", "responses", "tokens", "data"])
def test_every_page_is_kept_to_the_steps_of_the_link(root: Path, page: str) -> None:
    """The pages see the rollouts of these steps, and a chip of the filter lets go of them; the chosen step is the nearest there is."""
    add_run(root, "run", [whole_row(step, reward=float(step)) for step in range(6)])

    test = opened(page, step=0, steps="2-4")

    assert not test.exception
    assert the_list(test, "step").options == ["2", "3", "4"]
    assert linked(test, "step") == "2"
    assert all(panel.sent["curves"] for panel in panels(test).values())
    kept = {
        step
        for panel in panels(test).values()
        for name, one in panel.curves.items()
        if not name.endswith(", all") and name != "all rollouts"
        for step in one["steps"].tolist()
    }
    assert kept <= {2, 3, 4}
    assert (linked(test, "steps"), linked(test, "filter")) == (None, "step BETWEEN 2 AND 4")
