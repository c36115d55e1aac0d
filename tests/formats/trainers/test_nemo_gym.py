"""Tests of NeMo Gym's rollouts."""

from typing import Any

import pytest
from golden_runs import GOLDEN, flat, golden, golden_head

from board import open_run
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import nemo_gym

ROLLOUTS = "results/rollouts.jsonl"


def test_items_become_turns_and_tokens() -> None:
    """Thought, call, the tool's answer and the message are turns; ids and log-probabilities of both calls are one sequence."""
    first, *_ = map(flat, golden(nemo_gym, ROLLOUTS))

    assert first["prompt"] == "system:\nUse the tool.\n\nuser:\n2+2?"
    assert first["response"] == (
        'assistant:\n<think>\nTwo and two.\n</think>\n→ add({"a": 2, "b": 2})\n\ntool:\n4\n\nassistant:\n4 ✓'
    )
    assert first["response_tokens"] == [" 5", " 30", " 6", " 19", " 19", " 2"]
    assert first["loss_mask"] == [1, 1, 0, 0, 1, 1]
    assert first["rollout_logprobs"] == [-0.5, -0.25, None, None, -0.125, -0.0625]
    assert (first["group_id"], first["sample_id"], first["data_source"], first["ground_truth"]) == (
        *("0", "0"),
        *("sums_simple_agent", "4"),
    )
    assert (first["reward"], first["reward.library_reward"], first["num_tool_calls"], first["usage.output_tokens"]) == (
        1,
        1,
        1,
        4,
    )


def test_how_a_response_ended() -> None:
    """One that was cut at its limit says so as all others do; an item of an unknown kind is named."""
    *_, cut, searched = map(flat, golden(nemo_gym, ROLLOUTS))

    assert (cut["finish_reason"], cut["status"]) == ("length", "incomplete")
    assert searched["response"] == "[web_search_call]\n6"


def test_a_run_opens_by_itself() -> None:
    """Two groups of two at step 0, with a note; an attempt that failed is there and in no mean."""
    run = open_run(GOLDEN / "nemo_gym")
    rows = run.frame[run.frame["split"] != "discarded"]

    assert run.frame["split"].tolist().count("discarded") == 1
    assert sorted(rows.groupby("group")["reward"].mean()) == [0.5, 0.5]
    assert set(run.frame["step"]) == {0}
    assert run.report.problems == []
    assert "it is 0 for all" in nemo_gym.note(golden_head(nemo_gym, ROLLOUTS))
    assert "those that were killed have no row" in nemo_gym.note(golden_head(nemo_gym, ROLLOUTS))


BAD: dict[str, tuple[Any, str]] = {
    "nothing": (None, "`response` is null, not a response with a list `output`"),
    "a text": ("4", '`response` is "4", not an object'),
    "items that are none": ({"output": ["4"]}, '`output` holds "4" at position 0, not an object'),
}


@pytest.mark.parametrize(("answered", "reason"), BAD.values(), ids=BAD)
def test_a_bad_response_is_refused(answered: Any, reason: str) -> None:
    """What is not as the API has it is refused by its key."""
    with pytest.raises(RowRefused) as refused:
        nemo_gym.rollouts({"responses_create_params": {"input": "2+2?"}, "response": answered}, Place("x.jsonl", 1))

    assert str(refused.value) == reason


def test_turns_that_make_no_one_sequence_stay_apart() -> None:
    """Where a turn's prompt does not begin with all that was before, the tokens of each turn are there, and none are joined."""
    turn = {"type": "message", "role": "assistant", "content": "x", "generation_log_probs": [-1.0]}
    output = [
        {**turn, "prompt_token_ids": [1], "generation_token_ids": [2]},
        {**turn, "prompt_token_ids": [9], "generation_token_ids": [3]},
    ]
    record = {"responses_create_params": {"input": "2+2?"}, "response": {"output": output}, "reward": 1.0}

    (rollout,) = nemo_gym.rollouts(record, Place("x.jsonl", 1))

    assert nemo_gym.recognise(Head("x.jsonl", (record,)))
    assert "response_token_ids" not in rollout
    assert [one["completion_ids"] for one in rollout["turn_tokens"]] == [[2], [3]]
