"""examples/: the plain loop learns and records; the hooks for other trainers make the right rows of those trainers' tensors."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from board import Run, open_run
from board.recorder import RolloutRecorder

torch = pytest.importorskip("torch")

NESTED = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")


class Letters:
    """A tokenizer as Hugging Face's: token 1 is "a", token 2 "b"; only what the hooks use."""

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        """The token of every id."""
        return [chr(96 + token) for token in ids]

    def decode(self, ids: list[int]) -> str:
        """The text of all."""
        return "".join(self.convert_ids_to_tokens(ids))


def assert_rollout(run: Run, at: int, prompt: str, tokens: str, arrays: dict[str, list[float]]) -> None:
    """Row `at` in the order recorded has these texts, tokens and arrays, and no other token metric but ids."""
    rollout = run.rollout(run.frame.index[at])

    assert (rollout["prompt"], rollout["response"], rollout["response_tokens"]) == (prompt, tokens, [*tokens])
    assert {
        name: pytest.approx(array, nan_ok=True) for name, array in rollout.arrays.items() if name != "response_token_ids"
    } == arrays
    np.testing.assert_array_equal(rollout["response_token_ids"], [ord(token) - 96 for token in tokens])


def test_the_plain_loop_learns_and_is_recorded(tmp_path: Path) -> None:
    """Reward rises, the policy leaves the reference, and every row is whole."""
    from examples.torch_loop import train

    train(tmp_path, steps=40, seed=0)
    run = open_run(tmp_path)
    steps = run.frame.groupby("step")[["reward", "kl_k3_mean", "response_length"]].mean()

    assert (len(run.frame), run.report.problems) == (40 * 32, [])
    assert steps["kl_k3_mean"][0] < 1e-9
    assert steps["reward"][-5:].mean() > steps["reward"][:5].mean() + 0.05
    assert steps["kl_k3_mean"].iloc[-1] > 0.01


@NESTED
def test_verl(tmp_path: Path) -> None:
    """verl's nested tensors become rows of their own lengths; padding rows are left out, and fields it did not compute are missing."""
    from examples.verl_hook import record_batch

    def nested(*rows: list[float]) -> Any:
        return torch.nested.as_nested_tensor([torch.tensor(row) for row in rows], layout=torch.jagged)

    data = {
        "prompts": nested([1, 2], [3], [3]),
        "responses": nested([4, 5, 6], [7], [8, 9]),
        "response_mask": nested([1, 0, 1], [1], [1, 1]),
        "rm_scores": nested([0.0, 0.0, 1.5], [-1.0], [9.0, 9.0]),
        "old_log_probs": nested([-1.0, -2.0, -3.0], [-0.5], [0.0, 0.0]),
        "ref_log_prob": nested([-1.5, -2.5, -3.5], [-0.25], [0.0, 0.0]),
        "rollout_log_probs": nested([-1.25, 0.0, -3.25], [-0.75], [0.0, 0.0]),
        "reward_model": np.array([{"ground_truth": "42"}, None, {}], dtype=object),
    }
    with RolloutRecorder(tmp_path) as recorder:
        record_batch(recorder, 7, Letters(), ["p-1_0_0", "p_x_1_0", "p-1_2_0"], [False, False, True], data)
    run = open_run(tmp_path)

    assert (recorder.dropped, [*run.frame["step"]], [*run.frame["reward"]]) == (0, [7, 7], [1.5, -1.0])
    assert [*run.frame["group_id"]] == ["p-1", "p_x"]
    assert [run.rollout(key)["ground_truth"] for key in run.frame.index] == ["42", None]
    expected: dict[str, list[float]] = {
        "logprobs": [-1, -2, -3],
        "ref_logprobs": [-1.5, -2.5, -3.5],
        "rollout_logprobs": [-1.25, math.nan, -3.25],
    }
    assert_rollout(run, 0, "ab", "def", expected | {"loss_mask": [1, 0, 1]})
    expected = {"logprobs": [-0.5], "ref_logprobs": [-0.25], "rollout_logprobs": [-0.75], "loss_mask": [1]}
    assert_rollout(run, 1, "c", "g", expected)


