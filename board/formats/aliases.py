"""What trainers call the fields of a rollout, by our name for each, the likeliest first.

Knows names alone; which of them means what in a run, its values tell.
"""

import re
from collections.abc import Mapping
from typing import Final

from board.schema import ALTERNATIVES, BY_NAME, TOKENS

SCALARS: Final[Mapping[str, tuple[str, ...]]] = {
    "step": (
        "step",
        "global_step",
        "global_steps",
        "training_step",
        "train_step",
        "iteration",
        "gen_step",
        "rollout_id",
        "tail_version",
    ),
    "prompt": ("prompt", "input_prompt", "prompts", "question", "query", "problem", "instruction", "input"),
    "response": (
        "response",
        "output",
        "completion",
        "output_response",
        "responses",
        "model_response",
        "response_str",
        "generation",
        "completions",
        "output_text",
        "generated_text",
        "text",
        "messages",
        "conversation",
        "conversations",
    ),
    "reward": ("reward", "score", "total_reward", "scores", "rewards", "filtered_rewards", "episode_reward", "final_reward"),
    "ground_truth": ("ground_truth", "gts", "gt", "label", "answer", "solution", "target"),
    "group_id": ("group_id", "group_index", "group_idx", "prompt_idx", "example_id", "task_id", "uid", "group", "_ng_task_index"),
    "prompt_id": ("prompt_id", "problem_id", "question_id"),
    "sample_id": (
        "sample_id",
        "sample_index",
        "sample_idx",
        "traj_idx",
        "trajectory_index",
        "rollout_n",
        "request_id",
        "_ng_rollout_index",
        "trial",
        "idx",
        "index",
        "id",
    ),
    "data_source": ("data_source", "dataset", "env_name", "domain", "source", "benchmark"),
    "split": ("split", "mode", "phase"),
    "rank": ("rank", "dp_rank"),
}
"""Our name → what trainers call it, the likeliest first."""

PER_TOKEN: Final[Mapping[str, tuple[str, ...]]] = {
    TOKENS: ("response_tokens", "decoded_tokens", "token_text", "token_strs", "tokens"),
    "response_token_ids": (
        "response_token_ids",
        "response_ids",
        "completion_ids",
        "completion_token_ids",
        "response_tokens",
        "token_ids",
        "output_ids",
        "tokens",
        "input_ids",
        "sequences",
    ),
    "logprobs": (
        "logprobs",
        "log_probs",
        "token_logprobs",
        "prev_logprobs",
        "trainer_logprobs",
        "old_log_probs",
        "old_logprobs",
        "action_log_probs",
        "logps",
    ),
    "rollout_logprobs": (
        "rollout_logprobs",
        "rollout_log_probs",
        "generation_logprobs",
        "inference_logprobs",
        "response_rollout_log_probs",
        "completion_logprobs",
        "generation_log_probs",
        "infer_logprobs",
        "vllm_logprobs",
    ),
    "ref_logprobs": (
        "ref_logprobs",
        "ref_log_probs",
        "ref_log_prob",
        "ref_logps",
        "reference_logprobs",
        "reference_policy_logprobs",
        "base_action_log_probs",
    ),
    "values": ("values",),
    "token_rewards": ("token_rewards", "token_level_rewards", "rewards"),
    "advantages": ("advantages", "advantage"),
    "returns": ("returns",),
    "entropies": ("entropies", "entropy", "entropys"),
    "loss_mask": (
        "loss_mask",
        "loss_masks",
        "token_loss_mask",
        "response_mask",
        "completion_mask",
        "mask",
        "masks",
        "response_rollout_log_probs_mask",
    ),
    ALTERNATIVES: ("top_logprobs",),
}
"""As `SCALARS`, of what holds one entry per token."""

PROMPT_TOKENS: Final = ("prompt_token_ids", "prompt_tokens", "prompt_ids")

_REMARK: Final = re.compile(r"\s*[(（\[【][^()（）\[\]【】]*[)）\]】]\s*")


def remarked(key: str) -> str | None:
    """Our name in a key that has a remark in brackets before or after it, as `（Optional）ref_reward` has; None for any other key."""
    name = _REMARK.sub("", key)
    return name if name != key and (name in BY_NAME or name in SCALARS or name == TOKENS) else None
