"""Which key of records that no format knows holds what the policy sampled: by what keys are called, by shape, and by what differs.

Knows words and shapes.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from board.formats.aliases import PER_TOKEN, PROMPT_TOKENS, SCALARS, in_english, set_of
from board.formats.chat import is_chat, is_sampled, is_thought, items_in, messages_in
from board.formats.json_paths import found
from board.sources.json_record import Record

Values = Sequence[Any]
"""What stands at one path in each record, None where nothing does."""

Columns = Mapping[str, Values]
"""Path → what stands there in each record."""

_DEPTH: Final = 8
"""How deep objects are looked into: below that they are data rather than fields."""

_PER_TOKEN: Final = {alias for aliases in (*PER_TOKEN.values(), PROMPT_TOKENS) for alias in aliases}


_REFERENCES: Final = set_of(
    "doc gt gold golden target reference ref expected true truth correct canonical oracle label rejected groundtruth"
)
"""A key with such a word, and all below it, was written by who made the data set."""

_INPUT: Final = set_of(
    "prompt question query problem instruction input context prefix passage document task user system request var setting config"
    " argument arg param kwarg schema template option shot fewshot example test tool metadata meta statement description observation obs"
    " retrieval retrieved evidence"
)
"""Words of what the model was given."""

_SAID: Final = set_of("response resp completion output generation generated reply sampled prediction predict attempt gen")
"""Words of what a model wrote."""

_BY_MODEL: Final = set_of(
    "model llm policy assistant agent ai bot student actor generated predicted sampled actual candidate raw full text str rollout list"
    " all content final"
)
"""Words that may be added to those without changing what is meant."""

_WRITERS: Final = set_of(
    "model llm gpt chatgpt policy assistant agent ai bot student generated predicted sampled actual candidate"
)
"""Words that say of an answer or a text that a model wrote it."""

_BEFORE: Final = set_of("base baseline sft init initial")
"""Words of a model before its training: the policy's own text comes first."""

_UNSURE: Final = set_of("output prediction attempt gen")
"""A data set calls its own solution so, too: a key that says more comes first."""

_PERHAPS: Final = set_of(
    "pred answer ans solution trajectory traj transcript trace rollout sample candidate hypothesis text code patch content"
    " message conversation result reasoning cot thought generated predicted turn"
)
"""Words of keys that hold what was sampled where nothing says so better."""

_TURNS: Final = set_of("step turn action chunk paragraph sentence")
_PIECES: Final = _TURNS | {"history", "trajectory", "traj"}
"""A list that is called so holds pieces of one response, not samples; trajectories that each hold a response are samples."""

_ONE: Final = set_of("history trajectory conversation")
"""Objects under such a key are turns of one."""

_BY_BOTH: Final = set_of("answer solution explanation rationale")
"""What stands next to a question under such a key is the data set's, unless it has another."""

_NEVER: Final = set_of("judge judgement judgment grader critic critique verifier tool stop error labelling")
"""A key with such a word was written neither by the policy nor for it."""

_ENDS: Final = set_of(
    "id ids uid uuid guid hash sha md5 checksum digest fingerprint time timestamp date datetime created path file filename dir folder"
    " url uri link count num number length len size token usage cost price seed version name type kind status category"
    " subject level difficulty source dataset split language lang reason reward score rating metric log stderr stdout role"
    " object generator title choice grade verdict correctness option key tag index idx format mask model provider repo commit branch author"
)
"""How a key ends that tells of a text rather than holding it."""

_HOLDS: Final = set_of("text content message value body raw final turn")
"""Keys of an object in which a text lies."""

_NUMBERED: Final = re.compile("(.*[A-Za-z].*?)([0-9]{1,6}|(?<=_)[A-Za-z](?=_|$))([^0-9]*)")
"""A key with a number in it, or a letter by itself."""

_NO_TEXT: Final = re.compile(
    r"[0-9a-fA-F]{16,} | [0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12} | [-+]?[0-9.,]+(e[-+]?[0-9]+)? %?"
    r" | [0-9]{4}-[0-9]{2}-[0-9]{2}([T\ ]\S*)? | [a-z][a-z0-9+.]*://\S+ | [A-Za-z]?:?(\.{0,2}[/\\][\w.@+-]+)+[/\\]?"
    r" | [\w.@+-]+([/\\][\w.@+-]+)+\.[a-z0-9]{1,5} | true | false | yes | no | none | null | nan | pass(ed)? | fail(ed)? | (in)?correct",
    re.VERBOSE | re.IGNORECASE,
)
"""A checksum, an id, a number, a time, an address, a path or a verdict."""


