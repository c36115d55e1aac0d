"""Which runs are made, and one of them made, detected and scored."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from benchmarks.findings.detecting import NoDocument, findings_of
from benchmarks.findings.plants.all_plants import PLANTS
from benchmarks.findings.plants.plant import Plant, Shape, Strength
from benchmarks.findings.scoring import Score, score
from benchmarks.findings.setting import seeds, setting_of
from benchmarks.findings.simulation import shuffled, simulated
from benchmarks.findings.writing import Truth, write

CLEAN: Final = ("clean", "shuffled", "shuffled rows")
"""Runs without a plant: as they are, with groups dealt to other steps, with each rollout dealt to another step."""


@dataclass(frozen=True)
class Case:
    """One run to be made."""

    kind: str
    """Of PLANTS or CLEAN."""
    seed: int
    strength: Strength | Literal[""] = ""
    shape: Shape | Literal[""] = ""
    steps: int = 40
    salad: bool = False

    @property
    def name(self) -> str:
        """As a folder may be called."""
        return "-".join(str(part) for part in (self.kind.replace(" ", "_"), self.strength, self.shape, self.seed) if part != "")


@dataclass(frozen=True)
class Plan:
    """What is to be measured."""

    kinds: tuple[str, ...] = (*CLEAN, *PLANTS)
    seeds: int = 3
    held_out: bool = False
    strengths: tuple[Strength, ...] = ("medium",)
    shapes: tuple[Shape, ...] = ("sudden", "gradual")
    steps: int = 40
    salad: bool = False

    def cases(self) -> Iterator[Case]:
        """Kind by kind."""
        for kind in self.kinds:
            for seed in seeds(self.seeds, held_out=self.held_out):
                if kind in CLEAN:
                    yield Case(kind, seed, steps=self.steps, salad=self.salad)
                    continue
                for strength in self.strengths:
                    yield from (Case(kind, seed, strength, shape, self.steps, self.salad) for shape in self.shapes)


def made(case: Case, folder: Path) -> Truth:
    """Write the run of a case."""
    setting = setting_of(case.seed, case.steps, salad=case.salad)
    plant = (
        Plant(setting) if case.kind in CLEAN else PLANTS[case.kind](setting, case.strength or "medium", case.shape or "sudden")
    )
    rollouts = simulated(plant.setting, plant)
    if case.kind in CLEAN[1:]:
        rollouts = shuffled(rollouts, case.seed, whole_groups=case.kind == CLEAN[1])
    return write(folder, rollouts, plant)


def scored(case: Case, *, here: bool = False) -> Score:
    """Make, detect and score one run, in a temporary folder with a cache of its own. A detector that fails has found nothing."""
    with tempfile.TemporaryDirectory(prefix="findings_") as place:
        run = Path(place) / case.name
        truth = replace(made(case, run), kind=case.kind)
        started = time.perf_counter()
        try:
            document = findings_of(run, Path(place) / "cache", here=here)
        except NoDocument as error:
            return replace(score({"findings": []}, truth, case.seed, case.strength, case.shape), failure=str(error))
        return score(document, truth, case.seed, case.strength, case.shape, time.perf_counter() - started)
