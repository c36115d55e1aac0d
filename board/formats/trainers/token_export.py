"""prime-rl's token export: one sequence a line as the trainer saw it, arrays over prompt and response, and no text.

Knows the export's fields; which token is text is a tokenizer's business.
"""

from typing import Final

import numpy as np

from board.errors import RowRefused
from board.formats.common_fields import given, step_and_split
from board.formats.contract import Head, Place
from board.formats.masking import cut, hide, response_span
from board.formats.renaming import list_or_none, need
from board.formats.validation import as_long
from board.sources.json_record import Record

NAME: Final = "prime-rl token export"
FAMILY: Final = "prime-rl token export"

_RENAMED: Final = {
    "trainer_logprobs": "logprobs",
    "inference_logprobs": "rollout_logprobs",
    "entropy": "entropies",
    "rewards": "token_rewards",
}
"""Fields that hold a number per token of the sequence, and their names here."""

_UNCHANGED: Final = (
    *("advantages", "mismatch_kl", "log_importance_ratio", "importance_ratio", "prob_delta"),
    *("is_masked", "is_masked_high", "is_masked_low", "rl_weights", "ce_weights", "ref_kl_weights"),
)
"""Fields that hold a number per token and keep their names."""

_FILLED: Final = ("logprobs", "entropies")
"""What the trainer fills in for the first token of a sequence, which nothing predicts."""

_SCALARS: Final = ("rank", "micro_step", "training_mode", "run_id", "export_step")


def recognise(head: Head) -> bool:
    """Whether every record has a sequence's ids and what trainer and inference engine thought of them."""
    needed = {"token_ids", "loss_mask", "trainer_logprobs", "inference_logprobs"}
    return head.all_have(needed)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The response in a sequence: from its first trained token to its last. Raises RowRefused naming what is not as long as the ids."""
    need(record, "token_ids", "loss_mask")
    ids, mask = list_or_none(record, "token_ids"), [bool(trained) for trained in list_or_none(record, "loss_mask")]
    as_long(mask, len(ids), "loss_mask")
    first, stop = response_span(mask)
    if not stop:
        raise RowRefused("`loss_mask` has no trained token: where the response begins is not known")
    sampled = [int(trained) for trained in mask[first:stop]]
    return [
        {
            **step_and_split(place.name, record.get("step")),
            **given(data_source=record.get("env_name"), sample_id=_sample(record)),
            **given(**{key: record.get(key) for key in _SCALARS}),
            "prompt_token_ids": ids[:first],
            "response_token_ids": ids[first:stop],
            "loss_mask": sampled,
            **_repeated(_unfilled(cut(_arrays(record, len(ids)), first, stop), sampled, first), sampled),
        }
    ]


def note(head: Head) -> str:
    """That there is no text, and no reward but in old versions."""
    if any("rewards" in record for record in head.records):
        return "There is no text: tokens are ids until a tokenizer names them."
    return "There is neither text nor reward: tokens are ids until a tokenizer names them."


def _arrays(record: Record, length: int) -> Record:
    """The arrays over the sequence under our names; one of nulls alone says nothing and stays away."""
    found: Record = {}
    for key, name in {**_RENAMED, **{name: name for name in _UNCHANGED}}.items():
        values = list_or_none(record, key)
        if values is None or all(value is None for value in values):
            continue
        as_long(values, length, key)
        found[name] = values
    return found


def _unfilled(arrays: Record, sampled: list[int], first: int) -> Record:
    """The arrays of the response without what only fills them: at tokens that were not sampled, and at a first token that nothing predicts."""
    masks = {"rollout_logprobs": sampled, **({} if first else {name: [0] for name in _FILLED})}
    return {name: hide(values, masks[name]) if name in masks else values for name, values in arrays.items()}


def _repeated(arrays: Record, sampled: list[int]) -> Record:
    """A reward that is the same at every trained token is that of the sequence, and said once."""
    rewards = arrays.get("token_rewards", [])
    trained = [value for value, one in zip(rewards, sampled, strict=False) if one and value is not None]
    if not trained or any(value != trained[0] for value in trained) or not isinstance(trained[0], (int, float, np.floating)):
        return arrays
    return {**{name: values for name, values in arrays.items() if name != "token_rewards"}, "reward": float(trained[0])}


def _sample(record: Record) -> str | None:
    """Rank and place in it, which together name a sequence of a step."""
    place = record.get("export_sequence_idx")
    return None if place is None else f"{record.get('rank', 0)}.{place}"
