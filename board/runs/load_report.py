"""What loading a run found: shards, rows, bytes, and every problem.

Problems have their shard and line. They are data, not exceptions: the frame holds what could be read, the report says what could not.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from board.sources.candidates import HALF_WRITTEN, ONE_OBJECT
from board.sources.shards import Problem, Shard
from board.text.counting import listed

if TYPE_CHECKING:
    import pandas as pd

LOST: Final = "While recording, "
"""How a sentence begins that says what the recorder could not write: those rollouts or values are nowhere."""

LIGHTENED: Final = "The recorder's budget left "
"""How the sentence begins that says how many rollouts were recorded without token arrays, as the recorder's budget demands."""

MOST_PROBLEMS: Final = 1_000
"""So many problems of each severity are listed; the rest are counted. A run with a fault in every row has millions."""

NAMED: Final = 3
"""So many shards a sentence names."""


@dataclass
class LoadReport:
    """The account of one load. `problems` holds the first MOST_PROBLEMS of each severity, `counts` all of them."""

    shards: int = 0
    rows: int = 0
    bytes: int = 0
    """Size of the shards on disk."""
    seconds: float = 0.0
    cache_note: str = ""
    """Why nothing, or not everything, could be cached for the next load; empty when it could."""
    mended: list[str] = field(default_factory=list)
    """Shards of which something in the cache was not as it was written, and was read again from the shard: so far, as it shows when touched."""
    formats: dict[str, int] = field(default_factory=dict)
    """Whose files were read: shards by name of the format."""
    notes: dict[str, int] = field(default_factory=dict)
    """What a reader must know of the numbers, and for how many shards."""
    recording: list[str] = field(default_factory=list)
    """What the recorder says it lost or left out, a sentence each."""
    elsewhere: list[str] = field(default_factory=list)
    """What is wrong with the store that the run lies in, a sentence each."""
    keys: tuple[str, ...] = ()
    """Of the first record of an unknown format."""
    suggested_mapping: str = ""
    """Text of a mapping by hand to begin with, where the format is unknown."""
    aside: dict[str, str] = field(default_factory=dict)
    """The trainers whose own dumps lie next to this recording, and the folder that holds nothing else; "" where none does."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Files that hold no rollouts, and what was seen in them."""
    unfinished: list[str] = field(default_factory=list)
    """Shards whose last line is still being written."""
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    trains_ends: bool = False
    """Of what was parsed: whether the loss mask trains on end tokens."""
    doubts_ends: bool = False
    """Whether there are end tokens that are padding if it does so anywhere in the run."""
    _listed: Counter[str] = field(default_factory=Counter, repr=False)

    def add(self, problem: Problem) -> None:
        """Count a problem, and keep it while there is room."""
        self.counts[problem.severity] += 1
        self.add_counted(problem)

    def add_counted(self, problem: Problem) -> None:
        """Keep a problem that is counted already, while there is room."""
        self._listed[problem.severity] += 1
        if self._listed[problem.severity] <= MOST_PROBLEMS:
            self.problems.append(problem)

    @property
    def refused(self) -> int:
        """Lines and shards that were not loaded."""
        return self.counts["refused"]

    @property
    def flagged(self) -> int:
        """Things that are odd about what was loaded."""
        return self.counts["flagged"]

    @property
    def lost(self) -> list[str]:
        """What could not be written while recording, a sentence each."""
        return [sentence for sentence in self.recording if sentence.startswith(LOST)]

    @property
    def noted(self) -> list[str]:
        """What a reader must know of the numbers though nothing is wrong with them, a sentence each."""
        return [
            *self.notes,
            *self.elsewhere,
            *(sentence for sentence in self.recording if not sentence.startswith(LOST)),
            *self.damage,
            *(f"{name} {reason}." for name, reason in self.skipped.items() if reason in (ONE_OBJECT, HALF_WRITTEN)),
        ]

    @property
    def damage(self) -> list[str]:
        """That something in the cache was damaged, a sentence; empty when nothing was, as far as anybody has looked."""
        named = listed(self.mended, NAMED)
        return [f"What the cache held of {named} was damaged, and was read again from the run itself."] if self.mended else []

    @property
    def left_out(self) -> int:
        """Problems counted but not listed."""
        return self.counts.total() - len(self.problems)

    def why_no_rows(self, shard: Shard) -> str:
        """Why no rollout is of a shard."""
        if not shard.size:
            return "the file is empty"
        if shard.name in self.unfinished:
            return "its only line is still being written"
        refused = any(problem.shard == shard.name and problem.severity == "refused" for problem in self.problems)
        return "every line of it was refused" if refused else "there is no row in it"

    def to_frame(self) -> "pd.DataFrame":
        """The listed problems as columns severity, shard, line (nullable), reason."""
        # here alone: a process that parses makes no frame and starts sooner without it
        import pandas as pd

        rows = [(problem.severity, problem.shard, problem.line, problem.reason) for problem in self.problems]
        frame = pd.DataFrame(rows, columns=["severity", "shard", "line", "reason"])
        return frame.astype({"line": "Int64"})
