"""The page Steps by AppTest: its table, what sorts it, and the marks of the strip above it."""

import json
from pathlib import Path
from typing import Any

from drawn_panels import chosen
from drawn_tables import clicked, sorted_by_head, tables
from opened_pages import GOOD, facts, linked, opened, opening_links, table, texts
from rows import add_run, row
from streamlit.testing.v1 import AppTest


def marks(test: AppTest) -> list[dict[str, Any]]:
    """The marks of the strip as they are handed to the browser."""
    strips = [one for one in test.get("bidi_component") if one.proto.component_name.endswith("step_strip")]
    found: list[dict[str, Any]] = json.loads(strips[0].proto.json)["marks"]
    return found


def test_table_of_steps(root: Path) -> None:
    """A row per step with what the run has; a link sorts it, and what stands out is told as the strip marks it."""
    add_run(root, "run", [{**one, "reward": 9 - one["reward"]} for one in GOOD])

    test = opened("steps", steps_sort="reward", steps_order="descending")

    assert not test.exception
    frame = table(test)
    assert frame["step"].tolist() == [0, 1, 2]
    assert frame["reward/mean"].tolist() == [7.5, 6.5, 5.5]
    assert ((frame["from"] < frame["reward/mean"]) & (frame["to"] > frame["reward/mean"])).all()
    assert "bootstrap over prompts" in texts(test)
    assert {"counts/rollouts", "length/mean", "kl/k3_mean", "stands out"} <= set(frame.columns)
    assert [(one["at"], one["texts"], one["kind"]) for one in marks(test)] == [(1, ["reward falls most: by 1 at step 1"], "note")]
    assert frame["stands out"].tolist() == ["", "reward falls most: by 1 at step 1", ""]


def test_a_newest_step_that_is_being_written(root: Path) -> None:
    """It has a ring of its own, and is no extreme and no fall."""
    rows = [row(step, prompt=f"{step} {at}", reward=float(at % 2)) for step in range(5) for at in range(16 if step < 4 else 2)]
    add_run(root, "run", [one | {"reward": -9.0} if one["step"] == 4 else one for one in rows])

    test = opened("steps")

    assert [(one["at"], one["texts"]) for one in marks(test)] == [(4, ["2 of 16 rollouts so far at step 4"])]


def test_an_evaluation_at_the_end_is_no_step_that_is_being_written(root: Path) -> None:
    """Neither where the strip is drawn nor in the curves, and a step of training that is, is in both."""
    rows = [row(step, split="train", prompt=f"{step} {at}", reward=float(at % 2)) for step in range(5) for at in range(16)]
    ends = {"whole": row(5, split="evaluation"), "begun": row(5, split="train")}
    for name, end in ends.items():
        add_run(root, name, [*rows, end])
        expected = [5] if name == "begun" else []
        assert [one["step"] for one in chosen(opened("rewards", run=name))["marks"] if one["severity"] == "unlike"] == expected


def test_a_click_on_a_row_goes_to_its_step_and_one_on_a_head_sorts(root: Path) -> None:
    """The row of the chosen step is marked; a head sorts by the largest first, then the other way round, and is in the link."""
    add_run(root, "run", GOOD)
    test = opened("steps", step=1)
    assert tables(test)[0].chosen == 1

    clicked(test, tables(test)[0], 2)
    assert linked(test, "step") == "2"
    assert tables(test)[0].chosen == 2
    for ordered in ([2, 1, 0], [0, 1, 2]):
        sorted_by_head(test, tables(test)[0], "reward/mean")
        assert table(test)["step"].tolist() == ordered
        assert tables(test)[0].chosen == ordered.index(2)
    assert (linked(test, "steps_sort"), linked(test, "steps_order")) == ("reward/mean", "ascending")


def test_a_run_says_what_its_steps_lack(root: Path) -> None:
    """Without rewards and with one step the page says so in one line."""
    add_run(root, "run", [row(5), row(5)])

    test = opened("steps")

    assert not test.exception
    assert table(test)["step"].tolist() == [5]
    assert "Not drawn: The mean reward and its interval: reward · Steps against each other: a second step" in texts(test)


def test_two_steps_against_each_other(root: Path) -> None:
    """A link names both; the numbers say how far they lie apart and whether by chance, and the prompts of both are listed."""
    add_run(root, "run", GOOD)

    test = opened("steps", steps_view="Step A against step B", step=2, step_a=1)

    assert not test.exception
    told = facts(test)
    assert told["Mean, A → B"] == "2.50 → 3.50"
    assert told["Wasserstein-1 distance"] == "1 reward"
    assert "permutations (seed 0) deal rollouts to A and B anew, 4 to A and 4 to B." in texts(test)
    moved = table(test)
    assert moved["change"].tolist() == [1.0] * 4
    assert moved["prompt"].tolist() == [f"prompt {at}" for at in range(4)] or len(moved) == 4

    test.button(key="pair_swap").click().run()
    assert (linked(test, "step"), linked(test, "step_a")) == ("1", "2")

    gone = opened("steps", steps_view="Step A against step B", step=0, step_a=77)
    assert "There is no rollout of step 77 to compare with: B is compared with step 2." in texts(gone)
    assert linked(gone, "step_a") == "2"


def test_scatter(root: Path) -> None:
    """Reward against length first, of the step or of all; what is not drawn is counted, and a selection becomes a condition."""
    add_run(root, "run", [*GOOD, {**GOOD[0], "reward": None}])

    test = opened("steps", steps_view="Scatter", step=0)

    assert not test.exception
    assert "4 of 5 rollouts of step 0 · 1 without both numbers left out" in texts(test)
    meta = json.loads(
        next(one for one in test.get("bidi_component") if one.proto.component_name.endswith("scatter")).proto.mixed.json
    )
    assert (
        meta["meta"]["said"].startswith("reward against response_length of 4 rollouts")
        or "reward against" in meta["meta"]["said"]
    )

    every = opened("steps", steps_view="Scatter", scatter_scope="All steps", scatter_x="step", scatter_log_x="true")
    assert "8 of 13 rollouts of all steps" in texts(every)
    assert "not above zero left out" in texts(every)


def test_a_prompt_that_moved_is_opened(root: Path) -> None:
    """A rollout of each step is compared, and a link leads to the prompt with all of its rollouts."""
    add_run(root, "run", GOOD)
    both = {"first": "rank_0.jsonl:5", "second": "rank_0.jsonl:9"}

    test = opened("steps", steps_view="Step A against step B", step=2, step_a=1, **both)

    assert not test.exception
    assert "step 2" in texts(test)
    assert any("prompt=" in link.proto.query_string for link in opening_links(test) if link.label.startswith("Open the prompt"))
    assert (linked(test, "first"), linked(test, "second")) == (both["first"], both["second"])
