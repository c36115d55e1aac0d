"""TRL's completions of GRPO and of distillation: `completions/completions_00025.parquet`, a file a step, with `log_completions=True`.

Prompt and completion are text, or messages where the data set is conversational. The reward functions stand in columns of their own,
unweighted, and behind them what these log with `log_extra`, unmarked; the total that was optimised is not stored, and distillation has
none. An evaluation replaces the file of its step, and nothing in it says so. No token arrays. Loops of one's own write such rows, too,
with the total.
"""

import math
import re
from functools import partial
from typing import Final

from board.formats.aliases import SCALARS, set_of
from board.formats.common_fields import rewarded
from board.formats.contract import Head, Place
from board.formats.renaming import left_out, need, parts_between, renamed, sum_note, total
from board.formats.sampled_key import words
from board.sources.json_record import Record

NAME: Final = "TRL GRPO"
FAMILY: Final = "TRL"

_NAMES: Final = {"completion": "response"}
_SAID: Final = {"step", "prompt", "completion"}
"""All that a row of distillation has."""

_FILE: Final = re.compile(r"(?:^|/)completions_[0-9]+\.parquet$")

_TOTALS: Final = ("total", *(name for name in SCALARS["reward"] if "score" not in name))
"""What the total is called next to its parts; what is called a score may be one of them."""

_REWARD: Final = set_of("reward func accuracy correctness format penalty punishment bonus score rm")
"""Words of what reward functions are called."""

_METRIC: Final = set_of(
    "kl entropy length len second sec time latency duration token clip clipped logp logprob std mean min max value return loss grad lr"
)
"""Words of what is logged together with rewards."""


def recognise(head: Head) -> bool:
    """Whether a record is a completion with its advantage; without one, by having nothing else and TRL's name for the file."""
    return any(
        record.keys() >= _SAID
        and not isinstance(record["step"], list)  # ms-swift's rows are whole steps
        and ("advantage" in record or (record.keys() == _SAID and _FILE.search(head.name) is not None))
        for record in head.records
    )


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout in a row. Raises RowRefused when it has no step or no completion."""
    need(record, "step", "completion")
    if (whole := _total(record)) is not None:
        return [renamed(record, {**_NAMES, whole: "reward"}) | {"reward": None} | rewarded(record[whole])]
    parts, _ = _parts(record)
    return [renamed(record, _NAMES, ["reward"]) | left_out(parts) | {"reward": total(parts.values())}]


def note(head: Head) -> str:
    """That rewards are sums, of what, and what stands among these and was not added."""
    found = [_parts(record) for record in head.records if _total(record) is None]
    return sum_note((name for parts, _ in found for name in parts), (name for _, others in found for name in others))


def _total(record: Record) -> str | None:
    """The key of the total; None where there is none, as in TRL's own rows."""
    return next((name for name in _TOTALS if name in record), None)


def _parts(record: Record) -> tuple[Record, Record]:
    """What the reward functions gave, and what else: of the numbers between the completion and the advantage, the order being TRL's.

    What is called as a metric is no reward. Where the first are called rewards and all others are not, the others are taken for logged; a
    null may be a reward that did not apply, so that rows do not differ in this.
    """
    filled = {key: math.nan if value is None else value for key, value in record.items()}
    numbers = parts_between(filled, "completion", "advantage", partial(_says, meaning=_REWARD))
    may = [key for key in numbers if _says(key, _REWARD) or not _says(key, _METRIC)]
    named = [key for key in may if _says(key, _REWARD)]
    rewards = named if named and may[: len(named)] == named else may
    there = [key for key in numbers if record[key] is not None]
    return {key: record[key] for key in there if key in rewards}, {key: record[key] for key in there if key not in rewards}


def _says(key: str, meaning: frozenset[str]) -> bool:
    return not meaning.isdisjoint(words(key))
