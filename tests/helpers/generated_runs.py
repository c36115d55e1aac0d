"""Five small runs written by code: the same bytes on every machine, since random numbers are seeded and decimals rounded."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from rows import write_run

Row = dict[str, Any]

STEPS: Final = 12
PROMPTS: Final = 8
SAMPLES: Final = 4
DIGITS: Final = 5
WORDS: Final = (
    *("so", "we", "add", "the", "two", "numbers", "and", "check", "that", "sum", "again"),
    *("then", "times", "half", "of", "it", "gives", "wait", "maybe", "first", "next", "total"),
)


def write_generated(root: Path, name: str) -> Path:
    """Write the run of that name under the root; returns its folder."""
    shards: dict[str, list[Row]] = {}
    for shard, row in RUNS[name](Random(f"golden {name}")):
        shards.setdefault(shard, []).append(row)
    return write_run(root / name, shards)


def digest(folder: Path) -> str:
    """A hash of the names and the bytes of a folder's files."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def _ppo(random: Random) -> Iterator[tuple[str, Row]]:
    """PPO: token arrays of policy, reference and critic, in two shards; the KL grows."""
    for step, prompt, _ in _places():
        tokens = _response(random, 10 + step, 18 + step)
        reward = _round(random.random() < 0.3 + 0.05 * step)
        arrays = _arrays(random, len(tokens), 0.02 + 0.03 * step)
        values = [_round(reward * (at + 1) / len(tokens) + random.gauss(0, 0.1)) for at in range(len(tokens))]
        rewards = [_round(-0.05 * (p - r)) for p, r in zip(arrays["logprobs"], arrays["ref_logprobs"], strict=True)]
        rewards[-1] = _round(rewards[-1] + reward)
        row = _row(step, prompt, tokens) | arrays | {"values": values, "token_rewards": rewards, "reward": reward}
        yield f"rank_{prompt % 2}.jsonl", row | {"advantages": [_round(reward - value) for value in values]}


def _grpo(random: Random) -> Iterator[tuple[str, Row]]:
    """GRPO: groups, a reward of three parts, advantages of the group; the length part is what comes to rule."""
    for step in range(STEPS):
        for prompt in range(PROMPTS):
            made = []
            for sample in range(SAMPLES):
                tokens = _response(random, 10, 14 + 2 * step)
                parts = {
                    "correct": _round(random.random() < 0.1 * prompt),
                    "format": _round(random.random() < 0.8) / 2,
                    "length": _round(len(tokens) / 40),
                }
                ids = {"group_id": f"{step}-{prompt}", "sample_id": f"{step}-{prompt}-{sample}", "prompt_id": f"sum-{prompt}"}
                scored = {"reward": _round(sum(parts.values())), "reward_parts": parts}
                made.append(_row(step, prompt, tokens) | _arrays(random, len(tokens), 0.1) | ids | scored)
            mean = sum(row["reward"] for row in made) / SAMPLES
            spread = math.sqrt(sum((row["reward"] - mean) ** 2 for row in made) / SAMPLES)
            for row in made:
                yield "rank_0.jsonl", row | {"advantage": _round((row["reward"] - mean) / (spread + 1e-4))}


