"""Fields under our names as several formats make them: step and split, a reward and its parts, and what is left of the record.

Knows the declared columns and that rewards come as numbers or dicts.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any, Final

from board.formats.filename_hints import split_in, step_or_zero
from board.formats.masking import hide
from board.formats.renaming import renamed, total
from board.formats.row import FloatArray
from board.formats.row_reader import as_array, as_number
from board.schema import NATIVE, TOKEN_IDS
from board.sources.json_record import Record

Numbers = list[Any] | FloatArray
"""One entry per token, as a list or as the array that stands for one."""

_OURS: Final = frozenset({column.name for column in NATIVE} | {*TOKEN_IDS, "prompt_token_ids"})
"""Names that mean something here, in any trainer's files."""

_MOST_PARTS: Final = 16
"""A longer list is of tokens rather than of parts."""

_TOTALS: Final = ("score", "reward", "total", "total_reward", "final", "final_reward", "overall", "sum")
"""What the total is called in a dict of rewards."""


def hidden(values: Numbers | None, mask: Numbers | None) -> Numbers | None:
    """The values with a gap at each masked token; all of them where there is no mask."""
    return values if values is None or mask is None else hide(values, [bool(one) for one in mask])


def step_and_split(name: str, step: Any = None, split: str | None = None) -> Record:
    """Step and split as the record says them, else as the path of its file does; step 0 when neither does, and no split."""
    return given(step=step_or_zero(name) if step is None else step, split=split or split_in(name))


def rewarded(reward: Any, tokens: Any = None) -> Record:
    """A reward under our names: a number as it is; of an object or a short list of numbers each part.

    The total is then the part that is called so, or the only number; a list of one number is that number. A list with a number for each of
    the tokens, if these are given, is the rewards at the tokens, and their sum the reward.
    """
    if isinstance(tokens, list) and isinstance(reward, list) and len(reward) == len(tokens) > 1 and as_array(reward) is not None:
        return given(reward=total(reward), token_rewards=reward)
    if isinstance(reward, list) and 0 < len(reward) <= _MOST_PARTS and all(as_number(one) is not None for one in reward):
        reward = reward[0] if len(reward) == 1 else {str(at): one for at, one in enumerate(reward, 1)}
    if not isinstance(reward, dict):
        return given(reward=reward)
    numbers = [value for value in reward.values() if as_number(value) is not None]
    only = numbers[0] if len(numbers) == 1 else None
    whole = next((reward[name] for name in _TOTALS if as_number(reward.get(name)) is not None), only)
    return given(reward=whole) | {f"reward.{name}": value for name, value in reward.items() if value is not None}


def reward_note(rewards: Iterable[Any]) -> str:
    """What to say of rewards that are dicts."""
    dicts = any(isinstance(reward, dict) for reward in rewards)
    return (
        f"Where a reward is a dict, reward is the first of its entries {', '.join(_TOTALS)} that is there, or its only number."
        if dicts
        else ""
    )


def other_fields(record: Record, placed: AbstractSet[str]) -> Record:
    """The fields of a record that are not placed one by one, the empty left out, under the trainer's names.

    A name that means something else here gets the suffix ` (logged)`.
    """
    left = {key: value for key, value in record.items() if key not in placed and value not in (None, [], {})}
    return renamed(left, {}, _OURS)


def given(**fields: Any) -> Record:
    """The fields that there are."""
    return {name: value for name, value in fields.items() if value is not None}
