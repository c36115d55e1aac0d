"""tinker-cookbook's capture of sampling (`capture/sample.jsonl`): token ids and logprobs of every sample, without rewards and text.

Knows its keys.
"""

from typing import Any, Final

from board.errors import RowRefused
from board.formats.common_fields import step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.json_paths import found
from board.formats.row_reader import shown
from board.formats.validation import checked_list, listed_or_none, nested, split_at, without
from board.sources.json_record import Record, as_text

NAME: Final = "tinker-cookbook capture"
FAMILY: Final = "tinker-cookbook"

_KEYS: Final = {"scope", "prompt_tokens", "samples"}


def recognise(head: Head) -> bool:
    """By samples and the scope they were drawn in."""
    return head.has(_KEYS)


def rollouts(record: Record, place: Place) -> list[Record]:
    """Every sample of a call. Raises RowRefused when a call has none, as one that failed."""
    if record.get("samples") is None:
        raise RowRefused(f"has no `samples`; its status is {shown(record.get('status'))}")
    samples = checked_list(record, "samples", dict)
    scope = nested(record, "scope")
    shared = {
        **without(record, "samples", "scope", "prompt_tokens"),
        **without(scope, "iteration", "split", "group_idx", "traj_idx"),
        **step_and_split(place.name, scope.get("iteration"), split_at(place, scope.get("split"))),
        "group_id": scope.get("group_idx"),
        "prompt_token_ids": listed_or_none(record, "prompt_tokens", int),
    }
    name = [scope.get("traj_idx"), record.get("seq_id")]
    return [{**shared, **_rollout(one), **_named([*name, at if at else None])} for at, one in enumerate(samples)]


def _rollout(sample: Record) -> Record:
    """A sample's tokens and what the engine said of them."""
    tokens = checked_list(sample, "tokens", int)
    logprobs = listed_or_none(sample, "logprobs", object, len(tokens))
    return {**without(sample, "tokens", "logprobs"), "response_token_ids": tokens, "rollout_logprobs": logprobs}


def _named(parts: list[Any]) -> Record:
    """The trajectory, the call, and the sample in it where there are several."""
    known = [as_text(part) for part in parts if part is not None]
    return {"sample_id": ":".join(known)} if known else {}


def note(head: Head) -> str:
    """That a turn is a rollout here, and that rewards are elsewhere."""
    turns = "Each sampled turn is a rollout of its own, and rewards are not in these files."
    says_step = any(found(record, "scope.iteration") is not None for record in head.records)
    return f"{turns} {'' if says_step else step_note(head.name)}".strip()
