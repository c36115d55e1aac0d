"""tinker-cookbook's evaluations of speech (`eval_rollouts_000.jsonl`, a file an evaluation): a transcript and the right one.

What was heard is not stored, and no step: files are counted. Knows their keys.
"""

import re
from typing import Any, Final

from board.errors import RowRefused
from board.formats.common_fields import given
from board.formats.contract import Head, Place
from board.formats.row_reader import as_number, shown
from board.formats.validation import without
from board.schema import EVALUATION
from board.sources.json_record import Record, as_text

NAME: Final = "tinker-cookbook speech"
FAMILY: Final = "tinker-cookbook"

_KEYS: Final = {"ref", "hyp", "wer"}
_FILE: Final = re.compile(r"eval_rollouts_(?:(?P<split>.+)_)?(?P<nth>[0-9]{1,9})\.jsonl")


def recognise(head: Head) -> bool:
    """By a transcript, its reference and its word error rate."""
    return head.all_have(_KEYS)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The transcript on a line. Raises RowRefused when it or its error rate is missing."""
    rate, said = as_number(record.get("wer")), record.get("raw", record.get("hyp"))
    if rate is None or not isinstance(said, str):
        raise RowRefused(
            f"`wer` is {shown(record.get('wer'))}, not a number" if rate is None else f"`hyp` is {shown(said)}, not text"
        )
    file = _FILE.fullmatch(place.name.rpartition("/")[2])
    clip = record.get("id", place.number)
    return [
        {
            **without(record, "ref", "raw", "id"),
            **given(data_source=file["split"] if file else None),
            "step": int(file["nth"]) if file else 0,
            "split": EVALUATION,
            "group_id": as_text(clip),
            "prompt_id": as_text(clip),
            "response": said,
            "ground_truth": record.get("ref"),
            "reward": _graded(record, rate),
        }
    ]


def _graded(record: Record, rate: float) -> Any:
    """Whether the emotion is right, where one is to be named; else minus the error rate, at most 1, which the recipe trains on."""
    return record["emotion_correct"] if "emotion_correct" in record else -min(rate, 1.0)


def note(head: Head) -> str:
    """What stands for the step and the reward, and what the mean of it is not."""
    graded = (
        "The reward is `emotion_correct`."
        if any("emotion_correct" in record for record in head.records)
        else "The reward is minus `wer`, at most 1, as the recipe trains: its mean is not the word error rate of all clips."
    )
    return f"The step is the number of the evaluation, from the name of the file. {graded}"
