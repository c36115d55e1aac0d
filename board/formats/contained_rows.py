"""Rows within one object that no other format knows, such as `{"meta": …, "results": [{…}, …]}`: read as the guess at a mapping says.

Tried after all others, and only believed where no file next to it is known: a `metrics.json` must not become rollouts.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Final

from board.errors import RowRefused
from board.formats.aliases import SCALARS
from board.formats.chat import is_chat, messages_in
from board.formats.contract import Head, Place
from board.formats.json_paths import SPLIT_KEY, found, rows_at, rows_within
from board.formats.mapping import HandMapping, Key, Source
from board.formats.mapping_file import parse, quoted
from board.formats.sampled_key import SURE, columns_of, find
from board.formats.suggest_mapping import guess
from board.sources.json_record import Record

NAME: Final = "rows in one object"
FAMILY: Final = NAME

SPEAKS: Final = frozenset({"prompt", "response_tokens", "prediction", *SCALARS["response"]}) - {"text"}
"""Keys of rollouts, whatever wrote them: a file with one of them is no list of metrics, though its format is unknown."""

_ROWS: Final = 8
"""So many rows are looked at for the guess."""
_LOOKED_AT: Final = 1_000
"""So many for what the keys over them say."""


def lists_of_rows(record: Record) -> list[tuple[str, list[Record]]]:
    """The lists of rollouts within an object, by path, the longest first; none in one that is a rollout, nor within or around another.
    Objects under keys of their own may be rollouts whatever they say."""
    if not SPEAKS.isdisjoint(record) or any(map(messages_in, record.values())):
        return []
    found = [(path, rows) for path, rows in rows_within(record) if not is_chat(rows) and (_speaks(rows[0]) or path.endswith("*"))]
    found = [(path, rows) for path, rows in found if path == "*" and not SPEAKS.isdisjoint(rows[0])] or found
    taken: set[int] = set()
    apart: dict[str, list[Record]] = {}
    for path, rows in sorted(found, key=lambda one: -len(one[1])):
        if taken.isdisjoint(map(id, rows)) and not any(other.startswith(f"{path}.") for other in apart):
            apart[path] = rows
            taken.update(map(id, rows))
    return [*apart.items()]


def is_by_columns(record: Record) -> bool:
    """Whether an object is a table as pandas writes it by default: under each column an object with the same numbers of rows."""
    rows = next(iter(record.values()), None)
    return (
        isinstance(rows, dict)
        and not SPEAKS.isdisjoint(record)
        and all(isinstance(column, dict) and column.keys() == rows.keys() for column in record.values())
        and all(map(str.isdecimal, rows))
    )


def _with_rows(record: Record) -> Record:
    if not is_by_columns(record):
        return record
    return {"columns": [{name: column[at] for name, column in record.items()} for at in next(iter(record.values()))]}


def _speaks(row: Record, depth: int = 2) -> bool:
    """Whether a row, or an object in it, has a key of rollouts, or a conversation."""
    if not SPEAKS.isdisjoint(row) or any(map(messages_in, row.values())):
        return True
    return any(_speaks(value, depth - 1) for value in row.values() if depth and isinstance(value, dict))


def guess_within(record: Record, path: str, rows: list[Record], name: str) -> str:
    """The text of a mapping for the rows at a path of a record; empty where nothing in them looks like what the policy sampled."""
    text = guess(rows[:_ROWS], name)
    if text and "*" in path and (around := _by_key(record, path, parse(text))):
        text = guess(rows[:_ROWS], name, around)
    left = [quoted(other) for other, _ in lists_of_rows(record) if other != path]
    unread = f"# Not read, as a mapping reads one list: the rows at {', '.join(left)}.\n" if left else ""
    return f"{unread}rows = {quoted(path)}\n\n{text}" if text else ""


def _by_key(record: Record, path: str, mapping: HandMapping) -> dict[str, Source]:
    """What the keys over lists of rows say: the split, or the step where rows of one key have different prompts, else the group."""
    if path == "*" and all(map(SPLIT_KEY.fullmatch, record)):
        return {"split": Key("*")}
    prompt = mapping.fields.get("prompt")
    if not isinstance(prompt, Key):
        return {}
    prompts: dict[str, list[str]] = {}
    for row, *around in islice(rows_at(record, path), _LOOKED_AT):
        key = next((one["*"] for one in around if one.keys() == {"*"}), None)
        if key is not None:
            prompts.setdefault(key, []).append(str(found(row, prompt.path)))
    if not any(len(some) > 1 for some in prompts.values()):
        return {}
    if all(len({*some}) == 1 for some in prompts.values()):
        return {"group_id": Key("*")}
    return {"step": Key("*")} if all(key[-1:].isdecimal() for key in prompts) else {}


def ask(found: tuple[str, list[Record]]) -> bool:
    """Whether rows at a path hold a prompt each: then they are rollouts rather than messages, or samples of one prompt around them."""
    _, rows = found
    return not is_chat(rows) and all(not row.keys().isdisjoint({"prompt", *SCALARS["prompt"]}) for row in rows[:_ROWS])


def recognise(head: Head) -> bool:
    """One record with exactly one list of rows, under whose keys one is called as a response is, or is a conversation."""
    return len(head.records) == 1 and _text(head.records[0], head.name) != ""


def rollouts(record: Record, place: Place) -> Iterable[Record | RowRefused]:
    """The rows of the one list, as the guess maps them. Raises RowRefused where there is no such list, or more."""
    text = _text(record, place.name)
    if not text:
        raise RowRefused("holds no list of rollouts, or more than one")
    return _mapping(text).rollouts(_with_rows(record), place)


def note(head: Head) -> str:
    """Where the rows stand, and which keys were taken for what."""
    mapping = _mapping(_text(head.records[0], head.name))
    keys = {name: source.path for name, source in mapping.fields.items() if isinstance(source, Key)}
    named = [f"{'the key over them' if path == '*' else f'`{path}`'} is {name}" for name, path in keys.items()]
    named += [f"`{path}` is a part of the reward" for path, _ in mapping.reward_parts]
    constant = "" if isinstance(mapping.fields["step"], Key) else " Its rows name no step."
    return f"The rows are those at `{mapping.rows}`, read by a guess: {', '.join(named)}.{constant}"


def _text(record: Record, name: str) -> str:
    """The mapping for a record's one list of rows; empty where it has none or more, or what was sampled is too unsure."""
    record = _with_rows(record)
    within = lists_of_rows(record)
    said = find(columns_of(within[0][1][:_ROWS])) if len(within) == 1 else None
    return guess_within(record, *within[0], name) if said is not None and said.why in SURE else ""


@lru_cache(maxsize=4)
def _mapping(text: str) -> HandMapping:
    return parse(text)
