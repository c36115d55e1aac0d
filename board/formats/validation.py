"""Values read from a record, and the reason when they are not what the trainer writes.

Knows JSON's shapes and what a file's place says.
"""

from collections.abc import Sized
from typing import Any, Final

from board.errors import RowRefused
from board.formats.chat import messages_in, turns
from board.formats.contract import Place
from board.formats.filename_hints import split_in
from board.formats.row_reader import shown
from board.sources.json_record import Record
from board.text.counting import plural


def checked_list(record: Record, key: str, of: type = object, count: int | None = None, noun: str = "token") -> list[Any]:
    """The list under a key, its items of one type, as many as `count` of `noun` when that is given. Raises RowRefused naming the key."""
    value = record.get(key)
    if not isinstance(value, list):
        raise RowRefused(f"`{key}` is {shown(value)}, not a list" if key in record else f"has no `{key}`")
    sound = of is object or {*map(type, value)} <= {of}
    odd = None if sound else next((at for at, item in enumerate(value) if not isinstance(item, of)), None)
    if odd is not None:
        raise RowRefused(f"`{key}` holds {shown(value[odd])} at position {odd}, not {_A[of]}")
    if count is not None and len(value) != count:
        raise RowRefused(f"`{key}` has {plural(len(value), 'item')} for {plural(count, noun)}")
    return value


def listed_or_none(
    record: Record, key: str, of: type = object, count: int | None = None, noun: str = "token"
) -> list[Any] | None:
    """`listed`, or None when the key is missing or null: not every run records everything."""
    return None if record.get(key) is None else checked_list(record, key, of, count, noun)


def whole_or_none(record: Record, key: str) -> int | None:
    """The whole number under a key, None when it is missing or null. Raises RowRefused naming the key for anything else."""
    value = record.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise RowRefused(f"`{key}` is {shown(value)}, not a whole number")


def nested(record: Record, key: str) -> Record:
    """The object under a key; an empty one when there is none. Raises RowRefused for anything else."""
    value = record.get(key)
    if value is None or isinstance(value, dict):
        return value or {}
    raise RowRefused(f"`{key}` is {shown(value)}, not an object")


def spoken(messages: Any, key: str) -> tuple[str, str]:
    """(prompt, response) of the conversation under a key. Raises RowRefused for anything else."""
    if (said := messages_in(messages)) is None:
        raise RowRefused(f"`{key}` is {shown(messages)}, not a list of messages with roles")
    return turns(said)


def objects(record: Record, key: str) -> list[Record]:
    """The objects in a list under a key; none when there is no list. Raises RowRefused for anything else."""
    return listed_or_none(record, key, dict) or []


def whole(record: Record, key: str) -> int:
    """The whole number of at least 0 under a key. Raises RowRefused for anything else, or when there is none."""
    value = record.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise RowRefused(f"`{key}` is {shown(value)}, not a whole number of tokens" if key in record else f"has no `{key}`")


def as_long(values: Sized, length: int, key: str) -> None:
    """Raise RowRefused when a list is not as long as the tokens it belongs to."""
    if len(values) != length:
        raise RowRefused(f"`{key}` has {plural(len(values), 'number')} for {plural(length, 'token')}")


def without(record: Record, *keys: str) -> Record:
    """What a record holds in addition to these keys, nulls left out, under the trainer's own names."""
    return {key: value for key, value in record.items() if key not in keys and value is not None}


def split_at(place: Place, said: Any = None) -> str | None:
    """`train` or `evaluation`, by the word a record has for it, else by its path; None when neither says."""
    if isinstance(said, str) and said:
        return "train" if said.startswith("train") else "evaluation"
    return split_in(place.name)


_A: Final[dict[type, str]] = {list: "a list", dict: "an object", str: "text", int: "a whole number", object: "anything"}
"""What a list was to hold, as a message says it."""
