"""Rollouts that the trainer discarded from the groups on the screen.

They are listed with the other members, and in none of their numbers. Finds them, and leads to them; draws nothing.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.rollouts.groups import Grouped
from board.errors import FieldMissing
from board.metrics.formulas import Float64Array
from board.runs.run import Run
from board.schema import DISCARDED
from board.ui.state import caches, linked, place
from board.ui.state.place import View

RESPONSES_PAGE: Final = "board/ui/pages/responses/responses.py"


@dataclass(frozen=True)
class DiscardedMembers:
    """The rollouts that were discarded of a step's groups."""

    run: Run
    """They and all others of the run: where their numbers and texts are looked up."""
    grouped: Grouped | None
    """They alone, by their groups; None where nothing was discarded, or where they are what is looked at."""

    def of(self, step: int, group: int) -> NDArray[np.int64]:
        """The keys of those of one group, the best first, (n,)."""
        if self.grouped is None or (at := self.grouped.place(step, group)) is None:
            return np.zeros(0, np.int64)
        return self.grouped.by_reward(at)

    def numbers(self, name: str, keys: NDArray[np.int64]) -> Float64Array:
        """A column of the run for some of its rollouts, NaN where one has none, or the run has no such column. (n,)"""
        frame = self.run.frame
        return frame[name].reindex(keys).to_numpy(np.float64, na_value=np.nan) if name in frame else np.full(len(keys), np.nan)


def of_view(view: View) -> DiscardedMembers:
    """Those of the run that a page shows."""
    whole = view.whole_unfiltered
    if DISCARDED not in whole.splits or view.run.splits == (DISCARDED,):
        return DiscardedMembers(whole, None)
    discarded = caches.cached("split", lambda: whole.of_split(DISCARDED), whole, DISCARDED)
    try:
        return DiscardedMembers(whole, caches.groups(discarded, discarded))
    except FieldMissing:
        return DiscardedMembers(whole, None)


def open_on_responses(run: Run, key: int) -> None:
    """In a callback of the page Groups: show one of them on Responses, among all that was discarded."""
    (source,) = run.sources(np.array([key]))
    step = int(run.frame["step"].loc[key])
    linked.put(split=DISCARDED)
    place.go(step=step, rollout=source)
    place.remember(look=(RESPONSES_PAGE, {"step": step, "rollout": source}))
