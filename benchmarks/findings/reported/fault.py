"""What a fault is: where it lies, how strong it is, what it does to a run at each stage, and what would count as naming it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, Literal
from zlib import compress

import numpy as np
from numpy.typing import NDArray

from benchmarks.findings.reported.configuration import Curves, Run
from benchmarks.findings.reported.texts import Prompt

Row = dict[str, Any]
Strength = Literal["mild", "medium", "strong"]
STRENGTHS: Final[dict[str, float]] = {"mild": 0.4, "medium": 0.7, "strong": 1.0}


@dataclass
class Sample:
    """A rollout while it is made."""

    at: int
    """Index of its step."""
    prompt: Prompt
    group: str
    tokens: list[str]
    own: list[bool]
    """Of each token: the policy wrote it."""
    score: float
    """How good it is: 0 to 1, or about 0 for a reward model's."""
    cut: bool
    split: str = ""
    parts: dict[str, float] = field(default_factory=dict)
    reward: float = 0.0
    advantage: float = 0.0
    arrays: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    more: Row = field(default_factory=dict)
    """Further keys of its row, and others' values for some."""


@dataclass(frozen=True)
class Spot:
    """Where a fault lies in a run, by indices of steps, and how strong it is."""

    run: Run
    force: float
    first: int
    last: int
    dice: Random

    def ramp(self, steps: int = 1) -> NDArray[np.float64]:
        """0 before, rising to 1 within so many steps, 0 after. Shape (steps of the run,)."""
        at = np.arange(len(self.run.steps))
        return np.where((at >= self.first) & (at <= self.last), np.clip((at - self.first + 1) / steps, 0, 1), 0.0)

    def some(self, share: float) -> bool:
        """Whether one of many is taken."""
        return self.dice.random() < share


OnCurves = Callable[[Curves, Spot], None]
OnSamples = Callable[[list[Sample], Spot], None]
OnRows = Callable[[list[Row], Spot], list[Row]]


@dataclass(frozen=True)
class Hooks:
    """What a fault does to a run, by stages in their order; those on samples get a step's training rollouts."""

    curves: OnCurves | None = None
    texts: OnSamples | None = None
    pays: OnSamples | None = None
    numbers: OnSamples | None = None
    rows: OnRows | None = None


@dataclass(frozen=True)
class Fault:
    """A kind of fault, as `faults.json` has it."""

    name: str
    shape: Literal["level", "population", "departure", "episode"]
    task: str
    called: str
    """What a person would say."""
    words: list[str]
    """A finding that holds all words of one of them, `a + b`, names the fault; `a|b` is one or the other."""
    measure: str
    """Number that shows it, see `measured`."""
    hooks: Hooks
    places: Sequence[Literal["start", "one", "early", "middle", "end"]] = ("middle",)
    wants: Mapping[str, Any] = field(default_factory=dict)
    """What `run_of` must give it."""
    also: list[str] = field(default_factory=list)
    """As `words`: consequences that a warning may rightly be about."""
    length: int = 0
    """Steps of an episode."""
    grows: int = 0
    """Steps until it is all there; its first step may be told that much later."""
    severity: str = "warning"
    """It should be told at least so severely."""
    groups: Sequence[int] = (8, 2, 64, 4)


def faults_of(hooks: Mapping[str, Hooks]) -> dict[str, Fault]:
    """The faults of `faults.json` with what they do; its `{name}` and `@name` are written out."""
    document = json.loads(Path(__file__).with_name("faults.json").read_text(encoding="utf-8"))

    def spelt(words: list[str]) -> list[str]:
        lists = [document["lists"][word[1:]] if word[0] == "@" else [word.format(**document["either"])] for word in words]
        return [word for found in lists for word in found]

    return {
        name: Fault(name, hooks=hooks[name], **(entry | {key: spelt(entry.get(key, [])) for key in ("words", "also")}))
        for name, entry in document["faults"].items()
    }


def _mean(row: Row, key: str) -> float | None:
    values = row.get(key)
    return float(np.mean(values)) if isinstance(values, list) and values else None


def _apart(row: Row, one: str, other: str) -> float | None:
    return float(np.mean(np.abs(np.subtract(row[one], row[other])))) if row.get(one) and row.get(other) else None


MEASURES: Final[dict[str, Callable[[Row], float | None]]] = {
    "reward": lambda row: row.get("reward"),
    "accuracy": lambda row: row.get("accuracy_reward", row.get("acc")),
    "format": lambda row: row.get("format_reward"),
    "harder source": lambda row: row["reward"] if row.get("data_source") == "source_1" else None,
    "validation": lambda row: row["reward"] if row.get("split") == "evaluation" else None,
    "held_out_b": lambda row: row["reward"] if row.get("data_source") == "held_out_b" else None,
    "characters": lambda row: float(len(row["response"])),
    "empty": lambda row: float(not row["response"]),
    "cut": lambda row: float(row.get("finish_reason") == "length"),
    "apart from the reference": lambda row: _apart(row, "logprobs", "ref_logprobs"),
    "values off the returns": lambda row: _apart(row, "values", "returns"),
    "apart from the engine": lambda row: _apart(row, "logprobs", "rollout_logprobs"),
    "entropy": lambda row: _mean(row, "entropies"),
    "trained tokens": lambda row: _mean(row, "loss_mask"),
    "advantage": lambda row: _mean(row, "advantages"),
    "not a number": lambda row: float(
        any(value != value for value in (*row.get("ref_logprobs", ()), *row.get("advantages", ()), row.get("format_reward", 0)))
    ),
    "lag": lambda row: row["step"] - row["policy_version"] if "policy_version" in row else None,
    "end token": lambda row: float(row["response_tokens"][-1].startswith("<")) if row.get("response_tokens") else None,
    "begin tokens": lambda row: float(row["prompt"].count("<|begin")),
    "compresses": lambda row: len(row["response"]) / len(compress(row["response"].encode())),
    "other letters": lambda row: sum(letter > "\u007f" for letter in row["response"]) / max(1, len(row["response"])),
}
"""Numbers of a row; the truth holds their means within the fault and outside of it."""


def measured(name: str, rows: list[Row]) -> float | None:
    """A number of MEASURES as its mean over rows, rows a step, or how much a group's members have in common."""
    if not rows:
        return None
    groups: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["step"], row["prompt"]), []).append(row)
    if name == "rows a step":
        return round(len(rows) / len({row["step"] for row in rows}), 4)
    if name == "groups of one reward":
        return round(float(np.mean([len({row["reward"] for row in group}) == 1 for group in groups.values()])), 4)
    if name == "texts that another of the group has":
        return round(1 - sum(len({row["response"] for row in group}) for group in groups.values()) / len(rows), 4)
    values = [value for value in map(MEASURES[name], rows) if value is not None]
    return round(sum(values) / len(values), 4) if values else None
