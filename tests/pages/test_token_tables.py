"""The page Tokens by AppTest: its tables, its pins and its window of tokens."""

import json
from pathlib import Path
from typing import Any

import pytest
from drawn_tables import tables, with_column
from opened_pages import linked, opened, table, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest


def test_tokens_page_lists_the_extreme_tokens(root: Path) -> None:
    """The token with the largest KL comes first, positions counted from 1."""
    add_run(root, "run", [whole_row(0)])

    extremes = table(opened("tokens"))

    assert extremes["position"].tolist()[0] == 4
    assert extremes["token"].tolist()[0] == "·42"


BYTE_LEVEL = ["ĠThe", "Ġcat", "ä", "»", "Ĭ"]


def test_tables_of_tokens_sort_as_numbers_and_read_as_text(root: Path) -> None:
    """Numbers stay numbers, byte-level names are read, split characters say their share, and the name stands beside."""
    others = [[["Ġcat", -0.1], [" dog", -2.5]]] * 5
    n = len(BYTE_LEVEL)
    numbers = {"logprobs": [-0.001, -10.0, -9.0, -100.0, -2.0], "ref_logprobs": [-1.0] * n, "values": ..., "token_rewards": ...}
    add_run(root, "run", [whole_row(0, response_tokens=BYTE_LEVEL, top_logprobs=others, **numbers)])

    test = opened("tokens", rollout="rank_0.jsonl:1", token=1, extreme="logprob", extreme_order="highest")

    assert not test.exception
    extremes = with_column(test, "position").frame
    assert "by logprob, highest first" in texts(test)
    assert extremes["logprob"].tolist() == pytest.approx([-0.001, -2.0, -9.0, -10.0, -100.0])
    assert extremes["token"].tolist() == ["·The", "今 (3 of 3)", "今 (1 of 3)", "·cat", "今 (2 of 3)"]
    assert extremes["token's name"].tolist() == ["ĠThe", "Ĭ", "ä", "Ġcat", "»"]
    alternatives = with_column(test, "probability").frame
    assert alternatives["token"].tolist() == ["·cat", "·dog"]
    assert alternatives["sampled"].tolist() == ["sampled", ""]
    assert alternatives["logprob"].tolist() == pytest.approx([-0.1, -2.5])


def test_token_ids_are_no_metric(root: Path) -> None:
    """A row's token ids colour nothing and stand in no list; the view gets them beside the tokens."""
    add_run(root, "run", [whole_row(0, response_token_ids=[11, 12, 13, 14])])

    test = opened("tokens")

    assert not test.exception
    assert "response_token_ids" not in table(test).columns


PINS = {
    "two beside one": ({"token": 1, "compare": "3,0"}, "3,0"),
    "beside no token": ({"compare": "3,0"}, None),
    "the token itself, twice, and one beyond the end": ({"token": 1, "compare": "1,3,3,999"}, "3"),
    "nonsense": ({"token": 1, "compare": "3,x"}, None),
    "an endless number": ({"token": 1, "compare": "9" * 5000}, None),
}


@pytest.mark.parametrize(("place", "kept"), PINS.values(), ids=PINS)
def test_a_link_names_several_pins(root: Path, place: dict[str, Any], kept: str | None) -> None:
    """What makes sense of a link's pins is pinned and stays in the link, the rest is ignored."""
    add_run(root, "run", [whole_row(0)])

    test = opened("tokens", rollout="rank_0.jsonl:1", **place)

    assert not test.exception
    assert test.session_state["compare"] == kept


def test_another_token_leaves_the_pins_behind(root: Path) -> None:
    """A place that names another token, from a click in a table or the Back button, does not keep what was pinned beside the old one."""
    add_run(root, "run", [whole_row(0)])
    test = opened("tokens", rollout="rank_0.jsonl:1", token=1, compare="3,0")
    assert test.session_state["compare"] == "3,0"

    test.query_params["token"] = "2"
    del test.query_params["compare"]
    test.run()

    assert (test.session_state["token"], test.session_state["compare"]) == (2, None)


