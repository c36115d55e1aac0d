"""Tests of rows that hold samples: what is guessed of such a row is read as it was guessed, and each sample is a rollout."""

from typing import Any

import pytest
from golden_runs import flat
from hypothesis import given, settings
from hypothesis import strategies as st

from board import formats
from board.errors import RowRefused
from board.formats.chat import items_in
from board.formats.contract import Place
from board.formats.json_paths import found
from board.formats.mapping import FromPath, HandMapping, Key
from board.formats.mapping_file import parse
from board.formats.sampled_key import columns_of
from board.formats.suggest_mapping import guess

PLACE = Place("step_3.jsonl", 1)
TEXTS: dict[str, list[dict[str, Any]]] = {
    "an object in each sample": [{"gen": {"text": text, "n": 2}, "reward": at} for at, text in enumerate("ab")],
    "an object in an object": [{"gen": {"out": {"text": text}}, "reward": at} for at, text in enumerate("ab")],
    "parts of a reward in an object": [
        {"text": text, "reward": {"right": at / 2, "tidy": at / 2}} for at, text in enumerate("ab")
    ],
}


NESTED: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(["a", "b c", 1.0, None]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["text", "out", "role"]), inner),
        st.lists(st.fixed_dictionaries({"out": inner}), min_size=1, max_size=2),
    ),
    max_leaves=12,
)


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(["responses", "reward"]), NESTED))
def test_every_path_can_be_followed(row: dict[str, Any]) -> None:
    """What a guess sees at a path the reader finds there."""
    assert all([*items_in(values)] == [*items_in([found(row, path)])] for path, values in columns_of([row]).items())


ASKED = [{"role": "user", "content": "p"}]
MESSAGES: dict[str, dict[str, Any]] = {
    "choices with scores": {
        "messages": ASKED,
        "choices": [{"index": at, "message": {"role": "assistant", "content": text}} for at, text in enumerate("ab")],
        "scores": [0, 1],
    },
    "choices alone": {"messages": ASKED, "choices": [{"message": {"role": "assistant", "content": text}} for text in "ab"]},
    "candidates": {
        "request": {"contents": ASKED},
        "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}} for text in "ab"]},
    },
}


