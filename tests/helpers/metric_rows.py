"""Rows of a run that has every field a metric needs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from board.runs.opening import open_run
from board.runs.run import Run

Row = dict[str, Any]


def make_row(rng: np.random.Generator, step: int, prompt: int, split: str = "train") -> Row:
    """A rollout with every field that a metric can need; the third of its tokens is masked."""
    length = int(rng.integers(3, 9))
    numbers = {
        name: np.round(rng.normal(size=length), 3).tolist() for name in ("values", "token_rewards", "returns", "advantages")
    }
    logprobs = {
        name: np.round(-rng.exponential(1.0, length), 3).tolist()
        for name in ("logprobs", "ref_logprobs", "rollout_logprobs", "old_logprobs")
    }
    return {
        "step": step,
        "prompt": f"prompt {prompt}",
        "response": "x" * length,
        "response_tokens": [*["x"] * (length - 1), "<|im_end|>" if length % 2 else "x"],
        "reward": float(rng.integers(0, 3)),
        "ref_reward": float(rng.integers(0, 3)),
        "valid_reward": round(float(rng.normal()), 3),
        "prompt_length": int(rng.integers(5, 50)),
        "finish_reason": str(rng.choice(["stop", "length"])),
        "status": "aborted" if length == 4 else "completed",
        "accuracy": round(float(rng.uniform()), 3),
        "split": split,
        "entropies": np.round(rng.exponential(1.0, length), 3).tolist(),
        "loss_mask": [1, 1, 0, *[1] * (length - 3)],
        **numbers,
        **logprobs,
    }


def rows_of_a_run(seed: int = 0) -> list[Row]:
    """Three steps of three prompts with four rollouts each, and an evaluation at two of the steps."""
    rng = np.random.default_rng(seed)
    trained = [make_row(rng, step, prompt) for step in (1, 2, 5) for prompt in range(3) for _ in range(4)]
    return [*trained, *(make_row(rng, step, prompt, "evaluation") for step in (1, 5) for prompt in range(3))]


def write(folder: Path, rows: Sequence[Row]) -> Run:
    """Rows as one shard, opened."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rank_0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_run(folder)