def test_openrlhf(tmp_path: Path) -> None:
    """OpenRLHF's arrays, one entry behind the sequence, are cut from the first action to the last, tool tokens between them masked."""
    from examples.openrlhf_hook import record_experiences

    experience = SimpleNamespace(
        sequences=torch.tensor([[1, 2, 4, 5, 6, 0], [1, 7, 0, 0, 0, 0]]),
        action_mask=torch.tensor([[0, 1, 0, 1, 0], [1, 0, 0, 0, 0]]),
        action_log_probs=torch.tensor([[9.0, -1.0, -2.0, -3.0, 9.0], [-0.5, 9.0, 9.0, 9.0, 9.0]], dtype=torch.bfloat16),
        base_action_log_probs=None,
        rollout_log_probs=torch.tensor([[9.0, -1.5, 0.0, -3.5, 9.0], [-0.25, 9.0, 9.0, 9.0, 9.0]]),
        values=torch.full((2, 5), 0.25),
        advantages=torch.arange(10.0).reshape(2, 5),
        returns=None,
        rewards=torch.tensor([1.5, -1.0]),
        truncated=torch.tensor([True, False]),
        prompts=["ab", "a"],
        labels=["42", None],
    )
    with RolloutRecorder(tmp_path) as recorder:
        record_experiences(recorder, 3, Letters(), [experience])
    run = open_run(tmp_path)

    assert (recorder.dropped, [*run.frame["step"]], [*run.frame["reward"]]) == (0, [3, 3], [1.5, -1.0])
    assert [*run.frame["truncated"]] == [1, 0]
    expected: dict[str, list[float]] = {
        "logprobs": [-1, -2, -3],
        "rollout_logprobs": [-1.5, math.nan, -3.5],
        "values": [0.25] * 3,
    }
    assert_rollout(run, 0, "ab", "def", expected | {"advantages": [1, 2, 3], "loss_mask": [1, 0, 1]})
    expected = {"logprobs": [-0.5], "rollout_logprobs": [-0.25], "values": [0.25], "advantages": [5], "loss_mask": [1]}
    assert_rollout(run, 1, "a", "g", expected)


def test_nemo_rl(tmp_path: Path) -> None:
    """NeMo-RL's full-length arrays are cut to the response; logprobs that are all 0 are missing, and a masked sample's tokens are masked."""
    from examples.nemo_rl_hook import record_train_data

    train_data = {
        "input_ids": torch.tensor([[1, 2, 4, 5, 6, 0], [3, 7, 0, 0, 0, 0]]),
        "input_lengths": torch.tensor([5, 2]),
        "token_mask": torch.tensor([[0, 0, 1, 0, 1, 0], [0, 1, 0, 0, 0, 0]]),
        "sample_mask": torch.tensor([1.0, 0.0]),
        "prev_logprobs": torch.tensor([[0.0, -9.0, -1.0, -2.0, -3.0, 0.0], [0.0, -0.5, 0.0, 0.0, 0.0, 0.0]]),
        "generation_logprobs": torch.tensor([[0.0, 0.0, -1.25, 0.0, -3.25, 0.0], [0.0, -0.75, 0.0, 0.0, 0.0, 0.0]]),
        "reference_policy_logprobs": torch.zeros(2, 6),
        "advantages": torch.tensor([[0.5] * 6, [-0.5] * 6]),
    }
    with RolloutRecorder(tmp_path) as recorder:
        record_train_data(recorder, 2, Letters(), train_data, torch.tensor([1.0, 0.0]))
    run = open_run(tmp_path)

    assert (recorder.dropped, [*run.frame["step"]], [*run.frame["reward"]]) == (0, [2, 2], [1, 0])
    expected: dict[str, list[float]] = {
        "logprobs": [-1, -2, -3],
        "rollout_logprobs": [-1.25, math.nan, -3.25],
        "advantages": [0.5] * 3,
        "loss_mask": [1, 0, 1],
    }
    assert_rollout(run, 0, "ab", "def", expected)
    assert_rollout(run, 1, "c", "g", {"logprobs": [-0.5], "rollout_logprobs": [-0.75], "advantages": [-0.5], "loss_mask": [0]})
