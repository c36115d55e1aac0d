"""One step's rollouts: sampled, scored, measured, and written through board.recorder. Knows nothing of the update."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from board.recorder import RolloutRecorder
from examples.tiny_ppo.advantages import FloatArray, gae, pay_at_line_ends, token_rewards
from examples.tiny_ppo.model import Critic, Transformer
from examples.tiny_ppo.poems import make_poems, split_poem
from examples.tiny_ppo.ppo import Targets, whiten
from examples.tiny_ppo.rewards import expected_rhymes, valid_reward
from examples.tiny_ppo.sampling import Batch, logprobs_and_entropies, sample, token_values
from examples.tiny_ppo.tokenizer import Tokenizer

Reward = Callable[[str, str], list[float]]
"""Prompt and response to one score per line of the response."""


@dataclass(frozen=True)
class Setting:
    """What a step of rollouts needs to know about the run."""

    tokenizer: Tokenizer
    reward: Reward
    beta: float
    gamma: float
    lam: float
    prompts: int
    group: int
    limit: int


@dataclass(frozen=True)
class Experience:
    """A step's rollouts with all numbers the update uses and the record shows; lists have one entry per rollout."""

    batch: Batch
    targets: Targets
    prompts: list[str]
    responses: list[str]
    tokens: list[list[str]]
    rewards: list[float]
    arrays: list[dict[str, FloatArray]]
    """Per rollout, field name of the record to its numbers, one per response token."""


def draw_prompts(rng: random.Random, setting: Setting) -> list[str]:
    """First lines that are not held out, each repeated `group` times."""
    return [prompt for poem in make_poems(rng, setting.prompts) for prompt in [split_poem(poem)[0]] * setting.group]


@torch.no_grad()
def collect(
    prompts: list[str], policy: Transformer, reference: Transformer, critic: Critic, setting: Setting, rng: torch.Generator
) -> Experience:
    """Sample a response to each prompt and work out all its per-token numbers."""
    tokenizer = setting.tokenizer
    encoded = [tokenizer.encode(prompt) for prompt in prompts]
    batch = sample(policy, encoded, limit=setting.limit, pad=tokenizer.pad, eos=tokenizer.eos, rng=rng)
    tokens = [[tokenizer.pieces[token] for token in row[keep]] for row, keep in zip(batch.responses, batch.mask, strict=True)]
    responses = [tokenizer.decode(row.tolist()) for row in batch.responses]
    scores = [setting.reward(prompt, response) for prompt, response in zip(prompts, responses, strict=True)]
    arrays = measure(batch, policy, reference, critic)
    for row, numbers in enumerate(arrays):
        paid = pay_at_line_ends(tokens[row], scores[row])
        numbers["token_rewards"] = token_rewards(numbers["logprobs"], numbers["ref_logprobs"], paid, setting.beta)
        numbers["advantages"], numbers["returns"] = gae(numbers["token_rewards"], numbers["values"], setting.gamma, setting.lam)
    advantages = whiten(_padded(arrays, "advantages", batch), batch.mask)
    for row, numbers in enumerate(arrays):
        numbers["advantages"] = advantages[row][batch.mask[row]].double().numpy()
    targets = Targets(_padded(arrays, "logprobs", batch), advantages, _padded(arrays, "returns", batch))
    return Experience(batch, targets, prompts, responses, tokens, [sum(row) for row in scores], arrays)


def measure(batch: Batch, policy: Transformer, reference: Transformer, critic: Critic) -> list[dict[str, FloatArray]]:
    """What the three models say of each response, by field name, one number per token."""
    logprobs, entropies = logprobs_and_entropies(policy, batch)
    ref_logprobs, _ = logprobs_and_entropies(reference, batch)
    columns = {"logprobs": logprobs, "ref_logprobs": ref_logprobs, "values": token_values(critic, batch), "entropies": entropies}
    return [{name: column[row][keep].double().numpy() for name, column in columns.items()} for row, keep in enumerate(batch.mask)]


def record(recorder: RolloutRecorder, step: int, experience: Experience, setting: Setting) -> None:
    """Write one row per rollout, as any trainer would."""
    for row, (prompt, response) in enumerate(zip(experience.prompts, experience.responses, strict=True)):
        recorder.write(
            step=step,
            sample_id=f"{step}-{recorder.rank}-{row}",
            group_id=f"{step}-{recorder.rank}-{row // setting.group}",
            prompt=prompt,
            response=response,
            response_tokens=experience.tokens[row],
            ground_truth=expected_rhymes(prompt),
            reward=experience.rewards[row],
            valid_reward=valid_reward(prompt, response),
            **{name: numbers.astype(np.float32) for name, numbers in experience.arrays[row].items()},
        )


def _padded(arrays: list[dict[str, FloatArray]], name: str, batch: Batch) -> torch.Tensor:
    """One field of all rollouts as a (batch, response) matrix, 0 right of a response's end."""
    padded = torch.zeros(batch.mask.shape)
    padded[batch.mask] = torch.from_numpy(np.concatenate([numbers[name] for numbers in arrays])).float()
    return padded
