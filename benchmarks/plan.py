"""What is to be measured and how often, as chosen on the command line."""

import sys
import time
from dataclasses import dataclass
from typing import Final

LARGE_MEGABYTES: Final = 500
"""From here on a run is large, and rounds are fewer."""


@dataclass(frozen=True)
class Plan:
    """Sizes and rounds."""

    megabytes: tuple[int, ...] = (25, 100, 1000)
    growth: tuple[int, ...] = (4000, 10_000)
    """Sizes that the largest run is multiplied to."""
    gzip_megabytes: int = 100
    short_rows: int = 1_000_000
    """Rollouts of the run whose responses are short."""
    rollouts: tuple[int, ...] = (1_000, 10_000, 100_000)
    index_megabytes: int = 200
    """Size of the run that is made into an index."""
    scale_millions: float = 2.0
    """Millions of short rollouts in the index that is opened as a sample."""
    rounds: int = 5
    large_rounds: int = 3
    before: str = ""
    """Another checkout of the board, whose first views are measured beside this one's; empty for none."""

    def rounds_of(self, megabytes: int) -> int:
        """How often a run of this size is opened."""
        return self.large_rounds if megabytes >= LARGE_MEGABYTES else self.rounds


def say(text: str) -> None:
    """Progress, on the standard error: the report is what is printed."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
