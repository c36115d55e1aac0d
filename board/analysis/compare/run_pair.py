"""Two runs compared by a number on their common prompts: differences and notes.

Runs in, numbers, small frames and sentences out. Equal prompts are found by `shared_prompts`, the statistics are
`paired_prompts`', the sentences `pair_notes`'.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.compare import pair_notes, paired_prompts
from board.analysis.compare.compared_run import ComparedRun, compared
from board.analysis.compare.paired_prompts import PairedDifference, Rollouts, Visits
from board.analysis.prompts.shared_prompts import SharedPrompts, shared_prompts
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run


@dataclass(frozen=True)
class RunPair:
    """A number of two runs compared, B minus A."""

    metric: str
    visits: Visits
    a: ComparedRun
    b: ComparedRun
    shared: SharedPrompts
    total: PairedDifference
    unpaired: tuple[int, int]
    """Prompts of A, and of B, that are in no pair."""
    by_step: pd.DataFrame
    """As `paired_prompts.by_step`; empty where last visits are compared, whose steps differ."""
    prompts: pd.DataFrame
    """As `paired_prompts.by_prompt`, with `step_a`, `step_b`, `rollout_a` and `rollout_b`: where the pair is that is furthest apart, and
    the frames' keys of its first rollouts."""
    notes: tuple[str, ...]
    """What cannot be compared, or only with care, and why."""

    @property
    def has_scales_apart(self) -> bool:
        """Whether the number may be on different scales in the two runs, so that the difference does not show which is better."""
        return pair_notes.have_scales_apart((self.a, self.b))


def compare(a: Run, b: Run, metric: str = "reward", visits: Visits = "same step") -> RunPair:
    """Both runs by a number, over rollouts as `compared_run.compared` chooses them. Raises FieldMissing as it does."""
    side_a, side_b = compared((a, b), metric)
    sides = (side_a, side_b)
    shared = shared_prompts(side_a.run, side_b.run)
    of_a, of_b = (_rollouts(side, keys) for side, keys in zip(sides, (shared.a, shared.b), strict=True))
    paired = paired_prompts.pairs(of_a, of_b, NO_PROMPT, visits)
    total = paired_prompts.overall(paired)
    return RunPair(
        metric=metric,
        visits=visits,
        a=side_a,
        b=side_b,
        shared=shared,
        total=total,
        unpaired=(paired_prompts.unpaired(of_a, paired, NO_PROMPT), paired_prompts.unpaired(of_b, paired, NO_PROMPT)),
        by_step=paired_prompts.by_step(paired if visits == "same step" else paired.iloc[:0]),
        prompts=_with_places(paired_prompts.by_prompt(paired), paired, sides),
        notes=pair_notes.notes(sides, shared, metric, visits, total),
    )


def _rollouts(side: ComparedRun, keys: NDArray[np.int64]) -> Rollouts:
    return Rollouts(side.run.frame["step"].to_numpy(np.int64), keys, side.values)


def _with_places(prompts: pd.DataFrame, paired: pd.DataFrame, sides: tuple[ComparedRun, ComparedRun]) -> pd.DataFrame:
    """The prompts with the steps and the keys of the first rollouts of the pair that is furthest apart, in place of its row."""
    widest = paired.loc[prompts["widest"]]
    places = {f"step_{one}": widest[f"step_{one}"].to_numpy() for one in "ab"}
    for one, side in zip("ab", sides, strict=True):
        places[f"rollout_{one}"] = side.run.frame.index.to_numpy()[widest[f"first_{one}"].to_numpy(np.int64)]
    return prompts.drop(columns="widest").assign(**places)
