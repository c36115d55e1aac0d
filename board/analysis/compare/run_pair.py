"""Two runs compared by a number on their common prompts: differences, notes, and the two rollouts that stand for a prompt.

Runs in, numbers, small frames and sentences out. Equal prompts are found by `shared_prompts`, the statistics are
`paired_prompts`', the sentences `pair_notes`'.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

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


Visit = Literal["furthest apart", "last"]
"""The visits whose means lie furthest apart of those that were paired, or either run's last, whatever its step."""

Response = Literal["highest", "lowest", "first"]
"""Of a visit's responses the one with the largest number, with the least, or the first that was written."""

VISITS: Final[tuple[Visit, ...]] = get_args(Visit)
RESPONSES: Final[tuple[Response, ...]] = get_args(Response)


def rollouts_of_prompt(pair: RunPair, prompt: int, visit: Visit, response: Response) -> tuple[int, int]:
    """The frames' keys of a rollout of A and of one of B; `prompt` is in the index of `pair.prompts`."""
    steps: list[int | None] = [None, None]
    if visit == "furthest apart":
        steps = [*pair.prompts.loc[[prompt], ["step_a", "step_b"]].iloc[0].astype(int).tolist()]
    return (
        _rollout(pair.a, pair.shared.a == prompt, steps[0], response),
        _rollout(pair.b, pair.shared.b == prompt, steps[1], response),
    )


def _rollout(side: ComparedRun, of_prompt: NDArray[np.bool_], step: int | None, response: Response) -> int:
    """Key of the rollout to show, of those `of_prompt` (rows,) that have the number, at `step`; None for the last such step."""
    known = np.flatnonzero(of_prompt & np.isfinite(side.values))
    steps = side.run.frame["step"].to_numpy(np.int64)[known]
    there = known[steps == (steps.max() if step is None else step)]
    values = side.values[there]
    at = {"highest": values.argmax, "lowest": values.argmin, "first": lambda: 0}[response]()
    return int(side.run.frame.index.to_numpy()[there[at]])
