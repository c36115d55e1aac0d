"""The best guess at a mapping, from the keys and values of a few records that no format knows.

Knows what trainers call things and of which type they are; knows nothing of files. The reader of the guess has the last word.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from board.formats.aliases import PER_TOKEN, PROMPT_TOKENS, SCALARS
from board.formats.chat import is_chat
from board.formats.filename_hints import step_in
from board.formats.json_paths import leaves
from board.formats.mapping import FILE, SAID, Constant, FromPath, HandMapping, Key, Source
from board.formats.mapping_file import quoted, write
from board.formats.row_reader import as_alternatives, as_array
from board.formats.token_names import IDS as RESPONSE_IDS
from board.formats.token_names import PROMPT_IDS
from board.schema import ALTERNATIVES, TOKEN_METRICS, TOKENS
from board.sources.json_record import Record
from board.text.counting import plural

Values = Sequence[Any]
"""What stands at one path in each record, None where nothing does."""

_PARTS_OF: Final = ("rewards", "scores", "reward", "reward_components", "reward_parts", "rewards_per_func")
_SPLITS: Final = ("train", "val", "eval", "test")


def guess(records: Sequence[Record], name: str = "") -> str:
    """The text of a mapping for records like these, from a file of that path: fit for `board.formats.mapping_file.parse` when it found
    what was sampled, and to be finished by hand when not. Says at the end what it did not use."""
    columns = _columns(records)
    arrays, whole_sequence = _arrays(columns)
    fields = {**_scalars(columns, name, set(arrays.values())), **{ours: Key(path) for ours, path in arrays.items()}}
    unnamed = None if any(ours in fields for ours in SAID) else _longest(columns, fields)
    fields.update({} if unnamed is None else {"response": Key(unnamed)})
    parts = () if "reward" in fields else tuple((path, 1.0) for path in _parts(columns))
    if len(parts) == 1:
        fields["reward"], parts = Key(parts[0][0]), ()
    mapping = HandMapping(fields, parts, whole_sequence)
    used = {source.path for source in fields.values() if isinstance(source, Key)} | {path for path, _ in parts}
    return "\n".join(
        [
            *_head(mapping, len(records), unnamed),
            write(mapping).rstrip("\n"),
            *_tail(path for path in columns if path not in used),
        ]
    )


def _columns(records: Sequence[Record]) -> dict[str, list[Any]]:
    """Path → what stands there in each record."""
    found: dict[str, list[Any]] = {}
    for at, record in enumerate(records):
        for path, value in leaves(record):
            found.setdefault(path, [None] * len(records))[at] = value
    return found


def _every(values: Values, fits: Callable[[Any], bool]) -> bool:
    """Whether something stands there, and all of it fits."""
    given = [value for value in values if value is not None]
    return bool(given) and all(map(fits, given))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or is_chat(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or _is_whole(value)


def _is_split(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_SPLITS)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_ids(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_whole, value))


def _is_numbers(value: Any) -> bool:
    return as_array(value) is not None


def _is_alternatives(value: Any) -> bool:
    return isinstance(value, list) and any(as_alternatives(item) is not None for item in value)


_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "step": _is_whole,
    "prompt": _is_text,
    "response": _is_text,
    "reward": _is_number,
    "ground_truth": lambda value: not isinstance(value, dict),
    "split": _is_split,
    TOKENS: _is_texts,
    RESPONSE_IDS: _is_ids,
    PROMPT_IDS: _is_ids,
    ALTERNATIVES: _is_alternatives,
    **dict.fromkeys(("group_id", "prompt_id", "sample_id", "data_source", "rank"), _is_id),
    **dict.fromkeys(TOKEN_METRICS, _is_numbers),
}


def _matches(alias: str, paths: Sequence[str]) -> Iterator[str]:
    """The paths an alias may mean: the key itself, the end of a path, the object a text lies in."""
    yield from (path for path in paths if path == alias)
    yield from (path for path in paths if path.endswith(f".{alias}"))
    yield from (path for path in paths if path.endswith((f"{alias}.text", f"{alias}.content")))


def _choose(ours: str, aliases: Sequence[str], columns: Mapping[str, Values]) -> str | None:
    """The likeliest path for one of our names, among those whose values are of its type."""
    paths = [path for path, values in columns.items() if _every(values, _FITS[ours])]
    return next((path for alias in aliases for path in _matches(alias, paths)), None)


def _scalars(columns: Mapping[str, Values], name: str, taken: set[str]) -> dict[str, Source]:
    """What has one value per rollout; each key is used once."""
    left = {path: values for path, values in columns.items() if path not in taken}
    fields: dict[str, Source] = {}
    for ours, aliases in (*SCALARS.items(), (PROMPT_IDS, PROMPT_TOKENS)):
        path = _choose(ours, aliases, left)
        if path is not None:
            fields[ours] = Key(path)
            del left[path]
    if "step" not in fields:
        fields = {"step": Constant(0) if step_in(name) is None else FromPath(), **fields}
    return fields


def _longest(columns: Mapping[str, Values], fields: Mapping[str, Source]) -> str | None:
    """The path of the longest text that is nothing else yet."""
    taken = {source.path for source in fields.values() if isinstance(source, Key)}
    lengths = {
        path: max(len(value) for value in values if value is not None)
        for path, values in columns.items()
        if path not in taken and _every(values, lambda value: isinstance(value, str))
    }
    return max(lengths, key=lengths.__getitem__, default=None)


def _arrays(columns: Mapping[str, Values]) -> tuple[dict[str, str], bool]:
    """Our names of per-token lists → paths, of the length that most of them have; and whether they cover the prompt too."""
    lists = {path: values for path, values in columns.items() if _every(values, lambda value: isinstance(value, list))}
    known = {ours: path for ours, aliases in PER_TOKEN.items() if (path := _choose(ours, aliases, lists)) is not None}
    lengths = Counter(_lengths(lists[path]) for path in dict.fromkeys(known.values()))
    if not lengths:
        return {}, False
    common = lengths.most_common(1)[0][0]
    alike = {path: values for path, values in lists.items() if _agree(_lengths(values), common)}
    chosen: dict[str, str] = {}
    for ours, aliases in PER_TOKEN.items():
        path = _choose(ours, aliases, {path: values for path, values in alike.items() if path not in chosen.values()})
        chosen.update({} if path is None else {ours: path})
    masks = lists[chosen["loss_mask"]] if "loss_mask" in chosen else []
    return chosen, any(mask and not mask[0] for mask in masks)


def _lengths(values: Values) -> tuple[int | None, ...]:
    return tuple(None if value is None else len(value) for value in values)


def _agree(some: Sequence[int | None], others: Sequence[int | None]) -> bool:
    """Whether two lists have the same length in every record that has both."""
    return all(one == other or None in (one, other) for one, other in zip(some, others, strict=True))


def _parts(columns: Mapping[str, Values]) -> Iterator[str]:
    """Paths of numbers that look like parts of a reward."""
    for path, values in columns.items():
        parent, _, last = path.rpartition(".")
        if _every(values, _is_number) and (last.endswith(("_reward", "_score")) or parent.rpartition(".")[2] in _PARTS_OF):
            yield path


def _head(mapping: HandMapping, count: int, unnamed: str | None) -> list[str]:
    """What the reader of the guess must know first."""
    lines = [f"# A guess from {plural(count, 'record')}: check it, then keep it beside the run as {FILE}."]
    if unnamed is not None:
        lines.append("# No key is called as a response is: the longest text stands for it.")
    if not any(name in mapping.fields for name in SAID):
        lines.append('# Nothing looks like what the policy sampled: write response = "<key>" below [fields].')
    if mapping.fields["step"] == Constant(0):
        lines.append('# Nothing looks like a step: write step = "<key>" if there is one; all rollouts stand at step 0.')
    if mapping.reward_parts:
        lines.append("# No key holds the whole reward: it is the sum of its parts, whose weights may have to be set.")
    return lines


def _tail(unused: Iterator[str]) -> list[str]:
    """The keys that keep their own names."""
    names = [quoted(path) for path in unused]
    return ["", f"# Kept under their own names: {', '.join(names)}", ""] if names else [""]
