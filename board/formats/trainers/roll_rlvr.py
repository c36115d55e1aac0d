"""ROLL's rollout dump of RLVR, `rollout_dump_data.step_{N}.jsonl`: one line whose values are columns. No token arrays."""

from typing import Final

from board.formats.common_fields import given
from board.formats.contract import Head, Place
from board.formats.filename_hints import split_in
from board.formats.renaming import need, renamed, rows, unpacked
from board.sources.json_record import Record

NAME: Final = "ROLL RLVR"
FAMILY: Final = "ROLL"

_NAMES: Final = {
    "global_step": "step",
    "responses": "response",
    "scores": "reward",
    "id": "sample_id",
    "source": "data_source",
}

_MADE: Final = ("split", "prompt_id")


def recognise(head: Head) -> bool:
    """Whether a record is columns of responses and scores."""
    return any(
        "global_step" in record and all(isinstance(record.get(key), list) for key in ("responses", "scores"))
        for record in head.records
    )


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollouts of a step. Raises RowRefused when it has no step or no responses, or columns that do not fit together."""
    need(record, "global_step", "responses")
    return [_rollout(row) | given(split=split_in(place.name)) for row in rows(record, "responses")]


def note(head: Head) -> str:
    """Which reward this is."""
    return "The reward is the score as the reward worker gave it, before normalisation."


def _rollout(row: Record) -> Record:
    """A row under our names; without a prompt, the messages that make it."""
    prompted = row if row.get("prompt") is not None else {**row, "prompt": unpacked(row, "messages")}
    return renamed(prompted, _NAMES, _MADE) | given(prompt_id=row.get("id"))
