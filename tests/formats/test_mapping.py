"""Tests of the format that somebody wrote down by hand."""

import contextlib
import json
from typing import Any

import numpy as np
import pytest
from damages import damaged

from board import formats
from board.errors import RowRefused
from board.formats.contract import Format, Head, Place
from board.formats.mapping import Constant, FromPath, HandMapping, Key
from board.formats.row import Row
from board.sources import bounds

CHAT = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
AT_3 = Place("step_3/rows.jsonl", 1)


def mapping(whole_sequence: bool = False, parts: tuple[tuple[str, float], ...] = (), **paths: str) -> HandMapping:
    """A mapping of these names to keys, its steps from the path."""
    return HandMapping({"step": FromPath(), **{name: Key(path) for name, path in paths.items()}}, parts, whole_sequence)


def read(by: HandMapping, record: dict[str, Any], place: Place = AT_3) -> Row:
    """The one rollout of a record."""
    (row,) = formats.read(record, by, place)
    return row


def test_is_a_format() -> None:
    """What is written by hand is used as any module is."""
    by: Format = mapping(response="text", logprobs="lp", loss_mask="mask")

    assert by.NAME == by.FAMILY == "mapping by hand"


def test_fields() -> None:
    """Keys at any depth stand under our names; those that were not named keep theirs, and are not kept twice."""
    by = mapping(response="output.text", prompt="q", reward="scores.total", group_id="uid")
    record = {
        "output": {"text": "4", "n": 7},
        "q": "2+2?",
        "scores": {"total": 1.0, "acc": 0.5},
        "uid": 12,
        "seed": 3,
        "why": "x",
    }

    row = read(by, record)

    assert row.step == 3
    assert row.texts == {"prompt": "2+2?", "response": "4", "why": "x", "output": '{"n": 7}', "scores": '{"acc": 0.5}'}
    assert row.numbers == {"reward": 1.0, "seed": 3.0, "output.n": 7.0, "scores.acc": 0.5}
    assert row.ids == {"group_id": "12"}


def test_what_is_not_mapped_is_not_taken_for_ours() -> None:
    """A key that has our name by chance is kept apart: the mapping says what is ours."""
    row = read(mapping(response="clean"), {"clean": "4", "response": "raw", "values": [1.0], "reward": 2.0})

    assert row.texts["response"] == "4"
    assert row.texts["response (logged)"] == "raw"
    assert row.numbers == {"reward (logged)": 2.0}
    assert row.arrays == {}


def test_constants_and_the_path() -> None:
    """What no key says may be the same for all, or stand in the path."""
    by = HandMapping({"step": Constant(0), "response": Key("t"), "data_source": Constant("gsm8k"), "split": FromPath()})

    row = read(by, {"t": "4"}, Place("eval/x.jsonl", 1))

    assert (row.step, row.ids) == (0, {"data_source": "gsm8k", "split": "evaluation"})
    assert read(mapping(response="t"), {"t": "4"}, Place("step_3/test_outputs.jsonl", 1)).ids == {"split": "evaluation"}


SPLITS: dict[str, tuple[Any, str | None]] = {
    "train": ("train", "train"),
    "training": ("training", "train"),
    "val": ("val", "evaluation"),
    "test": ("test", "evaluation"),
    "null": (None, None),
}


@pytest.mark.parametrize(("value", "split"), SPLITS.values(), ids=SPLITS)
def test_split_by_word(value: Any, split: str | None) -> None:
    """Whatever is not training is an evaluation, and nothing is nothing."""
    assert read(mapping(response="t", split="mode"), {"t": "4", "mode": value}).ids.get("split") == split


REWARDS: dict[str, tuple[dict[str, Any], float | None]] = {
    "weighted": ({"r": {"acc": 1.0, "format": 0.5}}, 1.25),
    "a part is null": ({"r": {"acc": 1.0, "format": None}}, 1.0),
    "a part is NaN": ({"r": {"acc": float("nan"), "format": 1.0}}, 0.5),
    "none is there": ({}, None),
}


@pytest.mark.parametrize(("record", "reward"), REWARDS.values(), ids=REWARDS)
def test_reward_is_the_sum_of_its_parts(record: dict[str, Any], reward: float | None) -> None:
    """Parts that are there are weighed and summed, none is made up, and each stays a number of its own."""
    by = mapping(response="t", parts=(("r.acc", 1.0), ("r.format", 0.5)))

    row = read(by, {"t": "4", **record})

    assert row.numbers.get("reward") == reward
    assert {name for name in row.numbers if name != "reward"} == {
        f"r.{name}" for name, x in record.get("r", {}).items() if x is not None
    }


