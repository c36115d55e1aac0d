"""NeMo-RL's `train_data_step{N}.jsonl` and `val_data_step{N}.jsonl`: every value in a list of one.

Training has arrays over prompt, response and padding. The response begins at the first token trained on and ends where padding begins,
so that the environment's last word belongs to it. Neither step nor group is stored.
"""

from typing import Any, Final

import numpy as np

from board.errors import RowRefused
from board.formats.chat import is_chat, turns
from board.formats.common_fields import given, step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.masking import cut, hide, response_span
from board.formats.renaming import list_or_none, mask, need, renamed
from board.formats.row import FloatArray
from board.formats.row_reader import as_array, shown
from board.sources.json_record import Record, as_text
from board.text.counting import plural

NAME: Final = "NeMo-RL"
FAMILY: Final = "NeMo-RL"

_MASK: Final = "token_loss_mask"
_SAMPLED: Final = {"generation_logprobs": "rollout_logprobs", "prev_logprobs": "logprobs", "advantages": "advantages"}
"""Arrays in which a token that is not trained on has a dummy, and our names for them."""

_SEQUENCES: Final = {"token_ids": "response_token_ids", _MASK: "loss_mask", **_SAMPLED}
_MADE: Final = ("step", "prompt", "response", "split")


def recognise(head: Head) -> bool:
    """Whether a record is a numbered sample of messages with rewards or lengths wrapped in lists."""
    return any(
        "idx" in record and all(isinstance(record.get(key), list) for key in ("content", sized))
        for record in head.records
        for sized in ("rewards", "input_lengths")
    )


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout on a line. Raises RowRefused when it has no messages, or arrays that cannot be cut to the response."""
    row = {key: _unwrapped(key, value) for key, value in record.items()}
    need(row, "content")
    content, trained = list_or_none(row, "content"), mask(row, _MASK) if row.get(_MASK) is not None else None
    reward = "filtered_rewards" if "filtered_rewards" in row else "rewards"
    fields = {key: value for key, value in row.items() if key not in ("content", "rewards") or key == reward}
    rollout = renamed(_cut(fields, trained), {**_SEQUENCES, "idx": "sample_id", reward: "reward"}, _MADE)
    prompt, response = _texts(content, trained, row)
    return [rollout | step_and_split(place.name, split=_split(content, trained)) | given(prompt=prompt, response=response)]


def note(head: Head) -> str:
    """Where the step is from, and which of two rewards counts."""
    if any("filtered_rewards" in record for record in head.records):
        return f"{step_note(head.name)} The reward is `filtered_rewards`: with dynamic sampling `rewards` is of other samples."
    return step_note(head.name)


def _unwrapped(key: str, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if len(value) != 1:
        raise RowRefused(f"`{key}` holds {len(value):,} values where one is expected: {shown(value)}")
    return value[0]


def _split(content: list[Any], trained: FloatArray | None) -> str | None:
    """Validation has messages with roles and no tokens."""
    if trained is not None:
        return "train"
    return "evaluation" if is_chat(content) else None


def _cut(row: Record, trained: FloatArray | None) -> Record:
    """Every array over the sequence cut to the response, without its dummies."""
    arrays = {key: values for key in _SEQUENCES if (values := list_or_none(row, key)) is not None}
    if trained is None:
        if arrays:
            raise RowRefused(f"has `{next(iter(arrays))}` but no `{_MASK}`, which tells the response from the prompt")
        return row
    for key, values in arrays.items():
        if len(values) != trained.size:
            raise RowRefused(f"`{key}` has {plural(len(values), 'number')} against {trained.size:,} in `{_MASK}`")
    others = {key: values for key, values in row.items() if isinstance(values, list) and len(values) == trained.size}
    first, stop = _span(trained, row.get("input_lengths"))
    response = cut(others | arrays, first, stop)
    return row | {
        key: _without_dummies(values, trained[first:stop]) if key in _SAMPLED else values for key, values in response.items()
    }


def _without_dummies(values: list[Any], trained: FloatArray) -> Any:
    """The numbers of the tokens trained on; what holds anything but numbers stays a list, for its reader to say so."""
    array = as_array(values)
    return hide(values if array is None else array, trained)


def _span(trained: FloatArray, length: Any) -> tuple[int, int]:
    """(first, stop) of the response, what the environment said last included; (0, 0) when nothing was trained on."""
    first, stop = response_span(trained)
    return first, max(stop, min(length, trained.size)) if stop and isinstance(length, int) else stop


def _texts(content: list[Any], trained: FloatArray | None, row: Record) -> tuple[str | None, str]:
    """(prompt, response): the messages before the first one trained on, and the others. Their text is as the tokens spell it."""
    if not content:
        raise RowRefused("`content` holds no message")
    if is_chat(content):
        return turns(content)
    texts = [as_text(one) for one in content]
    first = len(texts) - (1 if trained is None else _messages(texts, trained, row))
    return "".join(texts[:first]) if first else None, "".join(texts[first:])


def _messages(texts: list[str], trained: FloatArray, row: Record) -> int:
    """How many of the messages are the response's: the policy's and the environment's take turns, as the mask does.

    The environment's last message may be empty or cut away. At least the last message is the response's.
    """
    turns_taken = int(np.count_nonzero(np.diff(trained.astype(bool).astype(int), prepend=0) == 1))
    answered = _span(trained, row.get("input_lengths"))[1] > response_span(trained)[1] or not texts[-1]
    count = 2 * turns_taken - 1 + answered
    return count if 0 < count < len(texts) else 1
