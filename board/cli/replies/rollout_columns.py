"""Which columns of a run's rollouts may be requested by name, and which a list has by default."""

from typing import Final

from board.errors import ArgumentRefused
from board.runs.run import Run

_DEFAULT: Final = ("reward", "valid_reward", "advantage_mean", "response_length", "response_chars", "kl_k3_mean", "data_source")
"""In each row of a list of rollouts, where the run has it."""

_PLACE: Final = ("step", "shard", "line")
"""Columns that `rollout` and `step` of a row say already."""


def askable(run: Run) -> list[str]:
    """Names of the columns of the run's frame that a list of rollouts may show and be sorted by."""
    return [str(name) for name in run.frame.columns if name not in _PLACE]


def by_default(run: Run) -> list[str]:
    """The columns of a list of rollouts unless others are requested."""
    return [name for name in _DEFAULT if name in run.frame.columns]


def checked(run: Run, names: list[str]) -> list[str]:
    """The names, each once, and each of a column or a text. Raises ArgumentRefused for one the run does not have, and says which there are."""
    there = [*askable(run), *_PLACE, *run.text_columns]
    if unknown := next((name for name in names if name not in there), None):
        raise ArgumentRefused(f"The run has no column {unknown!r}. It has {', '.join(there)}.")
    return list(dict.fromkeys(names))
