"""Evaluation of a trained run's checkpoints: held-out prompts, each response beside the frozen reference's. No update here."""

import logging
import random
from pathlib import Path
from typing import Final

import numpy as np
import torch

from board.recorder import RolloutRecorder
from examples.tiny_ppo.model import ModelConfig, Transformer
from examples.tiny_ppo.poems import make_poems, split_poem
from examples.tiny_ppo.rewards import expected_rhymes, rhyme_reward, valid_reward
from examples.tiny_ppo.sampling import Batch, logprobs_and_entropies, sample
from examples.tiny_ppo.tokenizer import Tokenizer

logger = logging.getLogger(__name__)

PROMPTS: Final = 96
LIMIT: Final = 64
"""Longest response, tokens."""


def checkpoint(folder: Path, step: int) -> Path:
    """Where the policy is kept that samples step `step`; step 0 is the pretrained model, which is also the reference."""
    return folder / f"step_{step}.pt"


def load_policy(path: Path, config: ModelConfig) -> Transformer:
    """A policy as it was saved."""
    policy = Transformer(config)
    policy.load_state_dict(torch.load(path, weights_only=True))
    return policy


@torch.no_grad()
def evaluate(checkpoints: Path, tokenizer: Tokenizer, out: Path, seed: int) -> None:
    """Write one row per checkpoint and held-out prompt.

    All answer the same prompts with the same random numbers, so checkpoint 0, which is the reference, repeats its responses.
    """
    config = ModelConfig(len(tokenizer))
    steps = sorted(int(path.stem.removeprefix("step_")) for path in checkpoints.glob("step_*.pt"))
    if not steps:
        raise SystemExit(f"no checkpoints in {checkpoints}: make the run `learns` with this seed first")
    reference = load_policy(checkpoint(checkpoints, 0), config)
    prompts = [split_poem(poem)[0] for poem in make_poems(random.Random(f"evaluate {seed}"), PROMPTS, held_out=True)]
    ref_responses, _ = respond(reference, prompts, tokenizer, torch.Generator().manual_seed(seed))
    with RolloutRecorder(out) as recorder:
        for step in steps:
            policy = load_policy(checkpoint(checkpoints, step), config)
            responses, batch = respond(policy, prompts, tokenizer, torch.Generator().manual_seed(seed))
            logprobs, entropies = logprobs_and_entropies(policy, batch)
            ref_logprobs, _ = logprobs_and_entropies(reference, batch)
            for row, (prompt, response, ref_response) in enumerate(zip(prompts, responses, ref_responses, strict=True)):
                keep = batch.mask[row]
                recorder.write(
                    step=step,
                    sample_id=f"held-out-{row}",
                    prompt=prompt,
                    response=response,
                    response_tokens=[tokenizer.pieces[token] for token in batch.responses[row][keep].tolist()],
                    logprobs=logprobs[row][keep].numpy(),
                    ref_logprobs=ref_logprobs[row][keep].numpy(),
                    entropies=entropies[row][keep].numpy(),
                    ground_truth=expected_rhymes(prompt),
                    reward=sum(rhyme_reward(prompt, response)),
                    valid_reward=valid_reward(prompt, response),
                    ref_response=ref_response,
                    ref_reward=sum(rhyme_reward(prompt, ref_response)),
                    ref_valid_reward=valid_reward(prompt, ref_response),
                )
            rewards = [sum(rhyme_reward(prompt, response)) for prompt, response in zip(prompts, responses, strict=True)]
            logger.info("checkpoint %d: reward %.2f on held-out prompts", step, np.mean(rewards))


def respond(policy: Transformer, prompts: list[str], tokenizer: Tokenizer, rng: torch.Generator) -> tuple[list[str], Batch]:
    """One sampled response per prompt."""
    encoded = [tokenizer.encode(prompt) for prompt in prompts]
    batch = sample(policy, encoded, limit=LIMIT, pad=tokenizer.pad, eos=tokenizer.eos, rng=rng)
    return [tokenizer.decode(row.tolist()) for row in batch.responses], batch