@dataclass(frozen=True)
class Sampled:
    """Where what was sampled stands."""

    path: str
    each: bool = False
    """Whether a list of samples stands there."""
    why: str = ""
    """What was gone by, where no key is called as a response is."""
    has_prompt: bool = False
    """Whether the conversation begins with the prompt."""


def every(values: Values, fits: Callable[[Any], bool]) -> bool:
    """Whether something stands there, and all of it fits."""
    given = [value for value in values if value is not None]
    return bool(given) and all(map(fits, given))


def columns_of(records: Sequence[Record]) -> dict[str, list[Any]]:
    """Every value that is no object, by path; a list of one item everywhere counts as its item, a list of objects as lists of their values.

    Messages that are written as JSON text count as messages."""
    return dict(_of_objects("", records, _DEPTH))


def _of_objects(above: str, values: Sequence[Record | None], depth: int) -> Iterator[tuple[str, list[Any]]]:
    for key in _keys([value for value in values if value is not None]):
        yield from _below(above + key, [None if value is None else found(value, key) for value in values], depth)


def _keys(objects: Sequence[Record]) -> list[str]:
    """The keys of objects; those that differ in a number or letter alone, counted on from one to the next, as one of which `*` is the number."""
    keys = dict.fromkeys(key for one in objects for key in one)
    alike: dict[str, list[str]] = {}
    for key in keys:
        if numbered := _NUMBERED.fullmatch(key):
            alike.setdefault(f"{numbered[1]}*{numbered[3]}", []).append(key)
    for pattern, names in alike.items():
        at = [_NUMBERED.fullmatch(name)[2] for name in names]  # type: ignore[index]
        places = [int(place) if place.isdigit() else ord(place) for place in at]
        values = [one[name] for one in objects for name in names if one.get(name) is not None]
        if max(places) - min(places) + 1 == len(names) > 1 == len(kinds := {*map(type, values)}) and (
            _texts(values) or kinds.isdisjoint((dict, list))
        ):
            keys = {pattern if key == names[0] else key: None for key in keys if key not in names[1:]}
    return [*keys]


def _below(path: str, values: list[Any], depth: int) -> Iterator[tuple[str, list[Any]]]:
    given = [value for value in values if value is not None]
    if depth and every(values, lambda value: isinstance(value, dict) and bool(value)):
        yield from _of_objects(f"{path}.", values, depth - 1)
    elif depth and every(values, _is_objects) and any(len(value) > 1 for value in given):
        yield from _of_items(f"{path}.*", values, depth)
    elif depth and every(values, lambda value: isinstance(value, list) and len(value) == 1) and _may_be_one(path, given):
        yield from _below(f"{path}.0", [None if value is None else value[0] for value in values], depth - 1)
    else:
        yield path, [messages_in(value) or value for value in values]


def _of_items(path: str, values: list[Any], depth: int) -> Iterator[tuple[str, list[Any]]]:
    """What the objects in lists hold, as lists of what each object does; an object within each needs no `*` of its own."""
    for key in dict.fromkeys(key for value in values if value is not None for item in value for key in item or ()):
        inner = [None if value is None else [(item or {}).get(key) for item in value] for value in values]
        items = [item for value in inner if value for item in value]
        if every(items, lambda item: is_chat([item]) and is_sampled(item)):  # a message of each
            yield f"{path}.{key}", [value and [item and [item] for item in value] for value in inner]
        elif depth > 1 and every(items, lambda item: isinstance(item, dict)) and not any(map(is_chat, inner)):
            yield from _of_items(f"{path}.{key}", inner, depth - 1)
        else:
            yield f"{path}.{key}", inner


def _is_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value) and not is_chat(value)


def _may_be_one(path: str, given: Sequence[Any]) -> bool:
    return path.rpartition(".")[2] not in _PER_TOKEN and not any(map(is_chat, given))


def words(part: str) -> list[str]:
    """The words of a key in lower case and in the singular: `modelResponses_raw` is model, response, raw."""
    found = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", in_english(part))]
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word for word in found
    ]


def parts_of(path: str) -> list[list[str]]:
    """The words of each key of a path, places in lists left out; of a path of nothing else one key without words."""
    return [words(part) for part in re.split("[./]", path) if not part.isdigit() and part != "*"] or [[]]


def is_reference(path: str) -> bool:
    """Whether a key, or one above it, is called as what a data set has for a solution."""
    return any(not _REFERENCES.isdisjoint(part) for part in parts_of(path))


def is_input(path: str) -> bool:
    """Whether what a key is called, the last word counting, says that the model was given it."""
    return _meaning(parts_of(path)) == "input"