def test_tokens_page_draws_a_long_response_whole(root: Path) -> None:
    """A response of some thousand tokens has no windows to turn over."""
    n = 4_500
    numbers = [-0.1] * n
    add_run(
        root,
        "run",
        [whole_row(0, response_tokens=["x"] * n, logprobs=numbers, ref_logprobs=numbers, values=..., token_rewards=...)],
    )

    test = opened("tokens", rollout="rank_0.jsonl:1", token=4_400)

    assert not test.exception
    assert "a window at a time" not in texts(test)


def test_tokens_page_says_what_the_row_lacks(root: Path) -> None:
    """A rollout without reference logprobs names what is missing and draws the rest."""
    add_run(root, "run", [whole_row(0, ref_logprobs=..., values=...)])

    test = opened("tokens")

    assert "This rollout has no ref_logprobs, values" in texts(test)
    assert "logprob" in table(test).columns


def segment_table(test: AppTest) -> Any:
    """The table of segments, which stands above that of the extreme tokens."""
    return with_column(test, "segment").frame


def test_tokens_page_tells_where_it_sits_by_segment(root: Path) -> None:
    """Each segment has its tokens and sums, without masked tokens; metrics the row lacks have no column."""
    tokens = ["<think>", "so", "</think>", "42"]
    add_run(root, "run", [whole_row(0, response_tokens=tokens, loss_mask=[0, 1, 1, 1])])

    test = opened("tokens")

    assert "Where does it sit? By segment" in [one.value for one in test.subheader]
    found = segment_table(test)
    assert found.columns.tolist() == ["segment", "first", "tokens", "masked", "kl, sum", "kl, mean", "value, change"]
    assert found.iloc[:, :4].to_numpy().tolist() == [["think", 1, 2, 1], ["text", 4, 1, 0]]
    assert found["kl, sum"].tolist() == pytest.approx([0.00484, 1.14], rel=0.01)
    assert found["value, change"].tolist() == pytest.approx([0.1, float("nan")], nan_ok=True)


def test_tokens_page_says_when_there_are_no_segments(root: Path) -> None:
    """A response of plain text has no table of segments, but a line that says so."""
    add_run(root, "run", [whole_row(0)])

    assert "By segment: this response has no tags" in texts(opened("tokens"))


def test_tokens_page_tells_how_concentrated_the_kl_is(root: Path) -> None:
    """The share of the few largest tokens is told by the estimator chosen; without reference logprobs nothing is."""
    add_run(root, "run", [whole_row(0), whole_row(1, ref_logprobs=...)])

    said = texts(opened("tokens", step=0))

    assert "4 of 4 tokens hold 100 % of the KL (k3) · the top 1 % (1 token) 99.6 % · 1 token half of it · Gini 0.75" in said
    assert "of |log-ratio| the 4 largest hold 100 %, its top 1 % 95 %" in said
    assert "half of it" not in texts(opened("tokens", step=1))


OTHERS = [[["The", -0.1], ["A", -2.5]], [[" <b>", -3.0], [" answer", -0.2]], None, [[" 41", -0.5]]]


ALTERNATIVES = {
    "likeliest": (0, "Position 1: The was sampled, number 1 of the 2 listed", ["The", "A"], ["sampled", ""]),
    "in any order": (1, "Position 2: ·answer was sampled, number 1 of the 2 listed", ["·answer", "·<b>"], ["sampled", ""]),
    "not among them": (3, "Position 4: ·42 was sampled, not among the 1 listed", ["·41"], [""]),
}


