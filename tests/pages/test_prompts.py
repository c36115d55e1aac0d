"""The page Prompts by AppTest: cohorts and the list of prompts, one of them opened, and what a run cannot show."""

from pathlib import Path
from typing import Any

import pytest
from drawn_panels import panels
from drawn_tables import clicked, tables
from opened_pages import linked, opened, panes, sent, table, texts, whole_row
from rows import add_run

from board.runs.prompt_keys import prompt_key

WENT = {"sums": [0.0, 0.0, 1.0, 1.0], "names": [1.0, 1.0, 0.0, 0.0], "rhymes": [1.0, 1.0, 1.0, 1.0], "![x](http://x)": [0.0] * 4}


def rows(steps: int = 4, **fields: Any) -> list[dict[str, Any]]:
    """Four prompts, two rollouts of each in every step, whose rewards are those of WENT and a tenth less."""
    return [
        whole_row(step, prompt=prompt, reward=rewards[step] - nth / 10, response=f"{prompt} {nth} of {step}", **fields)
        for step in range(steps)
        for prompt, rewards in WENT.items()
        for nth in range(2)
    ]


def test_prompts_over_training(root: Path) -> None:
    """Cohorts by step above the list of all prompts, and the rule in words."""
    add_run(root, "run", rows())

    test = opened("prompts", right_from="0.45")

    assert not test.exception
    shown = table(test)
    assert shown["prompt"].tolist() == ["sums", "rhymes", "![x](http://x)", "names"]
    assert shown["cohort"].tolist() == ["learned", "always solved", "never solved", "forgotten"]
    assert shown["gain"].tolist() == pytest.approx([1.0, 0.0, 0.0, -1.0])
    assert shown["reward by step"].tolist()[0] == pytest.approx([-0.05, -0.05, 0.95, 0.95])
    assert shown["wins"].tolist() == pytest.approx([50.0, 100.0, 0.0, 50.0])
    said = texts(test)
    assert "4 prompts over 4 steps · 1 learned · 1 forgotten · 0 flipping · 1 always solved · 1 never solved · 1 losing" in said
    assert "solved when its mean reward is 0.450 or more. Learned: its first 2 steps were not solved, its last 2 were" in said
    (curves,) = sent(test, "rl_logging_board.curves")
    assert [card["key"] for card in curves["meta"]["cards"]] == ["cohorts", "losing"]
    assert not sent(test, "prompt_timeline")


def test_what_is_solved_is_asked_where_rewards_do_not_tell(root: Path) -> None:
    """Rewards of more than two values: no cohort is drawn until the reader says it, on Groups or here, once for the run.

    What is said stands in the link, and in the settings. A run of 0 and 1 needs no word.
    """
    add_run(root, "run", rows())
    add_run(root, "plain", [row | {"reward": round(row["reward"])} for row in rows()])

    test = opened("prompts", run="run")
    assert not test.exception
    assert "say from which one on a response is right" in texts(test)
    assert "cohort" not in table(test)
    assert [card["key"] for card in sent(test, "rl_logging_board.curves")[0]["meta"]["cards"]] == ["losing"]
    test.number_input(key="right_from_field").set_value(0.45).run()
    assert table(test)["cohort"].tolist() == ["learned", "always solved", "never solved", "forgotten"]
    assert linked(test, "right_from") == "0.45"
    assert "say from which one" not in texts(opened("prompts", run="plain"))
    assert "kind" in table(opened("groups", run="run"))  # opened anew, with a link that says nothing
    assert table(opened("prompts", run="run", right_from="-1"))["cohort"].tolist() == ["always solved"] * 4
    test.number_input(key="right_from_field").set_value(None).run()
    assert "say from which one" in texts(opened("groups", run="run"))


def test_the_link_holds_cohort_rule_text_and_order(root: Path) -> None:
    """What is listed, and what counts as solved, come from the link; a cohort's prompts can be made the filter of every page."""
    add_run(root, "run", rows())

    ascending = {"prompt_sort": "mean reward", "prompt_order": "ascending"}
    ordered = opened("prompts", **ascending)
    assert table(ordered)["prompt"].tolist() == ["![x](http://x)", "sums", "names", "rhymes"]
    assert "1 losing · by mean reward, ascending" in texts(ordered)
    assert "gap by step" in table(opened("prompts", cohort="Losing"))
    test = opened("prompts", cohort="Forgotten", cohort_ends=1, right_from="0.5", **ascending)
    assert table(test)["prompt"].tolist() == ["names"]
    test.button(key="cohort_chip").click().run()
    assert linked(test, "filter") == f"prompt_key = {prompt_key('names')}"
    assert "1 prompt over 4 steps" in texts(test)

    assert table(opened("prompts", right_from="-1"))["cohort"].tolist() == ["always solved"] * 4
    assert table(opened("prompts", prompt_text="RHY"))["prompt"].tolist() == ["rhymes"]
    assert "No prompt matches" in texts(opened("prompts", prompt_text="nothing like it"))