def _meaning(parts: Sequence[Sequence[str]]) -> str:
    for part in reversed(parts):
        for word in reversed(part):
            if word in _SAID:
                return "said"
            if word in _INPUT:
                return "input"
    return ""


def find(columns: Columns) -> Sampled | None:
    """Where what was sampled stands, the likeliest first: under a key that is called so; in a list of messages with a turn of the model; in a
    list of texts; in a text that differs among rows of one prompt; in one that may be called so; in the longest text."""
    inputs = [path for path, values in columns.items() if is_input(path) and holds_text(path, values)]
    ranked = [(rank, path) for path, values in columns.items() if (rank := _rank(path, values, columns, inputs)) is not None]
    if not ranked:
        return None
    likely = [path.rpartition(".") for (tier, *_), path in ranked if tier <= _MAYBE]
    apart = [one for one in ranked if not _is_thought(one[1], likely)]
    (tier, *_), path = min(apart)
    given = [value for value in columns[path] if value]
    each = all(isinstance(value, list) and not is_chat(value) for value in given) and _is_split(path, tier, columns)
    turns = [item for value in given for item in (value if each else [value]) if is_chat(item)]
    has_prompt = bool(turns) and not any(is_sampled(one[0]) for one in turns)
    return Sampled(path, each, _WHY.get(tier, ""), has_prompt)


def _is_thought(path: str, others: Sequence[tuple[str, str, str]]) -> bool:
    """Whether a key holds what was thought before the answer that stands next to it."""
    holder, _, key = path.rpartition(".")
    return any(holder == around and is_thought(key, other) for around, _, other in others)


_CHAT, _WORD, _TEXTS, _DIFFERS, _MAYBE, _ANY, _OWN = range(2, 9)
_WHY: Final = {
    _CHAT: "a list of messages with a turn of the model",
    _TEXTS: "a list of texts",
    _DIFFERS: "a text that differs among rows of one prompt",
    _MAYBE: "the longest text with a likely name",
    _ANY: "the longest text",
    _OWN: "the answer next to the question",
}

SURE: Final = ("", _WHY[_CHAT])
"""Guesses that are used without a reader's look at them before their numbers are shown."""


def _rank(path: str, values: Values, columns: Columns, inputs: Sequence[str]) -> tuple[int, int, int, float] | None:
    """How likely what was sampled stands there, the smallest first: tier, order of names, depth, length. None where it cannot."""
    texts = _texts(values)
    parts = parts_of(path)
    exact = path.rpartition(".")[2] in SCALARS["response"]
    sparse = 2 * sum(value is None for value in values) > len(values) and not exact
    if not texts or sparse or is_reference(path) or is_input(path) or _is_excluded(parts):
        return None
    length, depth = -sum(map(len, texts)) / len(texts), len(parts)
    named, order = _named(path, parts)
    if named in (None, _WORD) and not exact and all(map(_NO_TEXT.fullmatch, texts)):
        return None
    talks = any(is_chat(item) and any(map(is_sampled, item)) for item in items_in(values))
    is_constant = len(texts) > 1 and len({*texts}) == 1
    if named is not None and (named < _CHAT or not talks):
        return named, order + 100 * is_constant, depth, length
    if talks:
        return _CHAT, 0, depth, length
    if is_constant and len(columns) > 1 and not exact:
        return None
    if inputs and not _BY_BOTH.isdisjoint(parts[-1]) and not _is_scored(path, columns):
        refers = any(is_reference(name) and not _is_excluded(parts_of(name)) for name in columns)
        scored = any(
            name in SCALARS["reward"] and every(columns[name], lambda one: isinstance(one, int | float)) for name in columns
        )
        return (_OWN, 0, depth, length) if refers or scored else None
    if all(isinstance(value, list) for value in values if value is not None):
        return _TEXTS, 0, 0, length
    if any(differs(values, one) for one in _prompts(columns)):
        return _DIFFERS, 0, 0, length
    return (_ANY if _PERHAPS.isdisjoint(parts[-1]) else _MAYBE), 0, 0, length


def _named(path: str, parts: Sequence[Sequence[str]]) -> tuple[int | None, int]:
    """Tier and order of a key that is called as a response is; None for any other. An object that is called so holds it where texts lie."""
    if parts[-1] and not _WRITERS.isdisjoint(parts[-1]) and not _PERHAPS.isdisjoint(parts[-1][1:]):
        return _WORD, len(SCALARS["response"])  # the model's answer, where the data set may have another
    if _meaning(parts) != "said":
        return None, 0
    at = max(at for at, part in enumerate(parts) if not _SAID.isdisjoint(part))
    if any(not _HOLDS.intersection(part) for part in parts[at + 1 :][-1:]):
        return None, 0
    said = parts[at]
    aliases = SCALARS["response"]
    key = next((key for key in reversed(path.split(".")) if key in aliases), "")
    order = aliases.index(key) if key and words(key) == list(said) else len(aliases)
    if not set(said) <= _SAID | _BY_MODEL:
        return _WORD, order + (not _BEFORE.isdisjoint(said))
    return (1 if set(said) <= _UNSURE and not path.endswith("*") else 0), order


