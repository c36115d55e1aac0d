"""A small run whose reward is exploited from a step on: the reward rises while the validation reward of the same rollouts falls."""

from pathlib import Path
from typing import Any

from rows import write_run

STEPS = 24
TURN = 12
"""The step from which on the reward is exploited."""


def hacked_rows(steps: int = STEPS, turn: int = TURN, each: int = 8) -> list[dict[str, Any]]:
    """`each` rollouts a step."""
    return [hacked_row(step, at, turn) for step in range(steps) for at in range(each)]


def hacked_row(step: int, at: int, turn: int = TURN) -> dict[str, Any]:
    """One of them; what varies between rollouts of a step is the same in each."""
    exploits, wobble = step >= turn, 0.1 * (at % 4)
    return {
        "step": step,
        "prompt": f"prompt {at}",
        "response": "always, always" if exploits else "an answer",
        "response_tokens": ["always", ",", " always"] if exploits else ["an", " answer"],
        "logprobs": [-0.1, -0.2, -0.3] if exploits else [-1.0, -2.0],
        "reward": (3.0 if exploits else 1.0) + wobble,
        "valid_reward": (0.2 if exploits else 1.0) + wobble,
    }


def write_hacked(folder: Path) -> Path:
    """The run as a folder of one shard."""
    return write_run(folder, {"rank_0.jsonl": hacked_rows()})
