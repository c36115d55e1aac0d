"""The losses of PPO and one update from a batch of rollouts. Knows nothing of text or files.

Ranks run the same code on rollouts of their own; `average_gradients` and the whitening are all that passes between them.
"""

import math
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional

from examples.tiny_ppo.model import Critic, Transformer
from examples.tiny_ppo.sampling import Batch, logprobs_and_entropies, token_values


@dataclass(frozen=True)
class PPOConfig:
    """What the update can be told; the defaults are those of the shipped runs."""

    policy_rate: float = 2e-4
    critic_rate: float = 1e-3
    clip: float = 0.2
    epochs: int = 3
    minibatches: int = 2
    gamma: float = 1.0
    lam: float = 0.9
    max_gradient: float = 1.0


@dataclass(frozen=True)
class Targets:
    """What the update aims at, each (batch, response); right of a response's end the entries mean nothing."""

    logprobs: Tensor
    advantages: Tensor
    returns: Tensor

    def rows(self, index: Tensor) -> "Targets":
        """The chosen rollouts."""
        return Targets(self.logprobs[index], self.advantages[index], self.returns[index])


class Learner:
    """Policy and critic with their optimizers, one per rank; equal at the start, they stay so, as gradients are averaged."""

    def __init__(self, policy: Transformer, critic: Critic, config: PPOConfig) -> None:
        """Fresh optimizers."""
        self.policy, self.critic, self.config = policy, critic, config
        self.policy_optimizer = torch.optim.Adam(policy.parameters(), lr=config.policy_rate)
        self.critic_optimizer = torch.optim.Adam(critic.parameters(), lr=config.critic_rate)

    def update(self, batch: Batch, targets: Targets, rng: torch.Generator) -> None:
        """`epochs` passes over the rollouts in `minibatches` random parts; advantages are used as they are."""
        for _ in range(self.config.epochs):
            for index in torch.randperm(len(batch.ids), generator=rng).chunk(self.config.minibatches):
                part, wanted = batch.rows(index), targets.rows(index)
                logprobs, _ = logprobs_and_entropies(self.policy, part)
                loss = policy_loss(logprobs, wanted.logprobs, wanted.advantages, part.mask, self.config.clip)
                self._step(self.policy, self.policy_optimizer, loss)
                loss = value_loss(token_values(self.critic, part), wanted.returns, part.mask)
                self._step(self.critic, self.critic_optimizer, loss)

    def _step(self, model: nn.Module, optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
        """One optimizer step on the gradient averaged over the ranks."""
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        average_gradients(model)
        nn.utils.clip_grad_norm_(model.parameters(), self.config.max_gradient)
        optimizer.step()


def policy_loss(logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, mask: Tensor, clip: float) -> Tensor:
    """Clipped surrogate, negated: `-mean(min(r A, clip(r, 1 - clip, 1 + clip) A))` with `r = exp(logprob - old logprob)`.

    Schulman et al. 2017, equation 7 (https://arxiv.org/abs/1707.06347). The mean is over this rank's tokens.
    """
    ratio = (logprobs - old_logprobs).exp()
    surrogate = torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
    return -torch.mean(surrogate[mask])


def value_loss(values: Tensor, returns: Tensor, mask: Tensor) -> Tensor:
    """Half the mean squared error of the critic, over this rank's tokens."""
    return functional.mse_loss(values[mask], returns[mask]).div(2)


def whiten(advantages: Tensor, mask: Tensor) -> Tensor:
    """Advantages with mean 0 and standard deviation 1 over the tokens of all ranks together."""
    chosen = advantages[mask].double()
    sums = torch.stack((torch.tensor(float(len(chosen)), dtype=torch.float64), chosen.sum(), chosen.pow(2).sum()))
    if dist.is_initialized():
        dist.all_reduce(sums)
    count, total, squares = (float(number) for number in sums)
    mean = total / count
    deviation = math.sqrt(max(squares / count - mean**2, 0.0))
    return (advantages - mean) / (deviation + 1e-8)


def average_gradients(model: nn.Module) -> None:
    """Replace every gradient by its mean over the ranks, in one message."""
    if not dist.is_initialized():
        return
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    means = torch.split_with_sizes(flat, [gradient.numel() for gradient in gradients])
    for gradient, mean in zip(gradients, means, strict=True):
        gradient.copy_(mean.view_as(gradient))