def opened(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The rollouts in a row as the guess at it maps it, flat."""
    return [flat(one) for one in formats.read(row, parse(guess([row], PLACE.name)), PLACE)]


@pytest.mark.parametrize("samples", TEXTS.values(), ids=TEXTS)
def test_what_each_sample_holds(samples: list[dict[str, Any]]) -> None:
    """A path leads through the list once, however deep the objects in it."""
    rows = opened({"prompt": "p", "responses": samples})

    assert [(row["prompt"], row["response"], row["reward"]) for row in rows] == [("p", "a", 0.0), ("p", "b", 1.0)]


@pytest.mark.parametrize("row", MESSAGES.values(), ids=MESSAGES)
def test_messages_that_objects_hold_are_samples(row: dict[str, Any]) -> None:
    """A list of objects with an answer each is as many rollouts, not the turns of one."""
    rows = opened(row)

    assert [(one["prompt"], one["response"], one.get("reward")) for one in rows] == [
        ("user:\np", "a", 0.0 if "scores" in row else None),
        ("user:\np", "b", 1.0 if "scores" in row else None),
    ]


def test_messages_of_both_sides_are_turns() -> None:
    """Objects whose messages are of a conversation hold its turns."""
    said = [{"role": "user", "content": "p"}, {"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}]
    (row,) = opened({"log": [{"at": at, "message": one} for at, one in enumerate(said)], "reward": 1})

    assert (row["prompt"], row["response"]) == ("user:\np", "assistant:\na\n\ntool:\nb")


@pytest.mark.parametrize(
    "row",
    [
        {"reasoning_content": "so and so", "content": "a"},
        {"thinking": "so and so", "response": "a"},
        {"reasoning": "so and so", "content": "a"},
        {"out": {"reasoning_content": "so and so", "text": "a"}},
    ],
)
def test_a_thought_beside_the_answer(row: dict[str, Any]) -> None:
    """It is no answer itself, and stands before it."""
    (one,) = opened({"prompt": "p", **row, "reward": 1.0})

    assert one["response"] == "<think>\nso and so\n</think>\na"


@pytest.mark.parametrize("samples", [[None, None], [{}, {}], None], ids=["nulls", "objects without it", "nothing"])
def test_samples_that_are_all_absent(samples: Any) -> None:
    """A row without one is refused, naming the key: it is no row of no rollouts."""
    by = HandMapping({"step": FromPath(), "response": Key("out.*.text")}, each="response")

    with pytest.raises(RowRefused, match=r"^has no `out\.\*\.text`$"):
        formats.read({"out": samples}, by, PLACE)


DEALT: dict[str, tuple[dict[str, Any], list[tuple[str, str, float]], int]] = {
    "a prompt each": (
        {"prompts": ["p", "p", "q", "q"], "completions": ["a", "b", "c", "d"], "rewards": [0.0, 1.0, 0.5, 0.5]},
        [("p", "a", 0.0), ("p", "b", 1.0), ("q", "c", 0.5), ("q", "d", 0.5)],
        0,
    ),
    "the same prompt each": (
        {"prompts": ["p", "p"], "completions": ["a", "b"], "rewards": [0.0, 1.0]},
        [("p", "a", 0.0), ("p", "b", 1.0)],
        1,
    ),
    "samples of each prompt": (
        {"prompts": ["p", "q"], "completions": [["a", "b"], ["c", "d"]], "rewards": [[0.0, 1.0], [0.5, 0.5]]},
        [("p", "a", 0.0), ("p", "b", 1.0), ("q", "c", 0.5), ("q", "d", 0.5)],
        2,
    ),
    "more samples than prompts": (
        {"prompts": ["p", "q"], "completions": [["a", "b", "c"], ["d"]], "rewards": [[0.0, 1.0, 0.0], [0.5]]},
        [("p", "a", 0.0), ("p", "b", 1.0), ("p", "c", 0.0), ("q", "d", 0.5)],
        2,
    ),
    "turns with a reward": (
        {"prompts": ["p", "q"], "completions": [["a", "b"], ["c", "d"]], "rewards": [0.0, 1.0]},
        [("p", "a\n\nb", 0.0), ("q", "c\n\nd", 1.0)],
        0,
    ),
}


@pytest.mark.parametrize(("row", "expected", "groups"), DEALT.values(), ids=DEALT)
def test_prompts_that_are_dealt_out(row: dict[str, Any], expected: list[tuple[str, str, float]], groups: int) -> None:
    """They make the groups where they differ: none is named then, as groups without names are by prompt, or one for the samples of each."""
    rows = opened(row)

    assert [(one["prompt"], one["response"], one["reward"]) for one in rows] == expected
    assert len({one["group_id"] for one in rows if "group_id" in one}) == groups


def test_each_sample_is_a_rollout() -> None:
    """With `each` a record is a group: lists with an item per sample are dealt out, at any depth, and all else stands in every rollout."""
    by = HandMapping({"step": FromPath(), "response": Key("out"), "reward": Key("judged.right")}, each="response")
    record = {
        "out": ["a", "b", None],
        "judged": {"right": [True, False, True], "by": "x"},
        "ids": [[1], [2], [3]],
        "pair": [1, 2],
    }

    rows = formats.read(record, by, Place("step_3/rows.jsonl", 1))

    assert [row.texts["response"] for row in rows] == ["a", "b"]
    assert [row.numbers["reward"] for row in rows] == [1.0, 0.0]
    assert [row.texts["ids"] for row in rows] == ["[1]", "[2]"]
    assert [row.texts["pair"] for row in rows] == ["[1, 2]"] * 2
    assert {row.ids["group_id"] for row in rows} == {"step_3/rows.jsonl:1"}


def test_each_of_a_path_into_a_list() -> None:
    """A path may lead through a list into each of its objects."""
    by = HandMapping({"step": FromPath(), "response": Key("out.*.text"), "reward": Key("out.*.score")}, each="response")

    rows = formats.read({"out": [{"text": "a", "score": 1}, {"text": "b", "score": 0}]}, by, Place("step_3/rows.jsonl", 1))

    assert [(row.texts["response"], row.numbers["reward"]) for row in rows] == [("a", 1.0), ("b", 0.0)]
