"""verl's rollouts with their token arrays, without touching a reward function: verl's own text dump, made richer.

    VERL_USE_EXTERNAL_MODULES=examples.verl_external python -m verl.trainer.main_ppo trainer.rollout_data_dir=runs/my_run ...

(The variable must reach Ray's processes: `ray_kwargs.ray_init.runtime_env.env_vars` or the machines' own environment.) Where verl would
write prompts, responses and scores into `trainer.rollout_data_dir`, rows with token arrays are recorded there instead: the controller
asks the transfer queue for a few fields more, just before they are cleared.

Written for the interface of verl 0.9.1's default trainer (`trainer.use_v1=true`). Not run in a training here, which takes GPUs. What
was: with verl 0.9.1 installed, the hook takes its place and records a batch put by hand into verl's own transfer queue; and
`record_batch` is tested on nested tensors as that trainer holds them.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from board.recorder import RolloutRecorder

TOKEN_FIELDS = {
    "logprobs": "old_log_probs",
    "ref_logprobs": "ref_log_prob",
    "rollout_logprobs": "rollout_log_probs",
    "entropies": "entropy",
    "values": "values",
    "advantages": "advantages",
    "returns": "returns",
    "token_rewards": "token_level_rewards",
    "loss_mask": "response_mask",
}
"""Our field to verl's, each a nested tensor of one number per response token; which of them there are depends on the algorithm."""

ENGINE, MASK = "rollout_logprobs", "loss_mask"

FIELDS = ["prompts", "responses", "rm_scores", "reward_model", *TOKEN_FIELDS.values()]


def record_batch(
    recorder: RolloutRecorder, step: int, tokenizer: Any, keys: Sequence[str], padding: Sequence[bool], data: Mapping[str, Any]
) -> None:
    """Record a batch from the transfer queue; rows that only fill it up for the data-parallel ranks are left out.

    A key is `<prompt>_<rollout>_<output>`, so what comes before its last two parts names the group.
    """
    held = set(data.keys())  # a TensorDict does not answer `in`
    columns = {ours: data[theirs].unbind() for ours, theirs in TOKEN_FIELDS.items() if theirs in held}
    if ENGINE in columns and MASK in columns:  # the engine says 0 of tokens that it did not sample
        pairs = zip(columns[ENGINE], columns[MASK], strict=True)
        columns[ENGINE] = [values.masked_fill(mask == 0, float("nan")) for values, mask in pairs]
    rewarded = data["reward_model"] if "reward_model" in held else [{}] * len(keys)
    rewarded = rewarded.tolist() if hasattr(rewarded, "tolist") else list(rewarded)  # as it was stored
    texts = zip(keys, padding, data["prompts"].unbind(), data["responses"].unbind(), data["rm_scores"].unbind(), strict=True)
    for row, (key, fills, prompt, response, scores) in enumerate(texts):
        if fills:
            continue
        recorder.write(
            step=step,
            group_id=key.rsplit("_", 2)[0],
            sample_id=key,
            prompt=tokenizer.decode(prompt.tolist()),
            response=tokenizer.decode(response.tolist()),
            response_tokens=tokenizer.convert_ids_to_tokens(response.tolist()),
            response_token_ids=response,
            reward=scores.sum(),
            ground_truth=(rewarded[row] or {}).get("ground_truth"),
            **{name: column[row] for name, column in columns.items()},
        )


@cache
def recorder_for(folder: str) -> RolloutRecorder:
    """The one recorder of this process; the controller sees the rollouts of all ranks."""
    return RolloutRecorder(folder)


def log_rollout_data(self: Any, batch: Any, timing_raw: dict[str, float], rollout_data_dir: str) -> None:
    """In place of the trainer's own `_log_rollout_data`."""
    import transfer_queue

    recorder = recorder_for(rollout_data_dir)
    data = transfer_queue.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=FIELDS)
    padding = [tag.get("is_padding", False) for tag in batch.tags]
    record_batch(recorder, self.global_steps, self.tokenizer, batch.keys, padding, data)
    recorder.end_step()


def install() -> None:
    """Put it in place, in every process that imports verl."""
    from verl.trainer.ppo.v1.trainer_base import PPOTrainer

    PPOTrainer._log_rollout_data = log_rollout_data
