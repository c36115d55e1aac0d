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

REFERENCE, ENGINE = "ref_per_token_logps", "sampling_per_token_logps"
"""TRL's log-probabilities of the reference, with beta > 0, and of vLLM, with that."""


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
        said = (one.detach().float().cpu() for one in self._said[:2])
        batch = {name: value.detach().cpu() for name, value in inputs.items() if isinstance(value, torch.Tensor)}
        computed = dict(zip(("logprobs", "entropies"), said, strict=True))
        computed |= {
            name: batch[key] for name, key in (("logprobs", "old_per_token_logps"), ("ref_logprobs", REFERENCE)) if key in batch
        }
        for row, ids in enumerate(batch["completion_ids"]):
            attended = batch["completion_mask"][row]
            written = batch.get("tool_mask", torch.ones_like(batch["completion_mask"]))[row]
            keep = slice(0, self._length(ids, attended))
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
                loss_mask=(attended * written)[keep],
                advantages=batch["advantages"][row].expand(len(ids))[keep],
                reward=None if weighted.isnan().all() else weighted.nansum(),
                rewards=dict(zip(self.reward_func_names, rewards.tolist(), strict=True)),
                truncated=not tokens
                or tokens[-1] not in (self.processing_class.eos_token_id, self.processing_class.pad_token_id),
                **{name: known(values[row], attended)[keep] for name, values in computed.items()},
                **({"rollout_logprobs": known(batch[ENGINE][row], written)[keep]} if ENGINE in batch else {}),
            )

    def _length(self, ids: torch.Tensor, mask: torch.Tensor) -> int:
        """Tokens up to the last that is not padding; `mask` alone will not do, as it is 0 for truncated rollouts on request."""
        sampled = (mask.bool() | (ids != self.processing_class.pad_token_id)).nonzero()
        return int(sampled.max()) + 1 if len(sampled) else 0

    def _text(self, ids: torch.Tensor) -> str:
        """Tokens as text, special ones included: they tell the roles apart."""
        text: str = self.processing_class.decode(ids.tolist(), skip_special_tokens=False)
        return text


def known(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The numbers of the tokens in `mask`, NaN at the others: there TRL's are 0, which nobody computed and which would say "certain".

    TRL computes nothing of a completion it masks as truncated, and vLLM samples no token that a tool wrote.
    """
    return values.masked_fill(mask == 0, torch.nan)


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
