"""Marks of the text besides its colours: segments, and the tokens that hold most KL.

Pure: positions go in as those of the whole response and come out as those of the tokens that are sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board.analysis.tokens.segments import SegmentNode


@dataclass(frozen=True)
class Notes:
    """Marks of one response; positions count from 0."""

    stretches: Sequence[SegmentNode] = ()
    top_five: Sequence[int] = ()
    """The five tokens (or all there are) of greatest KL; empty where the row has no KL."""
    top_percent: Sequence[int] = ()
    """The 1 % of greatest KL, the five among them where 1 % is more."""
    shown: NDArray[np.int64] | None = field(default=None, repr=False)
    """Positions of the tokens that are sent, rising; None when they are all there are."""

    def meta(self) -> dict[str, Any]:
        """As JSON: segments as [first, stop, depth, label] and tokens by their place among those sent; what is not sent is left out."""
        segments = []
        for stretch in self.stretches:
            first, stop = (int(self._place(at)) for at in (stretch.first, stretch.stop))
            if first < stop:
                segments.append([first, stop, stretch.depth, stretch.label])
        return {"segments": segments, "top": {"five": self._places(self.top_five), "percent": self._places(self.top_percent)}}

    def _place(self, position: int) -> int:
        return position if self.shown is None else int(np.searchsorted(self.shown, position))

    def _places(self, positions: Sequence[int]) -> list[int]:
        rising = np.sort(np.asarray(positions, np.int64))
        if self.shown is None:
            return [int(position) for position in rising]
        return [int(place) for place in np.flatnonzero(np.isin(self.shown, rising))]
