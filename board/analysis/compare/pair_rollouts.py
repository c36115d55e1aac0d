"""The two rollouts that stand for a prompt which two runs are compared on."""

from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from board.analysis.compare.compared_run import ComparedRun
from board.analysis.compare.run_pair import RunPair

Visit = Literal["furthest apart", "last"]
"""The visits whose means lie furthest apart of those that were paired, or either run's last, whatever its step."""

Response = Literal["highest", "lowest", "first"]
"""Of a visit's responses the one with the largest number, with the least, or the first that was written."""

VISITS: Final[tuple[Visit, ...]] = get_args(Visit)
RESPONSES: Final[tuple[Response, ...]] = get_args(Response)


def rollouts(pair: RunPair, prompt: int, visit: Visit, response: Response) -> tuple[int, int]:
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
