"""Keys of means outside the catalogue: of a column, a part of the reward, a data source."""

from typing import Final, Literal

from board.analysis.rollouts.reward_parts import is_part

EVALUATED: Final = "evaluation/"
"""What a key begins with that is of evaluations during training."""
SOURCE: Final = "reward/source/"
_PART: Final = "reward/part/"
_COLUMN: Final = "column/{}/mean"

OwnMean = Literal["column", "part", "source"]


def key_of_column(name: str) -> str:
    """The key of the mean over rollouts of a numeric column: a part of the reward by its name, or any other."""
    return f"{_PART}{name}" if is_part(name) else _COLUMN.format(name)


def is_evaluated(key: str) -> bool:
    """Whether it is such a mean of evaluations during training."""
    return key.startswith(EVALUATED) and made_of(key) is not None


def made_of(key: str) -> tuple[OwnMean, str] | None:
    """What a key is the mean of, and the name of that column, part or data source; None where it is none of these."""
    plain, (before, after) = key.removeprefix(EVALUATED), _COLUMN.split("{}")
    if plain.startswith(SOURCE):
        return "source", plain.removeprefix(SOURCE)
    if plain.startswith(_PART):
        return "part", plain.removeprefix(_PART)
    return ("column", key.removeprefix(before).removesuffix(after)) if key.startswith(before) else None
