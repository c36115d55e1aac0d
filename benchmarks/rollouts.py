"""Writes runs to measure with: `python benchmarks/rollouts.py FOLDER --megabytes 100`. Seeded, as plausible as a PPO dump.

Token texts come from a small vocabulary with CJK in it, lengths are log-normal, logprobs are those of a peaked distribution, and the
KL against the reference grows over the run. Prompts come in groups, and come again. Two data-parallel ranks write a shard each.
"""

import argparse
import gzip
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

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
PROMPTS = [f"Problem {i}: how many apples are left of {i * 7} after {i} friends took their share?" for i in range(4096)]
"""A step takes the next few, and begins anew after the last: a million rollouts visit each of them thirty times."""
RANKS = 2
PER_STEP = 32
GROUP = 8
"""So many responses of a step have the same prompt."""

TOKENS = 60
"""Median length of a response where many rollouts are wanted: a hundred thousand of 300 tokens would be 2.5 GB."""

HUGE_ROLLOUTS = 1_000_000
HUGE_TOKENS = 6
"""The same from so many rollouts on."""


def record(step: int, at: int, tokens_mean: float, dice: np.random.Generator) -> dict[str, Any]:
    """One rollout as a trainer writes it: floats with the digits of a float32 as Python prints them."""
    length = int(np.clip(dice.lognormal(np.log(tokens_mean), 0.5), 4, tokens_mean * 5))
    tokens = VOCABULARY[np.minimum(dice.zipf(1.3, length) - 1, len(VOCABULARY) - 1)].tolist()
    logprobs = -dice.gamma(0.6, 0.8, length)
    drift = dice.normal(0, 0.02 + 0.0005 * step, length) * (1 + 20 * (dice.random(length) < 0.01))
    reward = float(np.tanh(step / 200) + dice.normal(0, 0.3))
    problem = (step * (PER_STEP // GROUP) + at // GROUP) % len(PROMPTS)
    return {
        "step": step,
        "prompt": PROMPTS[problem],
        "response": "".join(tokens),
        "response_tokens": tokens,
        "logprobs": logprobs.astype(np.float32).astype(float).tolist(),
        "ref_logprobs": (logprobs - drift).astype(np.float32).astype(float).tolist(),
        "values": dice.normal(reward, 0.2, length).astype(np.float32).astype(float).tolist(),
        "token_rewards": [0.0] * (length - 1) + [reward],
        "reward": reward,
        "ref_response": "".join(tokens[: length // 2]),
        "ref_reward": float(dice.normal(0, 0.3)),
        "ground_truth": str(problem * 6),
    }


def of_size(folder: Path, count: int) -> None:
    """A run of so many rollouts, whose responses are short: long ones are the token view's matter."""
    write(folder, 0, HUGE_TOKENS if count >= HUGE_ROLLOUTS else TOKENS, rows=count)


def step_of(step: int, count: int, tokens: float = 300) -> list[bytes]:
    """The lines of one step of so many rollouts, as a trainer would append them."""
    dice = np.random.default_rng(step)
    return [orjson.dumps(record(step, at, tokens, dice)) + b"\n" for at in range(count)]


def append(folder: Path, step: int, count: int) -> None:
    """One more step at the end of the run, dealt to its shards in turn."""
    lines, found = step_of(step, count), shards(folder)
    for at, shard in enumerate(found):
        with shard.open("ab") as stream:
            stream.write(b"".join(lines[at :: len(found)]))


def shards(folder: Path) -> list[Path]:
    """The shards of a run, plain or compressed."""
    return sorted(path for path in folder.iterdir() if ".jsonl" in path.suffixes)


def regrouped(folder: Path, target: Path, count: int) -> None:
    """The same rows in so many shards: all of one shard after the other, cut at line ends."""
    target.mkdir()
    whole = sum(shard.stat().st_size for shard in shards(folder))
    with ExitStack() as files:
        outs = [files.enter_context((target / f"rank_{at}.jsonl").open("wb")) for at in range(count)]
        done = 0
        for shard in shards(folder):
            with shard.open("rb") as stream:
                for line in stream:
                    outs[min(count - 1, done * count // whole)].write(line)
                    done += len(line)


def multiplied(folder: Path, target: Path, times: int) -> None:
    """The run so many times over, the steps of each copy moved on to follow those of the copy before."""
    target.mkdir(parents=True)
    for shard in shards(folder):
        with (target / shard.name).open("wb") as out:
            first = 0
            for _ in range(times):
                first = _moved(shard, out, first)


def _moved(shard: Path, out: IO[bytes], first: int) -> int:
    """Copy a shard's lines, their steps counted from `first`; the step after the last."""
    step = first
    with shard.open("rb") as stream:
        for line in stream:
            head, comma, rest = line.partition(b",")
            step = first + int(head.removeprefix(b'{"step":'))
            out.write(b'{"step":%d' % step + comma + rest)
    return step + 1


def compressed(folder: Path, target: Path) -> None:
    """The run with gzip, level 6."""
    target.mkdir()
    for shard in shards(folder):
        with shard.open("rb") as plain, gzip.open(target / f"{shard.name}.gz", "wb", compresslevel=6) as out:
            shutil.copyfileobj(plain, out, 1 << 20)


def write(folder: Path, size: int, tokens: float = 300, seed: int = 0, rows: int | None = None) -> int:
    """Write at least `size` bytes, or whole steps of at least `rows` rollouts, into `folder`; the bytes written. One seed, one run."""
    folder.mkdir(parents=True, exist_ok=True)
    dice, written, count, step = np.random.default_rng(seed), 0, 0, 0
    with ExitStack() as files:
        outs = [files.enter_context((folder / f"rank_{rank}.jsonl").open("wb")) for rank in range(RANKS)]
        while written < size if rows is None else count < rows:
            for at in range(PER_STEP):
                line = orjson.dumps(record(step, at, tokens, dice)) + b"\n"
                outs[at % RANKS].write(line)
                written, count = written + len(line), count + 1
            step += 1
    return written


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--megabytes", type=float, default=100)
    options.add_argument("--tokens", type=float, default=300, help="median length of a response")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    print(f"{write(given.folder, int(given.megabytes * 1e6), given.tokens, given.seed):,} bytes in {given.folder}")
