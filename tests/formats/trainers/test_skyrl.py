"""Tests of SkyRL's evaluations."""

from typing import Any

import pytest
from golden_runs import flat, golden, golden_head, read_one

from board import formats
from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.trainers import skyrl

FILE = "dumped_evals/global_step_10_evals/openai_gsm8k.jsonl"
ROW: dict[str, Any] = {"input_prompt": "p", "output_response": "r", "score": 1.0}
LEAST = {"step": 10, "split": "evaluation", "prompt": "p", "response": "r"}


def test_a_row() -> None:
    """Every field, the step from the folder, the expected answer out of the environment's extras."""
    assert flat(golden(skyrl, FILE)[0]) == {
        "step": 10,
        "split": "evaluation",
        "prompt": "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n",
        "response": "4<|im_end|>",
        "reward": 1.0,
        "ground_truth": "4",
        "data_source": "openai/gsm8k",
        "stop_reason": "stop",
        "env_class": "gsm8k",
        "env_extras": '{"reward_spec": {"method": "rule", "ground_truth": "4"}, "difficulty": 2}',
        "env_extras.difficulty": 2.0,
    }


def test_a_score_per_token() -> None:
    """It is the tokens' rewards, and their sum the reward."""
    row = flat(golden(skyrl, FILE)[1])

    assert (row["reward"], row["token_rewards"]) == (0.25, [0.0, 0.5, -0.25])


def test_a_score_that_is_no_number() -> None:
    """It stays NaN."""
    assert flat(golden(skyrl, FILE)[2])["reward"] is None


def test_an_evaluation_without_training() -> None:
    """Nothing says a step, so it is 0; nothing says an answer, so there is none."""
    (row,) = golden(skyrl, "dumped_evals/eval_only/openai_gsm8k.jsonl")

    assert row.step == 0
    assert "ground_truth" not in row.texts


SCORES: dict[str, tuple[Any, dict[str, Any]]] = {
    "none": (None, {}),
    "zero": (0, {"reward": 0.0}),
    "no tokens": ([], {"token_rewards": []}),
    "a null among them": ([1.0, None], {"reward": 1.0, "token_rewards": [1.0, None]}),
    "nulls": ([None], {"token_rewards": [None]}),
    "words": (["good"], {"score": '["good"]'}),
}


@pytest.mark.parametrize(("score", "expected"), SCORES.values(), ids=SCORES)
def test_what_a_score_becomes(score: Any, expected: dict[str, Any]) -> None:
    """Missing numbers count for nothing in the sum; what is no number is kept as text."""
    assert flat(read_one(skyrl, ROW | {"score": score}, FILE)) == LEAST | expected


TRUTHS: dict[str, tuple[Any, str | None]] = {
    "a rule's": ({"reward_spec": {"ground_truth": "4"}, "answer": "5"}, "4"),
    "a reward model's": ({"reward_model": {"ground_truth": ["4", "四"]}}, '["4", "四"]'),
    "of the data set": ({"extra_info": {"answer": "4"}}, "4"),
    "plain": ({"ground_truth": "4"}, "4"),
    "an answer": ({"answer": 4}, "4"),
    "none": ({"seed": 1}, None),
    "a spec that is text": ({"reward_spec": "rule"}, None),
    "no extras": (None, None),
}


@pytest.mark.parametrize(("extras", "truth"), TRUTHS.values(), ids=TRUTHS)
def test_where_the_expected_answer_stands(extras: Any, truth: str | None) -> None:
    """Data sets differ; the extras are kept whole beside it."""
    row = read_one(skyrl, ROW | {"env_extras": extras}, FILE)

    assert row.texts.get("ground_truth") == truth
    assert ("env_extras" in row.texts) == (extras is not None)


def test_names_of_ours_are_told_apart() -> None:
    """What bears one of them without being it is kept beside it."""
    row = flat(read_one(skyrl, ROW | {"step": 3, "reward": 0.5}, FILE))

    assert row == LEAST | {"reward": 1.0, "step (logged)": 3.0, "reward (logged)": 0.5}


@pytest.mark.parametrize("record", [{**ROW, "output_response": None}, {"input_prompt": "p", "score": 1.0}])
def test_damaged_rows_are_refused(record: dict[str, Any]) -> None:
    """The reason names SkyRL's key."""
    with pytest.raises(RowRefused, match=r"^has no `output_response`; its keys are: input_prompt"):
        read_one(skyrl, record, FILE)


def test_recognition() -> None:
    """By its names of prompt and response; not the summary that lies beside."""
    assert formats.recognise(golden_head(skyrl, FILE)) is skyrl
    assert not skyrl.recognise(Head(FILE, ({"input_prompt": "p", "output_response": "r"},)))


def test_note() -> None:
    """Where the step is from, and which rewards are sums."""
    assert skyrl.note(golden_head(skyrl, FILE)) == (
        "Steps are from the names of the files. The reward is the sum of the scores of the tokens."
    )
    assert skyrl.note(golden_head(skyrl, "dumped_evals/eval_only/openai_gsm8k.jsonl")).startswith("Neither the records nor")
