"""Runs whose steps are made of prompts and groups, and one kind of the populations asked about them."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from looked_at import opened

from board.analysis.texts.tagged_responses import MEASURES
from board.findings.context import Context
from board.findings.contract import Answer, Found
from board.findings.populations import KINDS

STEPS, GROUPS, MEMBERS = 21, 6, 4

Row = dict[str, Any]
Rows = list[Row]

BY_NAME = {kind.name: kind for kind in KINDS}


def asked(name: str, folder: Path, rows: Sequence[Row]) -> Answer:
    """What one kind answers about a run of these rows."""
    kind = BY_NAME[name]
    return kind.run(Context(opened(folder, rows), dict(MEASURES)), kind.limits)


def found(name: str, folder: Path, rows: Sequence[Row]) -> Found:
    """What it found."""
    answer = asked(name, folder, rows)
    assert isinstance(answer, Found), answer
    return answer


def batch(step: int, groups: int = GROUPS, members: int = MEMBERS, prompts: int = 0, name: str = "", **more: Any) -> Rows:
    """A step of training: `groups` prompts, each with `members` responses; of `prompts` there are, new ones for ever where that is 0."""
    chance = random.Random(f"{name} {step}")
    numbers = [step * groups + at for at in range(groups)]
    if prompts:
        numbers = chance.sample(range(prompts), groups)
    return [
        {
            "step": step,
            "prompt": f"{name}What is {number} + 1?",
            "response": " ".join(chance.choice(["so", "one", "adds", "and", "gets"]) for _ in range(chance.randint(12, 28))),
            "reward": float(chance.random() < 0.5),
        }
        | more
        for number in numbers
        for _ in range(members)
    ]


def run(make: Callable[[int], Rows], steps: int = STEPS) -> Rows:
    """The rows of all steps."""
    return [row for step in range(steps) for row in make(step)]