def _agent(random: Random) -> Iterator[tuple[str, Row]]:
    """An agent: chat messages, tool calls that fail now and then, tool results masked, rewards and seconds by turn."""
    for step, prompt, sample in _places(samples=2):
        tokens: list[str] = []
        mask: list[int] = []
        messages: list[Row] = []
        rewards: list[float] = []
        for turn in range(random.randint(1, 4)):
            thought = _response(random, 4, 10)
            call = {"name": random.choice(["search", "python"]), "arguments": json.dumps({"query": f"sum {prompt}"})}
            failed = random.random() < 0.2
            result = "Error: no such page" if failed else f"| sum | {random.randint(2, 900)} |"
            calls = [{"id": f"c{turn}", "type": "function", "function": call}]
            messages.append({"role": "assistant", "content": "".join(thought), "tool_calls": calls})
            messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": result})
            shown = [f" {word}" for word in result.split()]
            tokens += thought + shown
            mask += [1] * len(thought) + [0] * len(shown)
            rewards.append(-0.1 if failed else 0.05)
        answer = [" The", " answer", " is", f" {prompt}", "."]
        messages.append({"role": "assistant", "content": "".join(answer)})
        right = random.random() < 0.2 + 0.05 * step
        yield (
            "rank_0.jsonl",
            {
                **_row(step, prompt, tokens + answer),
                **_arrays(random, len(tokens) + len(answer), 0.05),
                "prompt": [{"role": "system", "content": "Use the tools."}, {"role": "user", "content": _prompt(prompt)}],
                "response": messages,
                "loss_mask": mask + [1] * len(answer),
                "reward": _round(right + sum(rewards)),
                "group_id": f"{step}-{prompt}",
                "sample_id": f"{step}-{prompt}-{sample}",
                "finish_reason": "stop",
                "num_turns": len(rewards) + 1,
                "turn_rewards": rewards,
                "tool_seconds": [_round(random.expovariate(0.5)) for _ in rewards],
            },
        )


def _long(random: Random) -> Iterator[tuple[str, Row]]:
    """Long responses: some cut at the limit, some that say one phrase over and over."""
    for step, prompt, _ in _places(steps=6, prompts=4, samples=2):
        tokens = _response(random, 200, 400 + 60 * step)
        if random.random() < 0.1 * step:
            tokens = tokens[:50] + [" wait", " check", " again"] * 150
        cut = len(tokens) >= 500
        tokens = tokens[:500]
        ended = {"finish_reason": "length" if cut else "stop", "truncated": cut}
        yield (
            "rank_0.jsonl",
            _row(step, prompt, tokens)
            | _arrays(random, len(tokens), 0.1)
            | ended
            | {"reward": _round(not cut and random.random() < 0.6)},
        )


def _evaluation(random: Random) -> Iterator[tuple[str, Row]]:
    """Training without token arrays, and every third step an evaluation on two data sets, which training does not follow."""
    for step, prompt, sample in _places():
        tokens = _response(random, 8, 20)
        row = _row(step, prompt, tokens) | {"data_source": "sums" if prompt < 4 else "products", "ground_truth": str(prompt)}
        del row["response_tokens"]
        good = random.random() < 0.4 + 0.04 * step
        yield "train.jsonl", row | {"reward": _round(good), "valid_reward": _round(random.random() < 0.4)}
        if step % 3 == 0 and sample < 2:
            yield "validation.jsonl", row | {"split": "validation", "reward": _round(random.random() < 0.4)}


RUNS: Final[dict[str, Callable[[Random], Iterator[tuple[str, Row]]]]] = {
    "ppo": _ppo,
    "grpo": _grpo,
    "agent": _agent,
    "long": _long,
    "evaluation": _evaluation,
}


def _places(steps: int = STEPS, prompts: int = PROMPTS, samples: int = SAMPLES) -> Iterator[tuple[int, int, int]]:
    return ((step, prompt, sample) for step in range(steps) for prompt in range(prompts) for sample in range(samples))


def _prompt(number: int) -> str:
    return f"What is the sum of {number + 11} and {3 * number + 2}? Give the number alone."


def _response(random: Random, least: int, most: int) -> list[str]:
    return [f" {random.choice(WORDS)}" for _ in range(random.randint(least, most))]


def _row(step: int, prompt: int, tokens: list[str]) -> Row:
    return {"step": step, "prompt": _prompt(prompt), "response": "".join(tokens), "response_tokens": tokens}


def _arrays(random: Random, count: int, drift: float) -> Row:
    policy = [_round(-random.expovariate(2)) for _ in range(count)]
    reference = [_round(min(0.0, one + random.gauss(0, drift))) for one in policy]
    return {"logprobs": policy, "ref_logprobs": reference, "entropy": [_round(random.expovariate(2)) for _ in range(count)]}


def _round(number: float) -> float:
    return round(float(number), DIGITS)
