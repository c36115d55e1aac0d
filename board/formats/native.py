"""The board's own row, as `board.recorder` and the trainers of its ancestor write it: recognised, and passed on as it is."""

from typing import Final

from board.formats.aliases import remarked
from board.formats.chat import chat, is_sampled, messages_in, turns, with_thought
from board.formats.common_fields import given, rewarded
from board.formats.contract import Head, Place
from board.formats.token_names import IDS
from board.schema import TOKENS
from board.sources.json_record import Record

NAME: Final = "native"
FAMILY: Final = "native"

_RELATIVES: Final[tuple[set[str], ...]] = (
    {"new_response_mask", "response_tokens"},
    {"prompt_idx", "sample_idx", "prompt_tokens"},
)
"""Keys by which rows of ROLL and of open-instruct differ from ours: their `values` are no critic's, their `response_tokens` are ids."""


def recognise(head: Head) -> bool:
    """Whether a record has a step and a response under our names, and not the keys of a relative that means something else by them."""
    return any(
        "step" in record
        and ("response" in record or TOKENS in record)
        and not any(record.keys() >= relative for relative in _RELATIVES)
        for record in head.records
    )


def rollouts(record: Record, place: Place) -> list[Record]:
    """The record itself; a reward that is an object or a list in its parts or as those of the tokens, the prompt from `messages` where
    nothing else has it, and a response with its thought."""
    reward, response = record.get("reward"), record.get("response")
    changed: Record = {}
    if isinstance(reward, (dict, list)):
        tokens = record.get(TOKENS) or record.get(IDS)
        changed = {"reward": None, **rewarded(reward, tokens), **given(token_rewards=record.get("token_rewards"))}
    if record.get("prompt") is None and (messages := messages_in(record.get("messages"))):
        changed["prompt"] = turns(messages)[0] if is_sampled(messages[-1]) else chat(messages)
    if (
        isinstance(response, str)
        and record.get(TOKENS) is None
        and (said := with_thought(record, "response", response)) != response
    ):
        changed["response"] = said
    return [{**record, **changed} if changed else record]


def note(head: Head) -> str:
    """Which keys are names of ours with a remark after them, so that they are read as columns of their own."""
    meant = {key: name for record in head.records for key in record if (name := remarked(key)) and name not in record}
    remarks = ", ".join(f"`{key[:80]}` should be `{name}`" for key, name in meant.items())
    return f"Read as columns of their own, since their names have a remark in them: {remarks}." if meant else ""