def _is_excluded(parts: Sequence[Sequence[str]]) -> bool:
    last = parts[-1]
    return not last or last[-1] in _ENDS or any(not _NEVER.isdisjoint(part) for part in parts)


def holds_text(path: str, values: Values) -> bool:
    """Whether texts or conversations stand at a path, and what it is called does not say that they only tell of one."""
    return bool(_texts(values)) and not _is_excluded(parts_of(path))


def _texts(values: Values) -> list[str]:
    """The texts of a column, conversations written out; none where anything in it is neither."""
    items = [*items_in(values)]
    if not all(isinstance(item, str) or is_chat(item) for item in items):
        return []
    return [text for item in items if (text := str(item))]


def _prompts(columns: Columns) -> list[Values]:
    """The columns that say which rows are of one prompt."""
    named = {ours: [columns[path] for path in columns if path.rpartition(".")[2] in SCALARS[ours]] for ours in _OF_ONE_PROMPT}
    return next((found for found in named.values() if found), [])


_OF_ONE_PROMPT: Final = ("prompt", "prompt_id", "group_id")


def differs(values: Values, prompts: Values) -> bool:
    """Whether rows of one prompt hold different texts; where no prompt comes twice that is unknown, hence False."""
    pairs = {(str(prompt), str(value)) for prompt, value in zip(prompts, values, strict=True)}
    return len(pairs) > len({prompt for prompt, _ in pairs})


def _is_split(path: str, tier: int, columns: Columns) -> bool:
    """Whether a list holds samples rather than pieces of one: by its name, or by other lists that have as many items in every row."""
    *above, last = parts_of(path)
    of_turns = not _ONE.isdisjoint(path.split(".")[:-1]) or any(not _TURNS.isdisjoint(part) for part in above)
    pieces = of_turns or not _PIECES.isdisjoint(last)
    if pieces or tier in (0, 1, _CHAT, _WORD):
        return not pieces
    if any("*" in key and key != "*" for key in path.split(".")):
        return True
    lengths = lengths_of(columns[path])
    plain = [values for other, values in columns.items() if other != path and as_long(values, lengths)]
    return any(not isinstance(item, list) for values in plain for value in values if value for item in value)


def _is_scored(path: str, columns: Columns) -> bool:
    """Whether lists of several stand at a path, with a number for each item in another column, or solutions to one answer: a data set does
    not score its own answers, nor solve a problem more than once."""
    lengths = lengths_of(columns[path])
    others = [values for name, values in columns.items() if name != path and as_long(values, lengths)]
    numbers = (all(isinstance(item, int | float) for value in values if value for item in value) for values in others)
    answered = "solution" in parts_of(path)[-1] and any(parts_of(name)[-1][-1:] == ["answer"] for name in columns)
    return (any(numbers) or answered) and all(length is None or length > 1 for length in lengths)


def lengths_of(values: Values) -> list[int | None]:
    """How many items each list has."""
    return [len(value) if isinstance(value, list) else None for value in values]


def as_long(values: Values, lengths: Sequence[int | None]) -> bool:
    """Whether a column holds lists with as many items as those, in every row that has one."""
    given = [(value, length) for value, length in zip(values, lengths, strict=True) if value is not None]
    return bool(given) and all(isinstance(value, list) and len(value) == length and not is_chat(value) for value, length in given)


def spread(columns: Columns, path: str) -> dict[str, list[Any]]:
    """The columns with a row per sample: lists with an item per sample are dealt out, all else stands in each of its samples. Where prompts
    are dealt out, too, and lists are left with others as long, these are the samples of each prompt."""
    lengths = lengths_of(columns[path])
    dealt = {
        name: [
            item
            for value, length in zip(values, lengths, strict=True)
            for item in (value if value is not None and as_long(values, lengths) else [value] * (length or 0))
        ]
        for name, values in columns.items()
    }
    inner = lengths_of(dealt[path])
    by_prompt = as_long(dealt[path], inner) and any(
        is_input(name) and as_long(values, lengths) for name, values in columns.items()
    )
    again = by_prompt and any(name != path and as_long(values, inner) for name, values in dealt.items())
    return spread(dealt, path) if again else dealt
