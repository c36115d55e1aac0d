"""Tests of rLLM's episodes."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from golden_runs import read_all

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import rllm

USER = {"role": "user", "content": "2+2?"}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "add", "arguments": '{"a": 2}'}}]}
TOOL = {"role": "tool", "content": "4"}
SAID = {"role": "assistant", "content": "4 ✓"}
NAME = "episodes/train_step_12_epoch_0/episode_hashab_idtask7_0.json"
read = partial(read_all, rllm, name=NAME)


def step(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A step with the chat up to its end."""
    return {"reward": 0.0, "done": True, "chat_completions": list(messages), "timing": {}, **fields}


def trajectory(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """One agent's steps."""
    return {"name": "solver", "uid": "u1", "reward": 1.0, "num_steps": len(steps), "timing": {}, "steps": list(steps), **fields}


def episode(*trajectories: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """An episode of training."""
    return {
        "training_step": 12,
        "epoch": 0,
        "episode_id": "task7:0",
        "task": {"question": "2+2?", "ground_truth": "4", "data_source": "gsm8k"},
        "is_correct": True,
        "termination_reason": "env_done",
        "metrics": {"acc": 1.0},
        "trajectories": list(trajectories),
        **fields,
    }


def test_fields() -> None:
    """A trajectory is a rollout; what is the episode's own stands beside it."""
    (row,) = read(episode(trajectory(step(USER, SAID))))

    assert row.step == 12
    assert row.ids == {"group_id": "task7/solver", "sample_id": "task7:0", "data_source": "gsm8k"}
    assert {"prompt": "user:\n2+2?", "response": "4 ✓", "ground_truth": "4", "uid": "u1"}.items() <= row.texts.items()
    assert {"reward": 1.0, "is_correct": 1.0, "epoch": 0.0, "metrics.acc": 1.0, "num_steps": 1.0}.items() <= row.numbers.items()
    assert row.texts["termination_reason"] == "env_done"
    assert row.flags == []


def test_agents_of_an_episode_are_groups_of_their_own() -> None:
    """A judge has another prompt than the solvers it judges, so it is in no group with them."""
    rows = read(episode(trajectory(step(USER, SAID)), trajectory(step(USER, SAID), name="judge", reward=None)))

    assert [row.ids["group_id"] for row in rows] == ["task7/solver", "task7/judge"]
    assert [row.ids["sample_id"] for row in rows] == ["task7:0/0", "task7:0/1"]
    assert "reward" not in rows[1].numbers


CONVERSATIONS: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "each step repeats what was said": (
        [step(USER, CALL), step(USER, CALL, TOOL, SAID)],
        "user:\n2+2?",
        'assistant:\n→ add({"a": 2})\n\ntool:\n4\n\nassistant:\n4 ✓',
    ),
    "a step begins anew": ([step(USER, SAID), step(TOOL, SAID)], "user:\n2+2?", "assistant:\n4 ✓\n\ntool:\n4\n\nassistant:\n4 ✓"),
    "no chat kept": ([step(observation="2+2?", model_response="4")], "user:\n2+2?", "4"),
    "an action alone": (
        [step(observation=None, action="4")],
        '{"question": "2+2?", "ground_truth": "4", "data_source": "gsm8k"}',
        "4",
    ),
    "no step taken": ([], '{"question": "2+2?", "ground_truth": "4", "data_source": "gsm8k"}', ""),
}


@pytest.mark.parametrize(("steps", "prompt", "response"), CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_steps_become_one_conversation(steps: list[dict[str, Any]], prompt: str, response: str) -> None:
    """Nothing is told twice and nothing is left out; where no prompt is stored, the task stands for it."""
    (row,) = read(episode(trajectory(*steps)))

    assert (row.texts["prompt"], row.texts["response"]) == (prompt, response)


def test_rewards_of_several_steps_are_kept() -> None:
    """The trajectory's reward is the rollout's; those of its steps are shown as they are."""
    (row,) = read(episode(trajectory(step(USER, CALL, reward=0.25), step(USER, CALL, TOOL, SAID, reward=0.75))))

    assert row.numbers["reward"] == 1.0
    assert row.texts["step_rewards"] == "[0.25, 0.75]"


def test_tokens_of_steps_are_one_sequence() -> None:
    """Where ids are stored, the first step's prompt is the prompt, and what stands between two answers is masked."""
    one = step(USER, CALL, prompt_ids=[1, 2], response_ids=[3, 4], logprobs=[-0.1, -0.2], advantage=0.5)
    two = step(USER, CALL, TOOL, SAID, prompt_ids=[1, 2, 3, 4, 9], response_ids=[5], logprobs=[-0.3], advantage=[-0.5])
    record = episode(trajectory(one, two))

    (row,), (mapped,) = read(record), rllm.rollouts(record, Place(NAME, 1))

    assert (mapped["prompt_token_ids"], mapped["response_token_ids"]) == ([1, 2], [3, 4, 9, 5])
    np.testing.assert_array_equal(row.arrays["loss_mask"], [1, 1, 0, 1])
    np.testing.assert_allclose(row.arrays["rollout_logprobs"], [-0.1, -0.2, np.nan, -0.3], rtol=1e-6)
    np.testing.assert_allclose(row.arrays["advantages"], [0.5, 0.5, np.nan, -0.5], rtol=1e-6)


NO_SEQUENCE: dict[str, list[dict[str, Any]]] = {
    "no ids": [step(USER, SAID)],
    "ids of one step alone": [step(USER, SAID, prompt_ids=[1], response_ids=[2]), step(USER, SAID)],
    "a prompt written anew": [step(USER, prompt_ids=[1], response_ids=[2]), step(USER, prompt_ids=[7, 8], response_ids=[2])],
    "empty lists": [step(USER, prompt_ids=[], response_ids=[], logprobs=[])],
}


@pytest.mark.parametrize("steps", NO_SEQUENCE.values(), ids=NO_SEQUENCE)
def test_no_tokens_without_one_sequence(steps: list[dict[str, Any]]) -> None:
    """Tokens that do not follow each other are not strung together."""
    (mapped,) = rllm.rollouts(episode(trajectory(*steps)), Place(NAME, 1))

    assert not {"response_token_ids", "prompt_token_ids", "loss_mask", "rollout_logprobs", "advantages"} & mapped.keys()


def test_evaluations() -> None:
    """Validation is told by the folder, and what `rllm eval` stored is an evaluation without a step; its answer is in the metadata."""
    stored = {
        "id": "gsm8k_0:1",
        "eval_idx": 3,
        "task": {"id": "gsm8k_0", "instruction": "2+2?", "metadata": {"answer": "4"}},
        "trajectories": [trajectory(step(USER, SAID), name="agent")],
    }

    (during,) = read(episode(trajectory(step(USER, SAID))), name=NAME.replace("train", "val"))
    (after,) = read(stored, name="run/episodes/episode_000003_gsm8k_0.json")

    assert during.ids["split"] == after.ids["split"] == "evaluation"
    assert (after.step, after.ids["group_id"], after.texts["ground_truth"]) == (0, "gsm8k_0/agent", "4")
    assert "step" in rllm.note(Head("run/episodes/episode_000003_gsm8k_0.json", (stored,)))
    assert rllm.note(Head(NAME, (episode(),))) == ""


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "no trajectories": (episode(termination_reason="error"), '`trajectories` is empty; the episode ended with "error"'),
    "trajectories that are no list": (episode(trajectories="none"), '`trajectories` is "none", not a list'),
    "a trajectory that is text": (episode(trajectories=["x"]), '`trajectories` holds "x" at position 0, not an object'),
    "no steps": (episode({"name": "solver", "reward": 1.0}), "has no `steps`"),
    "logprobs too short": (
        episode(trajectory(step(USER, prompt_ids=[1], response_ids=[2, 3], logprobs=[-0.1]))),
        "`logprobs` has 1 item for 2 tokens",
    ),
}


@pytest.mark.parametrize(("record", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_episodes_are_refused_by_their_key(record: dict[str, Any], reason: str) -> None:
    """An episode that ended before anyone spoke, or that is cut, is refused with the key that says so."""
    with pytest.raises(RowRefused, match=reason):
        read(record)
