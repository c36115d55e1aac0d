"""W&B's tables of rollouts, from any trainer: `media/table/<name>_<step>_<digest>.table.json` in a run's folder.

The columns are known by their names. Knows the shape of these tables, and that NeMo Gym logs a rollout as JSON in one column.
"""

from collections.abc import Iterator
from typing import Final

from board.errors import RowRefused
from board.formats.aliases import SCALARS
from board.formats.common_fields import rewarded
from board.formats.contract import Head, Place
from board.formats.renaming import renamed, unpacked
from board.formats.row_reader import number_in
from board.formats.trainers import nemo_gym, wandb_table
from board.formats.validation import split_at
from board.sources.json_record import Record, as_text

NAME: Final = "W&B table of rollouts"
FAMILY: Final = "W&B"

_SAID: Final = (*SCALARS["response"], "prediction", "predictions", "trajectory", "model_output")
_ALIASES: Final = {
    **SCALARS,
    "response": _SAID,
    "reward": (*SCALARS["reward"], "correct", "is_correct", "accuracy"),
    "ground_truth": (*SCALARS["ground_truth"], "gold", "reference", "expected"),
}
_WITH_IT: Final = {"prompt", "reward", "step"}
"""One of these is in the table with the response."""
_PACKED: Final = "Rollout"
"""The only column of NeMo Gym's table."""


def recognise(head: Head) -> bool:
    """Whether a record is a table with a column that is called as a response is, and is not one of TRL's."""
    tables = [columns for record in head.records if (columns := wandb_table.columns(record))]
    named = [{*_names(columns).values()} for columns in tables]
    has_rollouts = any(columns == {_PACKED} for columns in tables) or any("response" in one and one & _WITH_IT for one in named)
    return has_rollouts and not wandb_table.recognise(head)


def _names(columns: set[str]) -> dict[str, str]:
    """Their columns → our names, each once, the likeliest first; capitals, blanks and what stands before a slash do not matter."""
    known = {column.lower().rpartition("/")[2].replace(" ", "_").replace("-", "_"): column for column in sorted(columns)}
    found = {ours: next((known[name] for name in names if name in known), None) for ours, names in _ALIASES.items()}
    return {column: ours for ours, column in found.items() if column is not None}


def rollouts(record: Record, place: Place) -> Iterator[Record | RowRefused]:
    """The rollouts of a table, and of a row that is none the reason. Raises RowRefused where it is no table."""
    return _rollouts(wandb_table.rows(record), wandb_table.step_of(place.name), place)


def _rollouts(rows: list[Record], logged: int, place: Place) -> Iterator[Record | RowRefused]:
    names = _names(set(rows[0])) if rows else {}
    for number, row in enumerate(rows, 1):
        try:
            if set(row) == {_PACKED}:
                yield from ({**one, "step": logged} for one in nemo_gym.rollouts(_packed(row), place))
            else:
                yield _rollout(row, names, logged, place)
        except RowRefused as error:
            yield RowRefused(f"row {number:,} of the table {error}")


def _packed(row: Record) -> Record:
    value = unpacked(row, _PACKED)
    if not isinstance(value, dict):
        raise RowRefused(f"`{_PACKED}` is no JSON object")
    return value


def _rollout(row: Record, names: dict[str, str], logged: int, place: Place) -> Record:
    rollout = {"step": logged, **renamed(row, names, ["step", "split"])}
    if rollout.get("response") is None:
        raise RowRefused("has no response")
    reward = rollout.pop("reward", None)
    number = number_in(reward) if isinstance(reward, str) else None
    said = rollout.get("split")
    return {
        **rollout,
        **rewarded(reward if number is None else number),
        "split": split_at(place, None if said is None else as_text(said)),
    }


def note(head: Head) -> str:
    """What was taken for what, where the step is from, and what a table may hold twice or not at all."""
    columns = next((found for record in head.records if (found := wandb_table.columns(record))), set())
    packed, names = columns == {_PACKED}, _names(columns)
    taken = ", ".join(f"{column} as {ours}" for column, ours in names.items() if column != ours)
    step = (
        ""
        if "step" in names.values()
        else "The step is the one in the file's name, which W&B counts: it may be that of the call before."
    )
    whole = "" if packed or "prompt" in names.values() else "No column is a prompt: the text may begin with it."
    some = "Tables often hold samples of a step, and one that grew repeats its rows in each file: means are of what was logged."
    return " ".join(filter(None, (f"Of the table's columns: {taken}." if taken else "", step, whole, some)))
