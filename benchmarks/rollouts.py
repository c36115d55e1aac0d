"""Writes runs to measure with: `python benchmarks/rollouts.py FOLDER --megabytes 100`. Seeded, as plausible as a PPO dump.

Token texts come from a small vocabulary with CJK in it, lengths are log-normal, logprobs are those of a peaked distribution, and the
KL against the reference grows over the run. Two data-parallel ranks write a shard each.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import orjson

COMMON = [
    " the",
    " a",
    " of",
    " is",
    "\n",
    ".",
    ",",
    " answer",
    " we",
    " so",
    " x",
    " =",
    " 2",
    "7",
    "所以",
    "我们",
    " 函数",
    "é",
    " <b>",
    " token",
]
VOCABULARY = np.array(COMMON + [f" word{i}" for i in range(480)])
PROMPTS = [f"Problem {i}: how many apples are left of {i * 7} after {i} friends took their share?" for i in range(64)]
RANKS = 2
PER_STEP = 32


def record(step: int, at: int, tokens_mean: float, dice: np.random.Generator) -> dict[str, Any]:
    """One rollout as a trainer writes it: floats with the digits of a float32 as Python prints them."""
    length = int(np.clip(dice.lognormal(np.log(tokens_mean), 0.5), 4, tokens_mean * 5))
    tokens = VOCABULARY[np.minimum(dice.zipf(1.3, length) - 1, len(VOCABULARY) - 1)].tolist()
    logprobs = -dice.gamma(0.6, 0.8, length)
    drift = dice.normal(0, 0.02 + 0.0005 * step, length) * (1 + 20 * (dice.random(length) < 0.01))
    reward = float(np.tanh(step / 200) + dice.normal(0, 0.3))
    return {
        "step": step,
        "prompt": PROMPTS[at % len(PROMPTS)],
        "response": "".join(tokens),
        "response_tokens": tokens,
        "logprobs": logprobs.astype(np.float32).astype(float).tolist(),
        "ref_logprobs": (logprobs - drift).astype(np.float32).astype(float).tolist(),
        "values": dice.normal(reward, 0.2, length).astype(np.float32).astype(float).tolist(),
        "token_rewards": [0.0] * (length - 1) + [reward],
        "reward": reward,
        "ref_response": "".join(tokens[: length // 2]),
        "ref_reward": float(dice.normal(0, 0.3)),
        "ground_truth": str(at * 6),
    }


def write(folder: Path, size: int, tokens: float = 300, seed: int = 0, rows: int | None = None) -> int:
    """Write at least `size` bytes, or exactly `rows` rollouts, into `folder`; the bytes written. One seed, one run."""
    folder.mkdir(parents=True, exist_ok=True)
    dice, written, count, step = np.random.default_rng(seed), 0, 0, 0
    shards = [(folder / f"rank_{rank}.jsonl").open("wb") for rank in range(RANKS)]
    try:
        while written < size if rows is None else count < rows:
            for at in range(PER_STEP):
                line = orjson.dumps(record(step, at, tokens, dice)) + b"\n"
                shards[at % RANKS].write(line)
                written, count = written + len(line), count + 1
            step += 1
    finally:
        for shard in shards:
            shard.close()
    return written


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--megabytes", type=float, default=100)
    options.add_argument("--tokens", type=float, default=300, help="median length of a response")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    print(f"{write(given.folder, int(given.megabytes * 1e6), given.tokens, given.seed):,} bytes in {given.folder}")
