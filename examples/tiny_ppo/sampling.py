"""From prompts to sampled responses and their per-token numbers. Knows nothing of rewards or updates."""

from dataclasses import dataclass

import torch
from torch import Tensor

from examples.tiny_ppo.model import Critic, Transformer


@dataclass(frozen=True)
class Batch:
    """Prompts padded on the left and responses padded on the right, in one matrix.

    `ids` (batch, prompt + response), `start` (batch,) pads before each prompt, `prompt` columns of prompt,
    `mask` (batch, response) true where a response has a token.
    """

    ids: Tensor
    start: Tensor
    prompt: int
    mask: Tensor

    @property
    def responses(self) -> Tensor:
        """Response tokens (batch, response)."""
        return self.ids[:, self.prompt :]

    def rows(self, index: Tensor) -> "Batch":
        """The chosen rollouts."""
        return Batch(self.ids[index], self.start[index], self.prompt, self.mask[index])


def pad_left(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Prompt matrix (batch, longest) and the number of pads before each."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[pad] * (longest - len(prompt)) + prompt for prompt in prompts])
    return ids, torch.tensor([longest - len(prompt) for prompt in prompts])


@torch.no_grad()
def sample(policy: Transformer, prompts: list[list[int]], *, limit: int, pad: int, eos: int, rng: torch.Generator) -> Batch:
    """One response per prompt at temperature 1, until `eos` (kept as its last token) or `limit` tokens."""
    ids, start = pad_left(prompts, pad)
    columns = ids.shape[1]
    hidden, cache = policy.hidden(ids, start)
    running = torch.ones(len(prompts), dtype=torch.bool)
    alive = []
    for _ in range(limit):
        token = torch.multinomial(policy.logits(hidden[:, -1]).softmax(-1), 1, generator=rng).squeeze(1)
        token = torch.where(running, token, pad)
        ids = torch.cat((ids, token[:, None]), 1)
        alive.append(running)
        running = running & (token != eos)
        if not running.any():
            break
        hidden, cache = policy.hidden(token[:, None], start, cache)
    return Batch(ids, start, columns, torch.stack(alive, 1))


def logprobs_and_entropies(policy: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Log-probability of each response token and entropy of the distribution it was drawn from, both (batch, response), nats.

    The logits that decide token t stand at position t - 1.
    """
    logits = policy(batch.ids, batch.start)[:, batch.prompt - 1 : -1]
    log_distribution = logits.log_softmax(-1)
    chosen = log_distribution.gather(2, batch.responses[..., None]).squeeze(2)
    return chosen, -(log_distribution.exp() * log_distribution).sum(-1)


def token_values(critic: Critic, batch: Batch) -> Tensor:
    """Value (batch, response) of the state each response token is drawn in."""
    values: Tensor = critic(batch.ids, batch.start)
    return values[:, batch.prompt - 1 : -1]
