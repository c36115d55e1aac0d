"""ART's trajectories: a Parquet row per trajectory (with or without the full model as JSON), earlier a JSON line per group.

Knows ART's keys, its choices and their logprobs.
"""

import json
import re
from typing import Any, Final

from board.errors import RowRefused
from board.formats.aliases import set_of
from board.formats.chat import is_chat, turns
from board.formats.common_fields import step_and_split
from board.formats.contract import Head, Place
from board.formats.filename_hints import step_note
from board.formats.renaming import unpacked
from board.formats.row_reader import shown
from board.formats.validation import checked_list
from board.sources.json_record import Record

NAME: Final = "ART"
FAMILY: Final = "ART"

_ROW: Final = set_of("group_index reward metrics metadata tools logs messages")
"""What every release writes of a trajectory; some add what its group has."""

_TURNS: Final = "messages_and_choices"
_WHOLE: Final = "trajectory_json"
"""The full trajectory in a row of version 2; the row's other keys repeat it."""

_TOKEN_ID: Final = re.compile(r"token_id:([0-9]{1,9})")
"""How vLLM writes a token when it is to return ids."""


def recognise(head: Head) -> bool:
    """By a row's columns, or by a list of trajectories with their choices."""
    return any(record.keys() >= _ROW or _is_group(record.get("trajectories")) for record in head.records)


def _is_group(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) and _TURNS in one for one in value)


def rollouts(record: Record, place: Place) -> list[Record]:
    """The trajectory of a row, or every one of a group."""
    placed = step_and_split(place.name)
    if "trajectories" not in record:
        if _stands_for_a_group(record):
            return []
        ids = {"group_id": record.get("group_index"), "sample_id": record.get("trajectory_index")}
        return [{**_rollout(_unpacked(record)), **placed, **ids}]
    group = {f"group_{key}": value for key, value in record.items() if key != "trajectories"}
    members = checked_list(record, "trajectories", dict)
    return [{**group, **_rollout(one), **placed, "group_id": place.number, "sample_id": at} for at, one in enumerate(members)]


def _stands_for_a_group(row: Record) -> bool:
    """Whether a row of version 2 holds no trajectory but what its group says of itself, none of its trajectories having come through."""
    return "trajectory_index" in row and row["trajectory_index"] is None and row.get(_WHOLE) is None


def _unpacked(row: Record) -> Record:
    """A row with its JSON texts parsed, and with the full trajectory where the row has one."""
    found = {key: _parsed(value) if key not in (_WHOLE, "group_json") else None for key, value in row.items()}
    if row.get(_WHOLE) is None:
        return found
    whole = unpacked(row, _WHOLE)
    if not isinstance(whole, dict):
        raise RowRefused(f"`{_WHOLE}` is {shown(row[_WHOLE])}, not an object as JSON")
    return {**found, **whole, "messages": None}


def _parsed(value: Any) -> Any:
    """What a text says when it is a JSON object or list; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _rollout(trajectory: Record) -> Record:
    """A trajectory under our names: its turns as prompt and response, the tokens of its choices where there are any."""
    key = _TURNS if trajectory.get(_TURNS) is not None else "messages"
    messages = [_message(item) for item in checked_list(trajectory, key, dict)]
    if not is_chat(messages):
        raise RowRefused(f"`{key}` holds {shown(trajectory[key])}, not messages with roles")
    prompt, response = turns(messages)
    rest = {name: value for name, value in trajectory.items() if name not in (key, "group_index", "trajectory_index")}
    return {
        **{name: value for name, value in rest.items() if value not in (None, [], {})},
        **_tokens([message for message in messages if message.get("trainable") is True]),
        "prompt": prompt,
        "response": response,
    }


def _message(item: Record) -> Record:
    """A message as chat has it; a choice is one that the policy wrote, and may hold its logprobs."""
    inner = item.get("message")
    message = {**inner, "trainable": True, "logprobs": item.get("logprobs")} if isinstance(inner, dict) else item
    return {**message, "tool_calls": _parsed(message.get("tool_calls"))}


def _tokens(choices: list[Record]) -> Record:
    """The tokens of all choices, one behind the other; nothing when one of them has none."""
    contents = [_content(choice.get("logprobs")) for choice in choices]
    if not contents or None in contents:
        return {}
    entries = [entry for content in contents if content is not None for entry in content]
    texts = [entry.get("token") for entry in entries]
    ids = [int(match[1]) for text in texts if isinstance(text, str) and (match := _TOKEN_ID.fullmatch(text))]
    if len(ids) != len(texts) and not all(isinstance(text, str) for text in texts):
        raise RowRefused("`logprobs.content` holds an entry whose `token` is not text")
    alternatives = [entry.get("top_logprobs") or None for entry in entries]
    return {
        **({"response_token_ids": ids} if len(ids) == len(texts) else {"response_tokens": texts}),
        "rollout_logprobs": [entry.get("logprob") for entry in entries],
        **({"top_logprobs": alternatives} if any(alternatives) else {}),
    }


def _content(logprobs: Any) -> list[Record] | None:
    """The tokens in a choice's logprobs; None when there are none."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    return None if content is None else checked_list({"logprobs.content": content}, "logprobs.content", dict)


def note(head: Head) -> str:
    """That a response of several turns has tokens of its choices alone, and where steps are from."""
    tokens = "Tokens are those of the choices; what tools answered between them is in the text alone. "
    return f"{tokens if any(_WHOLE in record for record in head.records) else ''}{step_note(head.name)}"
