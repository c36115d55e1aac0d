"""NeMo-RL's rollouts with their token arrays: two lines in `grpo_train` (nemo_rl/algorithms/grpo.py), where it logs the training data.

    recorder = recorder_for("runs/my_run")                                                        # added
    record_train_data(recorder, total_steps + 1, tokenizer, train_data, rewards)                  # added
    logger.log_batched_dict_as_jsonl(log_data, f"train_data_step{total_steps + 1}.jsonl")

NeMo-RL's own file of that name can be opened too, but has no reference and no text per token.

Written from the training loop of NeMo-RL's main branch as of 2026 (the package on PyPI is empty, so no version can be named). Not run
with it here, which takes GPUs: `record_train_data` is tested on tensors of the shapes the loop makes.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from board.recorder import RolloutRecorder

TOKEN_FIELDS = {
    "logprobs": "prev_logprobs",
    "ref_logprobs": "reference_policy_logprobs",
    "rollout_logprobs": "generation_logprobs",
    "advantages": "advantages",
}
"""Our field to NeMo-RL's, each (batch, T) over prompt, response and padding: entry i says something of token i."""

ENGINE = "rollout_logprobs"

ZEROS_WHEN_SKIPPED = ("logprobs", "ref_logprobs")
"""Filled with zeros when the configuration skips them; log-probabilities that are all 0 are therefore taken as missing."""


def record_train_data(recorder: RolloutRecorder, step: int, tokenizer: Any, train_data: Mapping[str, Any], rewards: Any) -> None:
    """Record every rollout, cut to the tokens from the first that is trained on to the end; those in between that are not are masked."""
    for row, length in enumerate(train_data["input_lengths"].tolist()):
        mask = train_data["token_mask"][row, :length] * train_data["sample_mask"][row]
        sampled = train_data["token_mask"][row, :length].nonzero().flatten().tolist()
        first = sampled[0] if sampled else length
        prompt, response = (
            train_data["input_ids"][row, :length].tolist()[:first],
            train_data["input_ids"][row, first:length].tolist(),
        )
        columns = {name: train_data[theirs][row, first:length] for name, theirs in TOKEN_FIELDS.items() if theirs in train_data}
        if ENGINE in columns:  # the engine says 0 of tokens that it did not sample
            columns[ENGINE] = columns[ENGINE].masked_fill(train_data["token_mask"][row, first:length] == 0, float("nan"))
        recorder.write(
            step=step,
            prompt=tokenizer.decode(prompt),
            response=tokenizer.decode(response),
            response_tokens=tokenizer.convert_ids_to_tokens(response),
            response_token_ids=response,
            reward=rewards[row],
            loss_mask=mask[first:],
            **{name: column for name, column in columns.items() if name not in ZEROS_WHEN_SKIPPED or column.any()},
        )
    recorder.end_step()


@cache
def recorder_for(folder: str) -> RolloutRecorder:
    """The one recorder of this process; the driver sees the rollouts of all ranks."""
    return RolloutRecorder(folder)