CHATS: dict[str, tuple[dict[str, str], dict[str, Any], str | None, str]] = {
    "one list for both": ({"response": "m", "prompt": "m"}, {"m": CHAT}, "user:\n2+2?", "4"),
    "a list alone": ({"response": "m"}, {"m": CHAT}, "user:\n2+2?", "4"),
    "a list each": ({"response": "r", "prompt": "p"}, {"p": CHAT[:1], "r": CHAT[1:]}, "user:\n2+2?", "4"),
    "a prompt beside a whole chat": (
        {"response": "m", "prompt": "p"},
        {"m": CHAT, "p": "x"},
        "x",
        "user:\n2+2?\n\nassistant:\n4",
    ),
    "texts": ({"response": "r", "prompt": "p"}, {"r": "4", "p": "2+2?"}, "2+2?", "4"),
    "JSON for both": ({"response": "m"}, {"m": json.dumps(CHAT)}, "user:\n2+2?", "4"),
    "JSON each": (
        {"response": "r", "prompt": "p"},
        {"p": json.dumps(CHAT[:1], separators=(",", ":")), "r": json.dumps(CHAT[1:], indent=1)},
        "user:\n2+2?",
        "4",
    ),
    "JSON of no messages": ({"response": "r"}, {"r": '[{"name": "f"}]'}, None, '[{"name": "f"}]'),
    "calls as JSON that a model wrote": (
        {"response": "r"},
        {"r": '[{"type": "function_call"}]'},
        None,
        '[{"type": "function_call"}]',
    ),
    "half of a JSON": ({"response": "r"}, {"r": '[{"role": "user"'}, None, '[{"role": "user"'),
}


@pytest.mark.parametrize(("paths", "record", "prompt", "response"), CHATS.values(), ids=CHATS)
def test_messages(paths: dict[str, str], record: dict[str, Any], prompt: str | None, response: str) -> None:
    """Messages are cut where the policy begins, unless prompt and response were told apart already."""
    row = read(mapping(False, (), **paths), record)

    assert (row.texts.get("prompt"), row.texts["response"]) == (prompt, response)


def test_arrays_of_the_response() -> None:
    """Arrays are taken as they are, and a masked token's logprob, which is a dummy, becomes null; the mask stays."""
    by = mapping(response_tokens="t", logprobs="lp", loss_mask="m", entropies="h")

    row = read(by, {"t": ["a", "b", "c"], "lp": [-0.1, 0.0, -0.3], "m": [1, 0, 1], "h": [1, 2, 3]})

    np.testing.assert_allclose(row.arrays["logprobs"], [-0.1, np.nan, -0.3], rtol=1e-6)
    np.testing.assert_array_equal(row.arrays["loss_mask"], [1, 0, 1])
    np.testing.assert_array_equal(row.arrays["entropies"], [1, 2, 3])


@pytest.mark.parametrize("as_arrays", [False, True], ids=["lists", "float32"])
def test_arrays_of_the_whole_sequence(as_arrays: bool) -> None:
    """Everything per token is cut to the response, which the mask shows; the ids before it are the prompt's."""
    by = mapping(True, response_token_ids="ids", logprobs="lp", loss_mask="m", response="r")
    lists: dict[str, list[float]] = {"lp": [0.0, 0.0, -0.1, 0.0, -0.2, 0.0], "m": [0, 0, 1, 0, 1, 0]}
    arrays = {name: np.array(values, np.float32) if as_arrays else values for name, values in lists.items()}
    record: dict[str, Any] = {"ids": [1, 2, 3, 4, 5, 0], "r": "4", **arrays}

    (mapped,), row = by.rollouts(record, AT_3), read(by, record)
    assert isinstance(mapped, dict)

    assert (mapped["prompt_token_ids"], mapped["response_token_ids"]) == ([1, 2], [3, 4, 5])
    np.testing.assert_array_equal(row.arrays["loss_mask"], [1, 0, 1])
    np.testing.assert_allclose(row.arrays["logprobs"], [-0.1, np.nan, -0.2], rtol=1e-6)
    np.testing.assert_allclose(record["lp"], lists["lp"], rtol=1e-6)


