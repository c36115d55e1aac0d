"""The page Search: what is found over all steps, whether it pays, its places in context, and the way to each."""

import json
from pathlib import Path
from typing import Any

from drawn_panels import panels
from opened_pages import GOOD, TEXT_ALONE, linked, opened, panes, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

ROWS = [
    whole_row(
        step, response=f"The answer is {4 + at}2, I know" if at % 2 else "I do not know", reward=float(at), prompt=f"six {at}?"
    )
    for step in range(3)
    for at in range(4)
]


def found(test: AppTest) -> list[dict[str, Any]]:
    """The lines of the concordance."""
    (one,) = [one for one in test.get("bidi_component") if one.proto.component_name.endswith("concordance")]
    rows: list[dict[str, Any]] = json.loads(one.proto.json)["rows"]
    return rows


def test_what_stands_where_and_whether_it_pays(root: Path) -> None:
    """Places are counted over all steps, drawn by step beside what the rest earns, and listed with what stands around them."""
    add_run(root, "run", ROWS)

    test = opened("search", q="answer is", step=1)

    assert not test.exception
    assert "6 places in 6 of 12 rollouts (50.0%)" in texts(test)
    drawn = panels(test)
    assert drawn["In how many rollouts does it stand?"].values == {"with it": [50.0] * 3}
    assert drawn["Does it pay?"].values == {"with it": [2.0] * 3, "the rest": [1.0] * 3}
    assert [(line["left"], line["match"], line["right"]) for line in found(test)[:2]] == [
        ("The ", "answer is", " 52, I know"),
        ("The ", "answer is", " 72, I know"),
    ]
    assert [line["facts"] for line in found(test)[:2]] == [["0", "1", "response"], ["0", "3", "response"]]


def test_a_place_is_a_link(root: Path) -> None:
    """A link opens a place: its rollout stands beside the list, marked there, on Responses too."""
    add_run(root, "run", ROWS)
    place: dict[str, str | int] = {"q": "answer", "step": 1, "rollout": "rank_0.jsonl:6", "mark": "response:4-10"}

    for page in ("search", "responses"):
        test = opened(page, **place)
        marks = [
            json.loads(one.proto.json)["mark"]
            for one in test.get("bidi_component")
            if one.proto.component_name.endswith("verbatim")
        ]
        assert not test.exception, page
        assert [4, 10] in marks, page
        assert "The answer is 52, I know" in panes(test), page
        assert linked(test, "mark") == "response:4-10", page


def test_prompts_count_once_a_step(root: Path) -> None:
    """Rollouts of one prompt in one step hold its places once in the list, and all of them are counted."""
    add_run(root, "run", [whole_row(step, prompt="why six?") for step in range(2) for _ in range(3)])

    test = opened("search", q="six")

    assert "6 places in 6 of 6 rollouts" in texts(test)
    assert [line["facts"][0] for line in found(test)] == ["0", "1"]


def test_a_search_becomes_a_filter(root: Path) -> None:
    """The rollouts that hold it can be kept on every page."""
    add_run(root, "run", ROWS)
    test = opened("search", q="answer is")

    test.button(key="search_filter").click().run()

    assert not test.exception
    assert (
        linked(test, "filter") == "(regexp_matches(prompt, '(?im)answer\\ is') OR regexp_matches(response, '(?im)answer\\ is'))"
    )
    assert "6 places in 6 of 6 rollouts" in texts(test)


def test_what_cannot_be_searched_is_said(root: Path) -> None:
    """A wrong expression, a text that is nowhere, a run without texts or rewards: each is one sentence, and nothing breaks."""
    add_run(root, "run", GOOD)
    add_run(root, "tokens", [whole_row(0, response=..., prompt=..., ref_response=...)])
    add_run(root, "texts", [TEXT_ALONE | {"reward": None}])
    said = {
        "missing ): (a": opened("search", run="run", q="(a", search_as="Regular expression"),
        "0 places in 0 of 12 rollouts": opened("search", run="run", q="nowhere to be found"),
        "Type what to look for": opened("search", run="run"),
        "needs prompt or response": opened("search", run="tokens", q="a"),
        "Whether it pays needs reward": opened("search", run="texts", q="answer"),
    }

    for sentence, test in said.items():
        assert not test.exception, sentence
        assert sentence in texts(test) + str([one.value for one in test.markdown]), sentence


def test_under_a_filter_all_rollouts_stand_beside(root: Path) -> None:
    """The curves of what the filter leaves stand beside those of all; the list and the counts are of what it leaves."""
    add_run(root, "run", ROWS)

    test = opened("search", q="answer is", filter="reward >= 2")

    assert not test.exception
    assert "3 places in 3 of 6 rollouts (50.0%)" in texts(test)
    assert len(found(test)) == 3
    drawn = panels(test)
    assert drawn["In how many rollouts does it stand?"].values == {"with it": [50.0] * 3, "with it, all": [50.0] * 3}
    assert drawn["Does it pay?"].values["with it, all"] == [2.0] * 3
    assert drawn["Does it pay?"].values["with it"] == [3.0] * 3
