"""TRL's GRPO trainer with its rollouts recorded: tokens, log-probabilities, entropies, advantages, every reward.

Use `RecordingGRPOTrainer` where you used `GRPOTrainer`, with one argument more:

    trainer = RecordingGRPOTrainer(..., recorder=RolloutRecorder("runs/my_run", rank=int(os.environ.get("RANK", 0))))

Nothing is computed twice: the policy's log-probabilities and entropies are taken where the loss computes them the first time a batch
is trained on, unless TRL kept those of the policy that sampled it, which it does when an update comes in between. Written
for TRL 1.16.0 and run with it (`run_tiny.py`). It overrides four of TRL's private methods, so another version may need a look.
"""

from typing import Any

import torch
from transformers import TrainerCallback
from trl import GRPOTrainer

from board.recorder import RolloutRecorder

REWARDS, GROUPS = "recorded_rewards", "recorded_groups"
"""What is put into TRL's batch, which shuffles and splits every tensor in it alike."""

TOKEN_FIELDS = {"ref_logprobs": "ref_per_token_logps", "rollout_logprobs": "sampling_per_token_logps"}
"""Our field to TRL's; the first with beta > 0, the second with vLLM."""


class RecordingGRPOTrainer(GRPOTrainer):
    """GRPO that hands every rollout it trains on to a recorder, once."""

    def __init__(self, *args: Any, recorder: RolloutRecorder, **kwargs: Any) -> None:
        """`recorder` should know this process's rank; it is closed when training ends."""
        super().__init__(*args, **kwargs)
        self.recorder = recorder
        self.add_callback(CloseRecorder(recorder))

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Keep the rewards of all processes, (rollouts, functions), which TRL's batch does not hold."""
        self._rewards = super()._calculate_rewards(*args, **kwargs)
        return self._rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Add rewards and groups to the batch; a group is `num_generations` rollouts in a row."""
        batch: dict[str, Any] = super()._generate_and_score_completions(inputs)
        rollouts = torch.arange(len(self._rewards), device=self._rewards.device)
        first = self.accelerator.process_index * len(inputs)
        here = slice(first, first + len(inputs))
        batch[REWARDS] = self._rewards[here]
        batch[GROUPS] = (rollouts // self.num_generations)[here]
        return batch

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        """Keep what the policy last said about the batch."""
        self._said = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        return self._said

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Record the batch the first time it is trained on."""
        loss: torch.Tensor = super()._compute_loss(model, inputs)
        generation, pass_over = divmod(self._step, self.args.steps_per_generation * self.num_iterations)
        if self.model.training and pass_over < self.args.steps_per_generation:
            self._record(inputs, generation)
        return loss

    def _record(self, inputs: dict[str, Any], generation: int) -> None:
        """One row per rollout, cut to its own tokens."""
        logprobs, entropies = (said.detach().float().cpu() for said in self._said[:2])
        batch = {name: value.detach().cpu() for name, value in inputs.items() if isinstance(value, torch.Tensor)}
        logprobs = batch.get("old_per_token_logps", logprobs)
        for row, ids in enumerate(batch["completion_ids"]):
            mask = batch["completion_mask"][row] * batch.get("tool_mask", torch.ones_like(batch["completion_mask"]))[row]
            keep = slice(0, self._length(ids, batch["completion_mask"][row]))
            tokens = ids[keep].tolist()
            rewards = batch[REWARDS][row]
            weighted = rewards * self.reward_weights.cpu()
            self.recorder.write(
                step=self.state.global_step + 1,  # as TRL counts it in its own completions/
                group_id=f"{generation}-{int(batch[GROUPS][row])}",
                prompt=self._text(batch["prompt_ids"][row][batch["prompt_mask"][row].bool()]),
                response=self._text(ids[keep]),
                response_tokens=self.processing_class.convert_ids_to_tokens(tokens),
                response_token_ids=tokens,
                logprobs=logprobs[row][keep],
                entropies=entropies[row][keep],
                loss_mask=mask[keep],
                advantages=batch["advantages"][row].expand(len(ids))[keep],
                reward=None if weighted.isnan().all() else weighted.nansum(),
                rewards=dict(zip(self.reward_func_names, rewards.tolist(), strict=True)),
                truncated=not tokens
                or tokens[-1] not in (self.processing_class.eos_token_id, self.processing_class.pad_token_id),
                **{name: batch[theirs][row][keep] for name, theirs in TOKEN_FIELDS.items() if theirs in batch},
            )

    def _length(self, ids: torch.Tensor, mask: torch.Tensor) -> int:
        """Tokens up to the last that is not padding; `mask` alone will not do, as it is 0 for truncated rollouts on request."""
        sampled = (mask.bool() | (ids != self.processing_class.pad_token_id)).nonzero()
        return int(sampled.max()) + 1 if len(sampled) else 0

    def _text(self, ids: torch.Tensor) -> str:
        """Tokens as text, special ones included: they tell the roles apart."""
        text: str = self.processing_class.decode(ids.tolist(), skip_special_tokens=False)
        return text


class CloseRecorder(TrainerCallback):
    """Tells the recorder when a step and when the training ends."""

    def __init__(self, recorder: RolloutRecorder) -> None:
        self.recorder = recorder

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """After the optimizer's step all rollouts of it are recorded."""
        self.recorder.end_step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Nothing comes after."""
        self.recorder.close()
