"""A training loop in plain PyTorch with its rollouts recorded: the two marked places are all that recording adds.

    python -m examples.torch_loop --out runs/torch_loop --steps 50

The policy is a table of which letter follows which; it learns by group-relative advantages (GRPO with one update per batch, so that
the ratio is 1) to write vowels.
"""

import argparse
from pathlib import Path

import torch

from board.recorder import RolloutRecorder

LETTERS = "abcdefghijklmnopqrstuvwxyz ."
END = LETTERS.index(".")
VOWELS = torch.tensor([letter in "aeiou" for letter in LETTERS])
GROUP, LIMIT, BETA = 8, 20, 0.02


def sample(table: torch.Tensor, first: torch.Tensor, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Letters (batch, LIMIT) that follow `first` (batch,), and a mask that is true up to the first full stop."""
    letters, current = [], first
    for _ in range(LIMIT):
        current = torch.multinomial(table[current].softmax(-1), 1, generator=rng).squeeze(1)
        letters.append(current)
    response = torch.stack(letters, 1)
    ended = (response == END).cumsum(1)
    return response, (ended == 0) | ((ended == 1) & (response == END))


def distribution(table: torch.Tensor, first: torch.Tensor, response: torch.Tensor) -> torch.Tensor:
    """Log-probabilities (batch, LIMIT, letters) of every letter at every place."""
    before = torch.cat((first[:, None], response[:, :-1]), 1)
    return table[before].log_softmax(-1)


def train(out: Path, steps: int, seed: int) -> None:
    """The loop; every step samples `GROUP` responses to each of four prompts."""
    rng = torch.Generator().manual_seed(seed)
    reference = torch.randn(len(LETTERS), len(LETTERS), generator=rng) * 0.1
    policy = reference.clone().requires_grad_()
    optimizer = torch.optim.Adam([policy], lr=0.05)
    first = torch.tensor([LETTERS.index(letter) for letter in "bdmt" for _ in range(GROUP)])
    with RolloutRecorder(out) as recorder:  # 1. one recorder per rank
        for step in range(steps):
            response, mask = sample(policy.detach(), first, rng)
            reward = (VOWELS[response] & mask).sum(1) / mask.sum(1)
            groups = reward.view(-1, GROUP)
            advantage = ((groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)).flatten()

            said = distribution(policy, first, response)
            logprobs = said.gather(2, response[..., None]).squeeze(2)
            ref_logprobs = distribution(reference, first, response).gather(2, response[..., None]).squeeze(2)
            log_ratio = ref_logprobs - logprobs
            kl = log_ratio.exp() - 1 - log_ratio
            surrogate = (logprobs - logprobs.detach()).exp() * advantage[:, None]
            loss = -((surrogate - BETA * kl) * mask).sum() / mask.sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

            lengths = mask.sum(1).tolist()  # 2. one call per batch, each row cut to its own tokens
            tokens = [
                [LETTERS[letter] for letter in row[:length]] for row, length in zip(response.tolist(), lengths, strict=True)
            ]
            recorder.write_batch(
                step=step,
                prompt=[LETTERS[letter] for letter in first.tolist()],
                response=["".join(row) for row in tokens],
                response_tokens=tokens,
                logprobs=[row[:length] for row, length in zip(logprobs, lengths, strict=True)],
                ref_logprobs=[row[:length] for row, length in zip(ref_logprobs, lengths, strict=True)],
                entropies=[row[:length] for row, length in zip(-(said.exp() * said).sum(-1), lengths, strict=True)],
                advantages=[row.expand(length) for row, length in zip(advantage, lengths, strict=True)],
                reward=reward,
                truncated=~(response == END).any(1),
            )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.torch_loop", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    train(chosen.out, chosen.steps, chosen.seed)


if __name__ == "__main__":
    main()
