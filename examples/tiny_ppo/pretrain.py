"""Next-token training on the poems: where the policy, the reference and the critic start. Knows nothing of rewards."""

import logging
import random

import torch
from torch import Tensor
from torch.nn import functional

from examples.tiny_ppo.model import ModelConfig, Transformer
from examples.tiny_ppo.poems import make_poems
from examples.tiny_ppo.tokenizer import Tokenizer, train_tokenizer

logger = logging.getLogger(__name__)

MERGES = 420
"""Most words become one token, rarer ones two or three."""


def make_tokenizer(seed: int) -> Tokenizer:
    """The tokenizer of a seed: trained on poems of that seed, so every process can make it again."""
    return train_tokenizer(make_poems(random.Random(f"tokenizer {seed}"), 3000), MERGES)


def next_token_loss(model: Transformer, tokenizer: Tokenizer, poems: list[str]) -> Tensor:
    """Mean cross-entropy of each token given those before it, <eos> included, nats."""
    encoded = [[*tokenizer.encode(poem), tokenizer.eos] for poem in poems]
    longest = max(map(len, encoded))
    ids = torch.tensor([row + [tokenizer.pad] * (longest - len(row)) for row in encoded])
    logits = model(ids[:, :-1], torch.zeros(len(poems), dtype=torch.long))
    return functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=tokenizer.pad)


def pretrain(tokenizer: Tokenizer, *, seed: int, steps: int, batch: int = 48, rate: float = 3e-3) -> Transformer:
    """A model that writes such poems, rhyming as seldom as they do. Every batch is new text."""
    torch.manual_seed(seed)
    rng = random.Random(f"pretrain {seed}")
    model = Transformer(ModelConfig(len(tokenizer)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=max(steps, 2), pct_start=0.1)
    for step in range(steps):
        loss = next_token_loss(model, tokenizer, make_poems(rng, batch))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            logger.info("pretraining step %d: loss %.3f nats a token", step, loss.item())
    return model
