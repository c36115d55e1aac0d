"""Generated runs as they are and as their padded copies."""

import json
from pathlib import Path
from random import Random
from typing import Any

from generated_runs import RUNS
from rows import write_run

NAMED = "<|extra_0|>"
"""A pad that a run has to name."""


def padded(row: dict[str, Any], pad: str, side: str, arrays: str, dice: Random) -> dict[str, Any]:
    """The row with up to four pads at the ends of its texts, of each message's, of its tokens and, unless they are `bare`, its arrays."""

    def around() -> tuple[int, int]:
        return (dice.randrange(5) if side != "right" else 0, dice.randrange(5) if side != "left" else 0)

    (before, behind), (left, right) = around(), around()
    made = dict(row)
    ends = {
        "prompt": (before, behind),
        "response": (left, right),
        "ref_response": (before, right),
        "ground_truth": (left, behind),
    }
    for name, (start, stop) in ends.items():
        value = row.get(name)
        if isinstance(value, str):
            made[name] = pad * start + value + pad * stop
        elif isinstance(value, list):
            made[name] = [one | {"content": pad * start + one["content"] + pad * stop} for one in value]
    tokens = row.get("response_tokens")
    for name, value in row.items():
        if tokens and isinstance(value, list) and len(value) == len(tokens) and arrays != "bare":
            made[name] = [0] * left + value + [0] * right
    if tokens:
        made["response_tokens"] = [pad] * left + tokens + [pad] * right
    return made


def place(root: Path, name: str, arrays: str, copy: tuple[str, str] | None) -> None:
    """Write a generated run as it is, or as a padded copy (pad, side); without arrays where `arrays` is "none", without tokens for "mask"."""
    dice, shards = Random(f"pads {name}"), dict[str, list[dict[str, Any]]]()
    for shard, row in RUNS[name](Random(f"golden {name}")):
        if arrays == "none":
            row = {key: value for key, value in row.items() if not isinstance(value, list)}
        if arrays in ("masked", "mask"):
            row = row | {"loss_mask": [1] * len(row["response_tokens"])}
        if row["step"] < 6:
            made = padded(row, *copy, arrays, dice) if copy else row
            left_out = {"response_tokens"} if arrays == "mask" else set[str]()
            shards.setdefault(shard, []).append({name: value for name, value in made.items() if name not in left_out})
    folder = write_run(root / name, shards)
    if copy and copy[0] == NAMED:
        (folder / "rollouts.toml").write_text(f"pads = [{json.dumps(NAMED)}]\n", encoding="utf-8")