def test_under_a_filter_all_prompts_stand_beside(root: Path) -> None:
    """The cohorts of what the filter leaves stand beside those of all rollouts, which are dashed."""
    add_run(root, "run", rows())

    plain, test = (panels(opened("prompts", right_from=1, **where)) for where in ({}, {"filter": "reward < 1"}))

    title = "What became of the prompts?"
    assert not any(name.endswith(", all") for name in plain[title].values)
    for name, values in plain[title].values.items():
        assert test[title].values[f"{name}, all"] == pytest.approx(values, nan_ok=True)
    assert test[title].values["never solved"][-1] == 100.0


def test_one_prompt_opened(root: Path) -> None:
    """Its rollouts over steps, and the best of its first visit against that of its last until two others are chosen, in the link."""
    add_run(root, "run", rows())
    key = prompt_key("sums")

    test = opened("prompts", prompt=key, right_from="0.45")

    assert not test.exception
    assert "8 rollouts at 4 steps · mean reward 0.450 · -0.0500 → 0.950 · learned · above the reference in 50 %" in texts(test)
    assert panes(test)[:2] == ["sums", "42"]
    (timeline,) = sent(test, "prompt_timeline")
    assert timeline["meta"]["words"] == {"height": "reward", "color": "KL k3", "size": "tokens", "best": "best"}
    assert timeline["place"] == {"chosen": [0, 24], "at": "3"}
    (by_kl,) = sent(opened("prompts", prompt=key, prompt_height="KL k3"), "prompt_timeline")
    assert (by_kl["meta"]["words"]["height"], by_kl["place"]) == ("KL k3", timeline["place"])
    (diff,) = sent(test, "diff_view")
    assert [(run["side"], run["text"]) for run in diff["runs"]][-2:] == [("old", " 0"), ("new", " 3")]

    chosen = opened("prompts", prompt=key, first="rank_0.jsonl:10", second="rank_0.jsonl:1")
    (timeline,) = sent(chosen, "prompt_timeline")
    assert timeline["place"]["chosen"] == [9, 0]
    assert "response B of step 0" in texts(chosen)
    chosen.button(key="prompt_after").click().run()
    assert (linked(chosen, "first"), linked(chosen, "prompt")) == (None, str(prompt_key("rhymes")))
    chosen.button(key="all_prompts").click().run()
    assert linked(chosen, "prompt") is None
    assert "This run has no prompt 5." in texts(opened("prompts", prompt=5))
    assert "is not one of these" in texts(opened("prompts", prompt=key, first="rank_0.jsonl:3", second="rank_0.jsonl:1"))


POOR: dict[str, tuple[list[dict[str, Any]], str]] = {
    "one step": (rows(1), "The run has one step: no prompt has a second step to be compared with."),
    "no reward": ([whole_row(at, reward=..., ref_reward=...) for at in range(2)], "needs reward"),
    "no reference": ([one | {"ref_reward": None} for one in rows(2)], "below the reference need ref_reward"),
    "every prompt once": ([whole_row(at, prompt=f"p{at}") for at in range(3)], "No prompt was rewarded at two steps"),
    "no prompt": ([whole_row(at, prompt=...) for at in range(2)], "needs prompt or prompt_id, which this run does not have"),
}


@pytest.mark.parametrize(("given", "expected"), POOR.values(), ids=POOR)
def test_what_a_run_cannot_show_is_a_line(root: Path, given: list[dict[str, Any]], expected: str) -> None:
    """Which field or which second visit is missing; what there is of prompts is listed all the same, and can be opened."""
    add_run(root, "run", given)

    test = opened("prompts")

    assert not test.exception
    assert expected in texts(test)
    if tables(test):
        assert not clicked(test, tables(test)[0], 0).exception
        assert linked(test, "prompt") is not None
