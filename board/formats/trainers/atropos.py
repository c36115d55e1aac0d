"""Atropos' saved groups (`data_path_to_save_groups`): one group of rollouts a line, arrays over the whole sequence.

Knows Atropos' keys and its masks.
"""

from typing import Any, Final

import numpy as np

from board.formats.common_fields import step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.masking import cut, hide, response_span
from board.formats.renaming import of_sample
from board.formats.row_reader import as_array
from board.formats.validation import checked_list, listed_or_none, spoken, without
from board.sources.json_record import Record

NAME: Final = "Atropos"
FAMILY: Final = "Atropos"

_UNTRAINED: Final = -100
"""What `masks` holds at a token that is not trained on; at the others it repeats the token's id."""

_LOGPROBS: Final = {"ref_logprobs": "ref_logprobs", "inference_logprobs": "rollout_logprobs"}
"""Theirs → ours; at masked tokens they hold a dummy."""

_PER_SAMPLE: Final = ("overrides", "images", "distill_token_ids", "distill_logprobs")
"""Lists that must have an item per sample; any other list that has is split as they are."""


def recognise(head: Head) -> bool:
    """By lists of sequences with their masks and scores."""
    return any({"tokens", "masks", "scores"} <= record.keys() and _is_nested(record["masks"]) for record in head.records)


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, list) for item in value)


def rollouts(record: Record, place: Place) -> list[Record]:
    """Every sample of a group. Raises RowRefused when a list has not one item per sample."""
    count = len(checked_list(record, "tokens", list))
    for key in ("tokens", "masks", "scores", "advantages", "messages", *_LOGPROBS, *_PER_SAMPLE):
        listed_or_none(record, key, object, count, "sample")
    shared = {**step_and_split(place.name), "group_id": f"{place.name}:{place.number}"}
    return [{**_rollout(of_sample(without(record), at, count)), **shared, "sample_id": at} for at in range(count)]


def _rollout(sample: Record) -> Record:
    """One sample, its arrays cut to the response."""
    tokens = checked_list(sample, "tokens", int)
    mask = np.asarray(checked_list(sample, "masks", int, len(tokens))) != _UNTRAINED
    first, stop = response_span(mask)
    arrays = {ours: listed_or_none(sample, theirs, object, len(tokens)) for theirs, ours in _LOGPROBS.items()}
    others = without(sample, "tokens", "masks", "scores", "messages", "advantages", *_LOGPROBS)
    per_token = {key: value for key, value in others.items() if as_array(value) is not None and len(value) == len(tokens)}
    return {
        **others,
        **cut(per_token, first, stop),
        **_said(sample.get("messages")),
        **_advantage(sample, len(tokens), first, stop),
        **cut({name: hide(values, mask) for name, values in arrays.items() if values is not None}, first, stop),
        "reward": sample.get("scores"),
        "loss_mask": mask[first:stop].astype(np.float32),
        "response_token_ids": tokens[first:stop],
        "prompt_token_ids": tokens[:first] if stop else tokens,
    }


def _advantage(sample: Record, count: int, first: int, stop: int) -> Record:
    """Advantages are one number per token, or one for the whole sample."""
    value = sample.get("advantages")
    if isinstance(value, list):
        return cut({"advantages": checked_list(sample, "advantages", object, count)}, first, stop)
    return {} if value is None else {"advantage": value}


def _said(messages: Any) -> Record:
    """Prompt and response out of a sample's chat; nothing when the environment saved none."""
    if messages is None:
        return {}
    prompt, response = spoken(messages, "messages")
    return {"prompt": prompt, "response": response}


def note(head: Head) -> str:
    """That Atropos writes no step."""
    return step_note(head.name)
