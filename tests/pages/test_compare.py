"""The page Compare by AppTest: no run beside, two runs on the prompts of both, one of them opened, and what cannot be compared."""

from pathlib import Path
from typing import Any

import pytest
from drawn_panels import panels
from drawn_tables import with_column
from opened_pages import facts, linked, opened, panes, sent, table, texts, whole_row
from rows import add_run

from board.runs.prompt_keys import prompt_key


def rows(better: float, steps: int = 3, prompts: int = 4, **fields: Any) -> list[dict[str, Any]]:
    """Two rollouts of each prompt at each step, with rewards by prompt; those of the first prompt lie `better` higher."""
    return [
        whole_row(
            step,
            prompt=f"prompt {nth} ![x](http://x)",
            reward=nth + again / 10 + (better if nth == 0 else 0.0),
            response=f"{better} {nth} {again} at {step}",
            **fields,
        )
        for step in range(steps)
        for nth in range(prompts)
        for again in range(2)
    ]


@pytest.fixture
def two(root: Path) -> Path:
    """Two runs of the same prompts; the second was better at the first prompt alone, and estimates KL in another way."""
    add_run(root, "a", rows(0.0))
    add_run(root, "b", rows(2.0, prompts=3))
    for name, estimator in (("a", "k1"), ("b", "k3")):
        (root / name / "config.yaml").write_text(f"algorithm: {{kl_penalty: {estimator}}}\n")
    return root


def test_without_a_second_run_one_is_chosen_here(two: Path) -> None:
    """One line says how, and a list lays one beside."""
    test = opened("compare", run="a")

    assert not test.exception
    assert "No run to compare with this one is chosen yet" in texts(test)
    test.selectbox(key="compare_add").select("b").run()
    assert test.query_params["beside"] == ["a", "b"]
    assert "win 1 (33 %)" in texts(test)


def test_the_only_run(root: Path) -> None:
    """There is nothing to choose."""
    add_run(root, "a", rows(0.0))

    assert "There is no other run under this root" in texts(opened("compare", run="a"))


def test_same_prompts(two: Path) -> None:
    """The difference, what matched, wins and losses, the curve, the scatter and the prompts that differ most; the link opens one."""
    test = opened("compare", run="a", beside="b")

    assert not test.exception
    assert [*facts(test).values()] == ["+0.667", "0 to +2.00", "3", "1", "0"]
    said = texts(test)
    assert "win 1 (33 %) · tie 2 (67 %) · loss 0 (0 %)" in said
    assert "Only 3 prompts could be paired" in said
    drawn = panels(test)["At which steps does B lie above A in reward?"]
    assert drawn.values["B − A"] == pytest.approx([2 / 3] * 3)
    listed = table(test)
    assert sorted(listed["prompt"]) == [f"prompt {nth} ![x](http://x)" for nth in range(3)]
    assert listed["prompt"].iloc[0] == "prompt 0 ![x](http://x)"
    assert listed["B − A"].tolist() == pytest.approx([2.0, 0.0, 0.0])
    (scatter,) = [one for one in sent(test, "scatter") if "meta" in one]
    assert scatter["meta"]["labels"][0] == "prompt 0 ![x](http://x)"
    assert "Click a dot or a row" in said

    swapped = test.button(key="compare_swap").click().run()
    assert [linked(swapped, name) for name in ("compare_a", "compare_b")] == ["b", "a"]
    assert facts(swapped)["Difference, B − A"] == "-0.667"
    elsewhere = texts(opened("compare", run="a", beside="b", compare_b="gone", filter="reward < 9"))
    assert "The link compares 'gone', which is not among the compared runs: b is taken as B." in elsewhere
    assert "KL is estimated by k1 in A and k3 in B (algorithm.kl_penalty)" in elsewhere
    assert "only rollouts that the filter leaves: reward < 9" in elsewhere
    one = opened("compare", run="a", beside="b", compare_visits="at this step", step=1)
    assert [*facts(one).values()][::3] == ["+0.667", "1"]
    assert "3 pairs" in texts(one)
    assert "Compared is step 1 alone." in texts(one)
    assert not panels(one)
    last = opened("compare", run="a", beside="b", compare_visits="last visits", compare_number="tokens")
    assert "Each prompt's last step in either run is paired" in texts(last)
    assert facts(last)["Difference, B − A"] == "0"


def test_a_prompt_opened(two: Path) -> None:
    """What was asked, a response of either run as word diff and as tokens in colours of both, and the ways to each in its own run."""
    link: dict[str, str | int] = {"run": "a", "beside": "b", "pair_prompt": prompt_key("prompt 0 ![x](http://x)")}

    test = opened("compare", **link, compare_response="lowest", scale="run")

    assert not test.exception
    assert panes(test)[0] == "prompt 0 ![x](http://x)"
    (diff,) = sent(test, "diff_view")
    assert [(one["side"], one["text"]) for one in diff["runs"]] == [
        ("old", "0"),
        ("new", "2"),
        ("both", ".0 0 0 at 0"),
    ]
    assert with_column(test, "which").frame[["which", "run"]].to_numpy().tolist() == [["A at step 0", "a"], ["B at step 0", "b"]]
    choices = sent(test, "token_choice")
    assert {one["ends"]["where"] for one in choices} == {"both runs"}
    assert choices[0]["ends"]["ends"] == choices[1]["ends"]["ends"]
    assert choices[0]["ends"]["total"] == 24 + 18
    every: list[Any] = list(test.get("page_link"))
    ways = {one.label: one.proto.query_string for one in every if one.label.endswith((" of A", " of B"))}
    assert sorted(ways) == ["Response of A", "Response of B", "Tokens of A", "Tokens of B"]
    assert "run=b" in ways["Tokens of B"]
    assert "rank_0.jsonl" in ways["Tokens of B"]
    assert "is not one that both runs saw" in texts(opened("compare", **{**link, "pair_prompt": 5}))


def test_a_step_that_one_run_lacks(two: Path) -> None:
    """The page says which; the choice stays."""
    add_run(two, "long", rows(0.0, steps=5))

    test = opened("compare", run="long", beside="b", compare_visits="at this step", step=4)

    assert not test.exception
    assert "b has no rollout of step 4." in texts(test)


NOT_COMPARED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no common prompt": ([whole_row(0, prompt="another")], "No prompt is in both runs"),
    "one prompt": (
        [whole_row(0, prompt="prompt 0 ![x](http://x)")],
        "Too few prompts were paired to say whether the runs differ",
    ),
    "other steps": ([whole_row(9, prompt="prompt 0 ![x](http://x)")], "compare “last visits”"),
}


@pytest.mark.parametrize("name", NOT_COMPARED)
def test_what_cannot_be_compared_is_a_line(two: Path, name: str) -> None:
    """No error, and a sentence that says why."""
    given, expected = NOT_COMPARED[name]
    add_run(two, "c", given)

    test = opened("compare", run="a", beside="c")

    assert not test.exception
    assert expected in texts(test)
