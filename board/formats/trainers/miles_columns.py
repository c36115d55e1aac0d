"""miles' dashboard columns: a Parquet row per sample with its tokens, and neither text nor reward.

Knows these rows. The same samples are in miles' torch dumps (`slime`), with text and reward.
"""

from typing import Final

from board.errors import RowRefused
from board.formats.common_fields import given, hidden, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.renaming import list_or_none
from board.formats.row_reader import shown
from board.formats.validation import whole
from board.sources.json_record import Record

NAME: Final = "miles columns"
FAMILY: Final = "miles columns"


def recognise(head: Head) -> bool:
    """Whether every record has a numbered sample's tokens, lengths and mask, and no text."""
    needed = {"sample_index", "response_length", "total_length", "tokens", "loss_mask"}
    return all(needed <= record.keys() and "response" not in record for record in head.records)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The tokens of a sample. Raises RowRefused when they are too few for the response."""
    ids, length, mask = list_or_none(record, "tokens"), whole(record, "response_length"), list_or_none(record, "loss_mask")
    if ids is None or len(ids) < length:
        raise RowRefused(f"`tokens` is {shown(record.get('tokens'))}, fewer than the {length:,} of the response")
    begins = len(ids) - length
    logprobs = list_or_none(record, "rollout_log_probs")
    return [
        {
            **step_and_split(place.name),
            **given(sample_id=record.get("sample_index"), loss_mask=mask, rollout_logprobs=hidden(logprobs, mask)),
            "prompt_token_ids": list(ids[:begins]),
            "response_token_ids": list(ids[begins:]),
        }
    ]


def note(head: Head) -> str:
    """That there is neither text nor reward, and where the step is from."""
    said = "There is neither text nor reward: tokens are ids until a tokenizer names them."
    return f"{said} {step_note(head.name)}"
