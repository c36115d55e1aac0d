"""What trainers call the fields of a rollout, by our name for each, the likeliest first.

Knows names alone; which of them means what in a run, its values tell.
"""

import re
from collections.abc import Mapping
from typing import Final

from board.schema import ALTERNATIVES, BY_NAME, TOKENS


def set_of(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def _called(others: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """Each of our names, and behind it the words that others have for it."""
    return {ours: (ours, *words.split()) for ours, words in others.items()}


SCALARS: Final = _called(
    {
        "step": "global_step global_steps training_step train_step trainer_step update_step iteration iter update gen_step rollout_id"
        " tail_version checkpoint ckpt",
        "prompt": "input_prompt prompts question query problem instruction input",
        "response": "output completion output_response responses model_response response_str generation completions output_text"
        " generated_text text messages conversation conversations",
        "ref_response": "reference_response base_response base_output base_completion baseline_response baseline_output sft_response"
        " sft_output",
        "reward": "score total_reward scores rewards filtered_rewards episode_reward final_reward return",
        "ref_reward": "reference_reward ref_score base_reward base_score baseline_reward baseline_score sft_reward sft_score",
        "ground_truth": "gts gt label answer solution target",
        "group_id": "group_index group_idx prompt_idx example_id task_id uid group _ng_task_index",
        "prompt_id": "problem_id question_id",
        "sample_id": "sample_index sample_idx traj_idx trajectory_index rollout_n request_id response_id _ng_rollout_index trial"
        " idx index id",
        "data_source": "dataset env_name domain source benchmark",
        "split": "mode phase",
        "rank": "dp_rank",
    }
)
"""Our name → what trainers call it, the likeliest first."""

PER_TOKEN: Final = _called(
    {
        TOKENS: "decoded_tokens token_text token_strs tokens",
        "response_token_ids": "response_ids completion_ids completion_token_ids response_tokens token_ids output_ids tokens input_ids"
        " sequences",
        "logprobs": "log_probs token_logprobs prev_logprobs trainer_logprobs old_log_probs old_logprobs action_log_probs logps",
        "rollout_logprobs": "rollout_log_probs generation_logprobs inference_logprobs response_rollout_log_probs completion_logprobs"
        " generation_log_probs infer_logprobs vllm_logprobs",
        "ref_logprobs": "ref_log_probs ref_log_prob ref_logps reference_logprobs reference_policy_logprobs base_action_log_probs",
        "values": "",
        "token_rewards": "token_level_rewards rewards",
        "advantages": "advantage",
        "returns": "",
        "entropies": "entropy entropys",
        "loss_mask": "loss_masks token_loss_mask response_mask completion_mask mask masks response_rollout_log_probs_mask",
        ALTERNATIVES: "",
    }
)
"""As `SCALARS`, of what holds one entry per token."""

PROMPT_TOKENS: Final = ("prompt_token_ids", "prompt_tokens", "prompt_ids")

_CHINESE: Final = {
    "标准答案": "ground truth",
    "参考答案": "ground truth",
    "步数": "step",
    "步": "step",
    "问题": "question",
    "题目": "question",
    "提示": "prompt",
    "模型": "model",
    "回答": "response",
    "回复": "response",
    "输出": "output",
    "奖励": "reward",
    "得分": "score",
    "分数": "score",
}
_IN_CHINESE: Final = re.compile("|".join(_CHINESE))


def in_english(key: str) -> str:
    """A key with the usual Chinese words for fields in English: `模型回答` is `model response`."""
    return _IN_CHINESE.sub(lambda word: f" {_CHINESE[word[0]]} ", key).strip()


_REMARK: Final = re.compile(r"\s*[(（\[【][^()（）\[\]【】]*[)）\]】]\s*")


def remarked(key: str) -> str | None:
    """Our name in a key that has a remark in brackets before or after it, as `（Optional）ref_reward` has; None for any other key."""
    name = _REMARK.sub("", key)
    return name if name != key and (name in BY_NAME or name in SCALARS or name == TOKENS) else None
