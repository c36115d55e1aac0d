"""A small run whose reward is exploited from a step on: the reward rises while the validation reward of the same rollouts falls."""

import random
from pathlib import Path
from typing import Any

from rows import write_run

STEPS = 24
TURN = 12
"""The step from which on the reward is exploited."""


def hacked_rows(steps: int = STEPS, turn: int = TURN, each: int = 8) -> list[dict[str, Any]]:
    """`each` rollouts a step, of which more and more exploit the reward."""
    chance = random.Random(0)
    return [_row(step, at, chance.random() < (step - turn + 2) / 6, chance) for step in range(steps) for at in range(each)]


def _row(step: int, at: int, exploits: bool, chance: random.Random) -> dict[str, Any]:
    said = chance.choice(["always", "ever", "still"]) if exploits else chance.choice(["an", "one", "my"])
    tokens = [said, ",", f" {said}", f" {step}"] if exploits else [said, f" answer {at} {step}"]
    return {
        "step": step,
        "prompt": f"prompt {at} {step}",
        "response": "".join(tokens),
        "response_tokens": tokens,
        "logprobs": [-round(chance.uniform(0.1, 2), 3) for _ in tokens],
        "reward": round((2.5 if exploits else 1.0) + chance.gauss(0, 0.4), 3),
        "valid_reward": round((0.2 if exploits else 1.0) + chance.gauss(0, 0.4), 3),
    }


def write_hacked(folder: Path) -> Path:
    """The run as a folder of one shard."""
    return write_run(folder, {"rank_0.jsonl": hacked_rows()})
