"""A run as the shards of its ranks, and the truth about it: kept by whoever asked for the run, never in its folder."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchmarks.findings.plants.plant import Plant
from benchmarks.findings.sampled import Sampled
from benchmarks.findings.setting import LEFT_OUT

Place = tuple[str, int]
"""Shard, and line from 1."""


@dataclass(frozen=True)
class Truth:
    """What was planted."""

    kind: str
    """`clean` where nothing was."""
    onset: int
    """The first step that shows it, as it is written."""
    stride: int
    """Between two steps."""
    rollouts: frozenset[Place]
    """All that show it."""
    tokens: frozenset[tuple[str, int, int]]
    """Shard, line and position of tokens that show it; none where the kind is not one of tokens."""


def write(folder: Path, rollouts: Sequence[Sampled], plant: Plant) -> Truth:
    """Write the rollouts of a run, a shard for each rank, and say what was planted where."""
    folder.mkdir(parents=True, exist_ok=True)
    stride = plant.setting.stride
    places: set[Place] = set()
    tokens: set[tuple[str, int, int]] = set()
    with ExitStack() as files:
        names = [f"rank_{rank}.jsonl" for rank in range(plant.setting.ranks)]
        outs = [files.enter_context((folder / name).open("wb")) for name in names]
        lines = [0] * len(outs)
        for rollout in rollouts:
            rank = rollout.rank
            lines[rank] += 1
            row = rollout.row(stride)
            kept = {name: value for name, value in row.items() if not plant.setting.lean or name not in LEFT_OUT - plant.needs}
            outs[rank].write(orjson.dumps(kept) + b"\n")
            if rollout.touched:
                places.add((names[rank], lines[rank]))
                tokens |= {(names[rank], lines[rank], at) for at in rollout.touched_tokens}
    return Truth(plant.kind, plant.onset * stride, stride, frozenset(places), frozenset(tokens))