@pytest.mark.parametrize(("token", "said", "tokens", "sampled"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_alternatives_of_the_pinned_token(root: Path, token: int, said: str, tokens: list[str], sampled: list[str]) -> None:
    """The likeliest comes first, the one sampled is marked, and the line says how much of the distribution is listed."""
    add_run(root, "run", [whole_row(0, top_logprobs=OTHERS)])

    test = opened("tokens", rollout="rank_0.jsonl:1", token=token)

    assert not test.exception
    assert said in texts(test)
    found = with_column(test, "probability").frame
    assert found["token"].tolist() == tokens
    assert found["sampled"].tolist() == sampled


NO_ALTERNATIVES = {
    "no token pinned": ({"top_logprobs": OTHERS}, {}, "pin a token to see what else it could have been"),
    "unknown at the token": ({"top_logprobs": OTHERS}, {"token": 2}, "The row has no alternatives at position 3."),
    "token that is not there": ({"top_logprobs": OTHERS}, {"token": 99}, "pin a token to see what else it could have been"),
    "malformed": ({"top_logprobs": "odd"}, {"token": 0}, ""),
    "absent": ({}, {"token": 0}, ""),
}


@pytest.mark.parametrize(("fields", "place", "said"), NO_ALTERNATIVES.values(), ids=NO_ALTERNATIVES)
def test_no_alternatives_are_invented(root: Path, fields: dict[str, Any], place: dict[str, int], said: str) -> None:
    """Where the row lists none for the token the page says so; where it has no such field it says nothing."""
    add_run(root, "run", [whole_row(0, **fields)])

    test = opened("tokens", rollout="rank_0.jsonl:1", **place)

    assert not test.exception
    assert said in texts(test)
    assert ("alternatives" in texts(test) or "pin a token" in texts(test)) == bool(said)
    assert not any("probability" in one.columns for one in tables(test))


def choice(test: AppTest) -> dict[str, Any]:
    """What the token view is told to show."""
    told: dict[str, Any] = json.loads(test.get_by_key("token_view.choice").proto.json)
    return told


FIRST = {"run": "run", "step": "0", "rollout": "rank_0.jsonl:1"}


PADDED = whole_row(
    0, response_tokens=["a", "<pad>", "b", "<pad>", "c", "d"], logprobs=[0.0] * 6, ref_logprobs=..., values=..., token_rewards=...
)


WINDOWS = {
    "a window": ("1-4", "1-2", "2-4"),
    "beyond the end": ("2-9", "1-3", "2-5"),
    "hidden tokens alone": ("3-3", None, None),
    "backwards": ("4-1", None, None),
    "behind the end": ("7-9", None, None),
    "no numbers": ("a-b", None, None),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_link_opens_its_window_of_tokens(root: Path, name: str) -> None:
    """The link counts all tokens, pads between others too, as it does for the pin; a window that makes no sense leaves the URL."""
    asked, shown, link = WINDOWS[name]
    add_run(root, "run", [PADDED, whole_row(0)])

    test = opened("tokens", **FIRST, window=asked)

    assert not test.exception
    assert choice(test)["window"] == shown
    assert linked(test, "window") == link


def test_the_readers_window_goes_into_the_link_and_is_forgotten_with_the_rollout(root: Path) -> None:
    """What the view reports is kept until another rollout is opened; everything is no window at all."""
    add_run(root, "run", [PADDED, whole_row(0)])
    test = opened("tokens", **FIRST)
    for window, link in (("1-3", "2-5"), ("all", None), ("0-1", "0-2")):
        test.session_state["token_view"] = {"choice": {"metric": "logprob", "pinned": None, "scale": "q", "window": window}}
        test.run()
        assert linked(test, "window") == link
    test.session_state["token_view"] = {"choice": None}
    test.button(key="rollout_Next").click().run()
    assert linked(test, "rollout") == "rank_0.jsonl:2"
    assert linked(test, "window") is None


def test_the_ends_of_step_and_run_are_sent_when_they_are_asked_for(root: Path) -> None:
    """A few bytes beside the choice, the same for every rollout of the step, and nothing of the kind for other ranges."""
    add_run(root, "run", [whole_row(step, values=[0.0, 0.1, 0.2, 1.0 + step + i]) for step in range(2) for i in range(3)])
    assert "ends" not in choice(opened("tokens", **FIRST, scale="q"))

    told = [choice(opened("tokens", **FIRST | {"rollout": f"rank_0.jsonl:{line}"}, scale="step"))["ends"] for line in (1, 2)]
    run = choice(opened("tokens", **FIRST, scale="run"))["ends"]

    assert told[0] == told[1]
    assert (told[0]["scope"], told[0]["rollouts"], told[0]["total"]) == ("step", 3, 3)
    assert told[0]["ends"]["value"] == [-3.0, 3.0]
    assert (run["scope"], run["total"], run["ends"]["value"]) == ("run", 6, [-4.0, 4.0])
    assert told[0]["ends"]["prob"] == [0.0, 1.0]
    assert len(json.dumps(run)) < 1_000
