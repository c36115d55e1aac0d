"""OpenRLHF's rollouts with their token arrays: two lines in `BasePPOTrainer.train_step` (openrlhf/trainer/ppo_trainer.py).

    experiences = self.experience_maker.make_experience_batch(rollout_samples)
    recorder = recorder_for("runs/my_run")                                        # added
    record_experiences(recorder, global_step, self.tokenizer, experiences)        # added

They stand in the trainer because it is a Ray actor of its own, which a subclass or a patch in your script would not reach.

Written for the interface of OpenRLHF 0.11.2. Not run in a training here, which takes GPUs: `record_experiences` is tested on tensors
of the shapes that version documents. OpenRLHF keeps the reference's log-probabilities only with `--algo.kl.use_loss`; without it there
are none to record.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from board.recorder import RolloutRecorder

TOKEN_FIELDS = {
    "logprobs": "action_log_probs",
    "ref_logprobs": "base_action_log_probs",
    "rollout_logprobs": "rollout_log_probs",
    "values": "values",
    "advantages": "advantages",
    "returns": "returns",
}
"""Our field to OpenRLHF's, each (batch, T - 1) or None: entry i says something of token i + 1 of the sequence."""

ENGINE = "rollout_logprobs"


def record_experiences(recorder: RolloutRecorder, step: int, tokenizer: Any, experiences: Iterable[Any]) -> None:
    """Record every rollout, cut to the tokens from its first action to its last; those in between that are none are masked."""
    for experience in experiences:
        columns = {ours: getattr(experience, theirs) for ours, theirs in TOKEN_FIELDS.items()}
        for row, mask in enumerate(experience.action_mask.bool()):
            actions = mask.nonzero().flatten().tolist()
            span = slice(actions[0], actions[-1] + 1) if actions else slice(0, 0)
            ids = experience.sequences[row, 1:][span].tolist()
            own = {name: column[row][span] for name, column in columns.items() if column is not None}
            if ENGINE in own:  # the engine says nothing of tokens that it did not sample
                own[ENGINE] = own[ENGINE].masked_fill(~mask[span], float("nan"))
            recorder.write(
                step=step,
                prompt=experience.prompts[row],
                response=tokenizer.decode(ids),
                response_tokens=tokenizer.convert_ids_to_tokens(ids),
                response_token_ids=ids,
                ground_truth=experience.labels[row],
                reward=experience.rewards[row],
                truncated=bool(experience.truncated[row]) if experience.truncated is not None else None,
                loss_mask=mask[span],
                **own,
            )
    recorder.end_step()


@cache
def recorder_for(folder: str) -> RolloutRecorder:
    """The one recorder of this process; the trainer sees the rollouts of all ranks."""
    return RolloutRecorder(folder)