REFUSED: dict[str, tuple[HandMapping, dict[str, Any], str]] = {
    "no response": (mapping(response="out.text"), {"out": {}}, "has no `out.text`, its response"),
    "no step": (HandMapping({"step": Key("at"), "response": Key("t")}), {"t": "4"}, "has no `at`, its step"),
    "a part that is a word": (
        mapping(response="t", parts=(("acc", 1.0),)),
        {"t": "4", "acc": "good"},
        '`acc` is "good", not a number',
    ),
    "a split that is true": (mapping(response="t", split="eval"), {"t": "4", "eval": True}, "`eval` is true, not a word"),
    "a mask that is text": (
        mapping(response="t", loss_mask="m"),
        {"t": "4", "m": "110"},
        '`loss_mask` is "110", not a list',
    ),
    "unequal lengths": (
        mapping(True, response="t", loss_mask="m", logprobs="lp"),
        {"t": "4", "m": [0, 1], "lp": [-0.1]},
        "`logprobs` has 1 item and `loss_mask` 2",
    ),
}


@pytest.mark.parametrize(("by", "record", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused_by_the_run_s_own_key(by: HandMapping, record: dict[str, Any], reason: str) -> None:
    """A record that lacks what the mapping promised is refused with the key as the run calls it."""
    with pytest.raises(RowRefused, match=reason):
        read(by, record)


RICH = {
    "ids": [1, 2, 3],
    "out": {"text": "4"},
    "chat": CHAT,
    "lp": [0.0, -0.1, -0.2],
    "m": [0, 1, 1],
    "top": [[["a", -0.1]], None, None],
    "r": {"acc": 1.0},
    "mode": "val",
}


@pytest.mark.parametrize("whole_sequence", [False, True])
def test_damage_is_read_or_refused(whole_sequence: bool) -> None:
    """One wrong value anywhere in a record ends in a rollout or in a reason."""
    paths = {
        "prompt": "chat",
        "response_token_ids": "ids",
        "logprobs": "lp",
        "loss_mask": "m",
        "top_logprobs": "top",
        "split": "mode",
    }
    by = mapping(whole_sequence, (("r.acc", 1.0),), response="out.text", **paths)

    for record in damaged(RICH):
        with contextlib.suppress(RowRefused):
            read(by, record)
        by.recognise(Head("x", (record,)))
        by.note(Head("x", (record,)))


def test_a_path_without_a_step_is_refused() -> None:
    """Steps that were to come from paths are not made up."""
    with pytest.raises(RowRefused, match="path that says no step"):
        read(mapping(response="t"), {"t": "4"}, Place("rows.jsonl", 1))


def test_recognised_by_what_was_sampled() -> None:
    """Files without it (metrics, logs) are not this run's rollouts; null in one record does not matter."""
    by = mapping(response="out.text", response_tokens="tokens")

    assert by.recognise(Head("x", ({"out": None}, {"out": {"text": "4"}})))
    assert by.recognise(Head("x", ({"tokens": ["4"]},)))
    assert not by.recognise(Head("x", ({"loss": 0.5, "out": {}},)))


def test_note_names_keys_that_are_nowhere() -> None:
    """A typing error in a key would else be an empty column that nobody explains; and a sum is said to be one."""
    by = mapping(response="t", prompt="promt", parts=(("acc", 1.0),))

    assert (
        by.note(Head("x", ({"t": "4", "acc": 1.0},)))
        == "The reward is the weighted sum of acc. The first records have no `promt` (prompt)."
    )
    assert mapping(response="t").note(Head("x", ({"t": "4"},))) == ""


TEXTS_OF_REWARDS: dict[str, tuple[Any, float | None]] = {
    "true": ("True", 1.0),
    "no": ("no", 0.0),
    "a number in quotes": ("0.5", 0.5),
    "a list of one": ([0.5], 0.5),
    "an object of one": ({"judge": "yes"}, 1.0),
    "a grade": ("C", 1.0),
    "a grade in a list": (["C"], 1.0),
    "another word": ("maybe", None),
    "true itself": (True, 1),
}


@pytest.mark.parametrize(("value", "number"), TEXTS_OF_REWARDS.values(), ids=TEXTS_OF_REWARDS)
def test_rewards_that_are_texts(value: Any, number: float | None) -> None:
    """Verdicts, numbers in quotes and the texts of the mapping's table are numbers; what is read so is one note, not a flag a row."""
    by = HandMapping({"step": FromPath(), "response": Key("r"), "reward": Key("v")}, reward_values={"C": 1.0})

    row = read(by, {"r": "x", "v": value})

    assert row.numbers.get("reward") == number
    assert bool(row.flags) == (number is None)
    if isinstance(value, str):
        assert by.note(Head("a.jsonl", ({"r": "x", "v": value},))) == "The reward is a text, read as a number: C 1."


def test_parts_that_are_texts_are_summed() -> None:
    """A part that is a verdict counts as the number that it stands for."""
    assert read(mapping(parts=(("a", 1.0), ("b", 0.5)), response="r"), {"r": "x", "a": "true", "b": 1}).numbers["reward"] == 1.5


STEP_KEYS = {"12": 12, "step_12": 12, "iter-7": 7, "v1.5": None, "-5": None, "9" * 20: None, "last": None, "0.5": None, "步3": 3}
"""Key over a list of rows → the step that it says."""


@pytest.mark.parametrize("key", STEP_KEYS)
def test_the_key_over_rows_is_their_step(key: str) -> None:
    """A whole number, alone or behind a word; any other key is no step, and nothing is made of a part of it."""
    by = HandMapping({"step": Key("*"), "response": Key("r")}, rows="*")
    refused: list[str] = []

    rows = formats.read({key: [{"r": "x"}]}, by, AT_3, refuse=refused.append)

    assert [row.step for row in rows] == ([] if STEP_KEYS[key] is None else [STEP_KEYS[key]])
    assert len(refused) == (STEP_KEYS[key] is None)


def test_rows_within_one_object() -> None:
    """Each row is a rollout; what it lacks is from the objects around it, the nearest first; one that is none is refused alone."""
    fields = {"step": Key("epoch"), "prompt": Key("question"), "response": Key("completions"), "reward": Key("score")}
    by = HandMapping(fields, rows="results.*.completions")
    results = {
        "a": {"question": "A?", "score": 1, "completions": ["x", "y"]},
        "b": {"question": "B?", "completions": ["z", {"text": "w"}]},
    }
    refused: list[str] = []

    rows = formats.read({"epoch": 3, "score": 0.5, "results": results}, by, AT_3, refuse=refused.append)

    assert [(row.step, row.texts["prompt"], row.texts["response"], row.numbers["reward"]) for row in rows] == [
        (3, "A?", "x", 1.0),
        (3, "A?", "y", 1.0),
        (3, "B?", "z", 0.5),
    ]
    assert refused == ["row 4 of `results.*.completions` has no `completions`, its response"]
    assert by.recognise(Head("a.json", ({"epoch": 3, "results": results},)))
    with pytest.raises(RowRefused, match=r"has no rows at `results.\*.completions`; its keys are: epoch"):
        formats.read({"epoch": 3}, by, AT_3)


def test_more_rows_than_anybody_writes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file of very many empty rows ends in one reason, not in as many."""
    monkeypatch.setattr(bounds, "ROWS", 1_000)
    refused: list[str] = []

    with pytest.raises(RowRefused, match="holds more than 1,000 rollouts in one record"):
        formats.read(
            {"rows": [{}] * 2_000},
            HandMapping({"step": Constant(0), "response": Key("r")}, rows="rows"),
            AT_3,
            refuse=refused.append,
        )
    assert len(refused) == 1_000


@pytest.mark.parametrize("record", [{"out": "a"}, {"out": []}, {}, {"out": 3}], ids=str)
def test_each_of_what_is_no_list(record: dict[str, Any]) -> None:
    """Where there is no list of samples the row is refused, by the key."""
    by = HandMapping({"step": FromPath(), "response": Key("out")}, each="response")

    with pytest.raises(RowRefused, match="`out`"):
        formats.read(record, by, AT_3)


def test_a_reward_at_each_token() -> None:
    """A list under the reward's key that is as long as the tokens is theirs."""
    by = HandMapping({"step": FromPath(), "response_tokens": Key("words"), "reward": Key("score")})
    (row,) = formats.read({"words": ["4", "."], "score": [0.0, 1.5]}, by, Place("step_3.jsonl", 1))

    assert (row.numbers["reward"], [*row.arrays["token_rewards"]]) == (1.5, [0.0, 1.5])


def test_a_note_on_what_is_not_read() -> None:
    """Lists beside the rows are named, and what one step for all files means."""
    by = HandMapping({"step": Constant(0), "response": Key("t")}, rows="mine")

    note = by.note(Head("a.json", ({"mine": [{"t": "4"}], "yours": [{"t": "5"}]},)))

    assert note.startswith("Lists that are not read: `yours`.")
    assert note.endswith("those of one prompt are a group, whichever files they are in.")
