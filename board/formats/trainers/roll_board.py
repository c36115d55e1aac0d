"""ROLL's logging-board files, `data_{time}.jsonl` of `save_logging_board_dir`: rows nearly like ours.

Their arrays have three lengths: to the end of the padded sequence, over the whole of it, and that of the padded tokens. They are cut to
the response, which the mask tells from padding.
"""

from typing import Any, Final

from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.masking import hide, response_span
from board.formats.renaming import list_or_none, mask, need, renamed
from board.formats.row import FloatArray
from board.sources.json_record import Record
from board.text.counting import plural

NAME: Final = "ROLL board"
FAMILY: Final = "ROLL"

_MASK: Final = "new_response_mask"
_ALIGNED: Final = {
    "logprobs": "logprobs",
    "log_probs2": "log_probs2",
    "ref_logprobs": "ref_logprobs",
    "old_log_probs2_entropy": "entropies",
    _MASK: "loss_mask",
}
"""Arrays that begin at the first token of the response, and our names for them."""


_NAMES: Final = {**_ALIGNED, "response_tokens": "response_tokens", "token_rewards": "token_rewards"}


def recognise(head: Head) -> bool:
    """Whether a record is a row with ROLL's mask."""
    return head.has({_MASK, "response_tokens", "step"})


def rollouts(record: Record, place: Place) -> list[Record]:
    """The rollout on a line, without `values`, which is a copy of the token rewards. Raises RowRefused when arrays do not fit the mask."""
    need(record, "step")
    trained = mask(record, _MASK)
    stop = response_span(trained)[1]
    there = [key for key in (*_ALIGNED, "token_rewards") if record.get(key) is not None]
    arrays = {key: _cut(key, _aligned(record, key, trained.size), trained[:stop]) for key in there}
    tokens = list_or_none(record, "response_tokens")
    cut = record | arrays | ({"response_tokens": tokens[:stop]} if tokens is not None else {})
    return [renamed({key: value for key, value in cut.items() if key != "values"}, _NAMES)]


def note(head: Head) -> str:
    """Which reward this is."""
    return "ROLL stores the reward after normalisation and clipping."


def _aligned(record: Record, key: str, size: int) -> Any:
    """An array from the first token of the response on; token rewards run over the prompt too, and end where the mask ends."""
    values = list_or_none(record, key)
    if len(values) != size and (key != "token_rewards" or len(values) < size):
        raise RowRefused(f"`{key}` has {plural(len(values), 'number')} against {size:,} in `{_MASK}`")
    return values[len(values) - size :]


def _cut(key: str, values: Any, trained: FloatArray) -> Any:
    """An array to the end of the response, without dummies; None when there is no response."""
    response = values[: trained.size] if trained.size else None
    return response if key == _MASK or response is None else hide(response, trained)
