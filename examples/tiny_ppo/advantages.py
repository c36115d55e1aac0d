"""Rewards per token, advantages and returns of one rollout, in numpy: one loop each, as in the papers. Knows nothing of torch."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def token_rewards(logprobs: FloatArray, ref_logprobs: FloatArray, scores: FloatArray, beta: float) -> FloatArray:
    """`score - beta (logprob - ref_logprob)` at every token; `scores` (tokens,) is 0 but where something was earned.

    Ziegler et al. 2019, section 2 (https://arxiv.org/abs/1909.08593). Their score stands at the last token, ours at each line's.
    """
    return scores - beta * (logprobs - ref_logprobs)


def pay_at_line_ends(tokens: list[str], scores: list[float]) -> FloatArray:
    """Scores of lines as scores of tokens: at each newline that of the line it ends, at the last token that of the last line.

    Raises ValueError unless there is one score per line.
    """
    ends = [index for index, token in enumerate(tokens) if token == "\n"]
    paid = np.zeros(len(tokens))
    for end, score in zip([*ends, len(tokens) - 1], scores, strict=True):
        paid[end] += score
    return paid


def gae(rewards: FloatArray, values: FloatArray, gamma: float, lam: float) -> tuple[FloatArray, FloatArray]:
    """Advantages and returns (advantage + value), both (tokens,); the episode ends after the last token.

    `A_t = delta_t + gamma lam A_(t+1)` with `delta_t = r_t + gamma V_(t+1) - V_t`: Schulman et al. 2016, equations 11, 12 and 16
    (https://arxiv.org/abs/1506.02438).
    """
    advantages = np.zeros_like(rewards)
    advantage, next_value = 0.0, 0.0
    for token in reversed(range(len(rewards))):
        delta = rewards[token] + gamma * next_value - values[token]
        advantage = delta + gamma * lam * advantage
        advantages[token] = advantage
        next_value = values[token]
    return advantages, advantages + values
