"""The best guess at a mapping, from the keys and values of a few records that no format knows.

Knows what trainers call things and of which type they are; knows nothing of files. The reader of the guess has the last word.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from board.formats.aliases import PER_TOKEN, PROMPT_TOKENS, SCALARS
from board.formats.chat import is_chat
from board.formats.filename_hints import step_in
from board.formats.mapping import FILE, SAID, Constant, FromPath, HandMapping, Key, Source
from board.formats.mapping_file import quoted, write
from board.formats.reward_key import is_reward, is_verdict, rewards_in
from board.formats.row_reader import as_alternatives, as_array
from board.formats.sampled_key import Columns, Sampled, Values, columns_of, find, holds_text, is_asked, is_reference, spread
from board.formats.token_names import IDS as RESPONSE_IDS
from board.formats.token_names import PROMPT_IDS
from board.schema import ALTERNATIVES, TOKEN_METRICS, TOKENS
from board.sources.json_record import Record
from board.text.counting import plural

_SPLITS: Final = ("train", "val", "eval", "test")


def guess(records: Sequence[Record], name: str = "") -> str:
    """The text of a mapping for records like these, from a file of that path, fit for `board.formats.mapping_file.parse`; empty where
    nothing looks like what the policy sampled. Says at the end what it did not use."""
    columns: Columns = columns_of(records)
    said = find(columns)
    if said is not None and said.each:
        columns = spread(columns, said.path)
    arrays, whole_sequence = _arrays({path: values for path, values in columns.items() if said is None or path != said.path})
    if said is None and not any(ours in arrays for ours in SAID):
        return ""
    fields = {**_scalars(columns, name, {*arrays.values()}, said), **{ours: Key(path) for ours, path in arrays.items()}}
    left = {path: values for path, values in columns.items() if Key(path) not in fields.values()}
    rewards = [] if "reward" in fields else rewards_in(left)
    parts = tuple((path, 1.0) for path in rewards) if len(rewards) > 1 else ()
    fields.update({"reward": Key(rewards[0])} if len(rewards) == 1 else {})
    mapping = HandMapping(fields, parts, whole_sequence, each="response" if said is not None and said.each else "")
    used = {source.path for source in fields.values() if isinstance(source, Key)} | {path for path, _ in parts}
    return "\n".join(
        [
            *_head(mapping, len(records), said),
            write(mapping).rstrip("\n"),
            *_tail(path for path in columns if path not in used),
        ]
    )


def _every(values: Values, fits: Callable[[Any], bool]) -> bool:
    """Whether something stands there, and all of it fits."""
    given = [value for value in values if value is not None]
    return bool(given) and all(map(fits, given))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or is_chat(value)


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
    "reward": is_reward,
    "ground_truth": lambda value: not isinstance(value, dict | bool),
    "split": _is_split,
    TOKENS: _is_texts,
    RESPONSE_IDS: _is_ids,
    PROMPT_IDS: _is_ids,
    ALTERNATIVES: _is_alternatives,
    **dict.fromkeys(("group_id", "prompt_id", "sample_id", "data_source", "rank"), _is_id),
    **dict.fromkeys(TOKEN_METRICS, _is_numbers),
}


_PLACES: Final[tuple[Callable[[str, str], bool], ...]] = (
    lambda path, alias: path == alias,
    lambda path, alias: path.endswith(f".{alias}"),
    lambda path, alias: path.endswith((f"{alias}.text", f"{alias}.content")),
)
"""Where an alias may stand, the likeliest first: the key itself, the end of a path, the object a text lies in."""


def _choose(ours: str, aliases: Sequence[str], columns: Columns) -> str | None:
    """The likeliest path for one of our names, among those whose values are of its type."""
    paths = [path for path, values in columns.items() if _every(values, _FITS[ours])]
    found = (path for stands in _PLACES for alias in aliases for path in paths if stands(path, alias))
    return next(found, None)


def _scalars(columns: Columns, name: str, taken: set[str], said: Sampled | None) -> dict[str, Source]:
    """What has one value per rollout; each key is used once."""
    apart = taken | {said.path for said in (said,) if said is not None}
    left = {
        path: values for path, values in columns.items() if path not in apart and any(value not in ("", []) for value in values)
    }
    fields: dict[str, Source] = {}
    for ours, aliases in (*SCALARS.items(), (PROMPT_IDS, PROMPT_TOKENS)):
        if ours == "response":
            fields.update({} if said is None else {"response": Key(said.path)})
            continue
        if said is not None and ((ours == "prompt" and said.has_prompt) or (ours == "group_id" and said.each)):
            continue  # the conversation has it, or the row is the group
        path = _choose(ours, aliases, left) or next((path for path, values in left.items() if _may_be(ours, path, values)), None)
        if path is not None:
            fields[ours] = Key(path)
            del left[path]
    if "step" not in fields:
        fields = {"step": Constant(0) if step_in(name) is None else FromPath(), **fields}
    return fields


def _may_be(ours: str, path: str, values: Values) -> bool:
    """Whether a key that no alias names is one of ours by its words: what was asked, or the data set's own solution."""
    if ours == "prompt":
        return is_asked(path) and not is_reference(path) and holds_text(path, values)
    if ours != "ground_truth" or is_asked(path) or is_verdict(path, values):
        return False
    return is_reference(path) and holds_text(path, values)


def _arrays(columns: Columns) -> tuple[dict[str, str], bool]:
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


def _head(mapping: HandMapping, count: int, said: Sampled | None) -> list[str]:
    """What the reader of the guess must know first."""
    lines = [f"# A guess from {plural(count, 'record')}: check it, then keep it beside the run as {FILE}."]
    if said is not None and said.why:
        lines.append(f"# No key is called as a response is: it is taken from {said.why}.")
    if mapping.each:
        lines.append("# A row holds a list of samples: each is a rollout, and the row is their group.")
    if mapping.fields["step"] == Constant(0):
        lines.append('# Nothing looks like a step: write step = "<key>" if there is one; all rollouts stand at step 0.')
    if mapping.reward_parts:
        lines.append("# No key holds the whole reward: it is the sum of its parts, whose weights may have to be set.")
    return lines


def _tail(unused: Iterator[str]) -> list[str]:
    """The keys that keep their own names."""
    names = [quoted(path) for path in unused]
    return ["", f"# Kept under their own names: {', '.join(names)}", ""] if names else [""]
