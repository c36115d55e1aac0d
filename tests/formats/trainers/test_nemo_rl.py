"""Tests of NeMo-RL's training and validation data."""

from typing import Any

import pytest
from golden_runs import flat, golden, golden_head, read_one
from hypothesis import given
from hypothesis import strategies as st

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import nemo_rl

PROMPT = "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n"
TRAIN = "exp_001/train_data_step1.jsonl"
VALIDATION = "exp_001/val_data_step2.jsonl"
ROW: dict[str, Any] = {
    "content": [["p", "r"]],
    "rewards": [1.0],
    "input_lengths": [3],
    "token_ids": [[1, 2, 3, 0]],
    "token_loss_mask": [[0, 1, 1, 0]],
    "advantages": [[0.5, 0.5, 0.5, 0.5]],
    "generation_logprobs": [[0.0, -1.0, -2.0, 0.0]],
    "prev_logprobs": [[0.0, -1.5, -2.5, 0.0]],
    "idx": 0,
}


def test_a_row_of_training() -> None:
    """Values are taken out of their lists, arrays begin at the response and end before the padding, what is masked has no number."""
    assert flat(golden(nemo_rl, TRAIN)[0]) == {
        "step": 1,
        "split": "train",
        "sample_id": "0",
        "prompt": PROMPT,
        "response": "4<|im_end|>Environment: correct",
        "reward": 1.0,
        "input_lengths": 8.0,
        "sample_loss_mask": 1.0,
        "response_token_ids": [19, 2, 90, 91],
        "response_tokens": [" 19", " 2", " 90", " 91"],
        "loss_mask": [1, 1, 0, 0],
        "advantages": [pytest.approx(0.7), pytest.approx(0.7), None, None],
        "rollout_logprobs": [pytest.approx(-0.2), pytest.approx(-0.01), None, None],
        "logprobs": [pytest.approx(-0.21), pytest.approx(-0.01), None, None],
    }


def test_a_response_of_several_turns() -> None:
    """It begins with the policy's first message, and holds what the environment said between."""
    row = golden(nemo_rl, TRAIN)[1]

    assert row.texts["prompt"] == PROMPT
    assert row.texts["response"].startswith("<tool_call>")
    assert row.texts["response"].endswith("</tool_call><|im_end|>4Es ist 4 ✓<|im_end|>")
    assert flat(row)["loss_mask"] == [1, 1, 0, 1, 1, 1, 1]
    assert [value is None for value in flat(row)["rollout_logprobs"]] == [False, False, True, False, True, False, False]


def test_dynamic_sampling() -> None:
    """The reward of the row is the filtered one; the other is of another sample and does not appear."""
    (row,) = golden(nemo_rl, "exp_001/train_data_step2.jsonl")

    assert row.step == 2
    assert row.numbers["reward"] == 1.0
    assert not [name for name in row.numbers if "rewards" in name]
    assert row.texts["agent_ref"] == '{"name": "math"}'


def test_a_row_of_validation() -> None:
    """Messages are turns, and it is an evaluation."""
    first, second = golden(nemo_rl, VALIDATION)

    assert flat(first) == {
        "step": 2,
        "split": "evaluation",
        "sample_id": "0",
        "prompt": "system:\nBe brief.\n\nuser:\n2+2?",
        "response": "4",
        "reward": 1.0,
    }
    assert second.texts["response"].endswith("\n\nenvironment:\n4\n\nassistant:\n六")
    assert second.flags == ["reward is nan: it enters no mean"]


def test_a_row_of_distillation() -> None:
    """It has neither reward nor tokens, and none are invented."""
    (row,) = golden(nemo_rl, "exp_002/train_data_step7.jsonl")

    assert flat(row) == {"step": 7, "sample_id": "0", "prompt": PROMPT, "response": "4<|im_end|>", "input_lengths": 6.0}


READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no length": ({"input_lengths": None}, {"response_token_ids": [2, 3], "response": "r"}),
    "a length beyond the arrays": ({"input_lengths": [99]}, {"response_token_ids": [2, 3, 0], "loss_mask": [1, 1, 0]}),
    "a length that is none": ({"input_lengths": ["x"]}, {"response_token_ids": [2, 3], "input_lengths": "x"}),
    "nothing trained on": ({"token_loss_mask": [[0, 0, 0, 0]]}, {"logprobs": [], "loss_mask": [], "response": "r"}),
    "trained from the first token": ({"token_loss_mask": [[1, 1, 1, 0]]}, {"response_token_ids": [1, 2, 3], "prompt": "p"}),
    "an array nobody declared": ({"routing": [[9, 8, 7, 6]], "input_lengths": [4]}, {"routing": [8, 7, 6]}),
    "logprobs missing": ({"prev_logprobs": [None]}, {"rollout_logprobs": [-1.0, -2.0]}),
    "a null among logprobs": ({"prev_logprobs": [[0, None, -1, 0]]}, {"logprobs": [None, -1.0]}),
    "one message": ({"content": [["r"]]}, {"response": "r"}),
    "prompts of several messages": ({"content": [["s", "p", "r"]]}, {"prompt": "sp", "response": "r"}),
    "a message that is no text": ({"content": [["p", {"image": 1}, "r"]]}, {"prompt": 'p{"image": 1}', "response": "r"}),
    "no reward": ({"rewards": [None]}, {"response": "r"}),
    "a name of ours": ({"response": ["x"]}, {"response (logged)": "x", "response": "r"}),
}


@pytest.mark.parametrize(("fields", "expected"), READ.values(), ids=READ)
def test_what_a_field_becomes(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Whatever is there comes out in its place, and nothing else."""
    row = flat(read_one(nemo_rl, {**ROW, **fields}, TRAIN))

    assert {key: row.get(key) for key in expected} == expected


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no messages": ({"content": [None]}, "has no `content`; its keys are: content, rewards"),
    "none among them": ({"content": [[]]}, "`content` holds no message"),
    "messages that are a text": ({"content": ["pr"]}, '`content` is "pr", not a list'),
    "two samples": ({"rewards": [1.0, 0.0]}, "`rewards` holds 2 values where one is expected: [1.0, 0.0]"),
    "an array too short": ({"advantages": [[0.5]]}, "`advantages` has 1 number against 4 in `token_loss_mask`"),
    "an array too long": ({"token_ids": [[1] * 5]}, "`token_ids` has 5 numbers against 4 in `token_loss_mask`"),
    "no mask": (
        {"token_loss_mask": [None]},
        "has `token_ids` but no `token_loss_mask`, which tells the response from the prompt",
    ),
    "a mask of words": ({"token_loss_mask": [["a"] * 4]}, "`token_loss_mask` is not a list of numbers"),
    "an array that is a number": ({"prev_logprobs": [0.5]}, "`prev_logprobs` is 0.5, not a list"),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_damaged_rows_are_refused(fields: dict[str, Any], reason: str) -> None:
    """The reason names NeMo-RL's key."""
    with pytest.raises(RowRefused) as refusal:
        read_one(nemo_rl, {**ROW, **fields}, TRAIN)

    assert str(refusal.value).startswith(reason)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4), st.booleans(), st.integers(0, 3))
def test_text_and_tokens_begin_together(said: list[tuple[int, int]], ends: bool, padding: int) -> None:
    """However many turns: the response's text is as long as its tokens, of which those of the policy alone are trained on."""
    turns = [one for policy, world in said for one in (("a" * policy, 1), ("e" * world, 0))]
    turns = turns if ends else turns[:-1]
    messages = ["pp", *(text for text, _ in turns)]
    trained = [0, 0, *(bit for text, bit in turns for _ in text)]
    record = {
        "content": [messages],
        "rewards": [0.0],
        "input_lengths": [len(trained)],
        "token_loss_mask": [trained + [0] * padding],
        "token_ids": [list(range(len(trained) + padding))],
        "idx": 0,
    }

    (rollout,) = nemo_rl.rollouts(record, Place(TRAIN, 1))

    assert rollout["response"] == "".join(messages[1:])
    assert rollout["response_token_ids"] == list(range(2, len(trained)))
    assert rollout["loss_mask"] == [int(letter == "a") for letter in rollout["response"]]


def test_recognition() -> None:
    """Training, validation and distillation alike; not messages without a number, nor rows that are not wrapped."""
    for name in (TRAIN, VALIDATION, "exp_002/train_data_step7.jsonl"):
        assert nemo_rl.recognise(golden_head(nemo_rl, name))
    assert not nemo_rl.recognise(Head(TRAIN, ({"content": "text", "rewards": 1.0, "idx": 0},)))
    assert not nemo_rl.recognise(Head(TRAIN, ({"content": [["a"]], "rewards": [1.0]},)))


def test_note() -> None:
    """Steps are from names, and the reader is told which reward counts."""
    assert nemo_rl.note(golden_head(nemo_rl, TRAIN)) == "Steps are from the names of the files."
    assert "`filtered_rewards`" in nemo_rl.note(golden_head(nemo_rl, "exp_001/train_data_step2.jsonl"))
