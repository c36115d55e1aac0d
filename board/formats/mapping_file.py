"""A mapping by hand ⇄ the TOML text it is written in.

    pads = ["<|extra_0|>"]            # tokens that pad; alone it maps nothing, and goes with any format
    rows = "results.*.samples"        # where one object holds many rows; what a row lacks is from the objects around it
    each = "response"                 # where a record holds a list of samples: each is a rollout, the record is their group

    [fields]
    step = { from = "path" }          # or a key of the record: step = "global_step"
    prompt = "input"
    response = "output.text"          # dots lead into objects, numbers into lists: "choices.0.text"
    data_source = { constant = "gsm8k" }

    [[reward_parts]]                  # instead of `reward`, where only its parts are stored
    key = "scores.accuracy"
    weight = 0.5                      # 1 when it is left out

    [reward]                          # where the reward is a text; true and false, yes and no and numbers need none
    values = { C = 1, I = 0 }

    [arrays]
    cover = "prompt and response"     # or "response", which is meant when this is left out

Knows the shape of that text.
"""

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from board.errors import MappingRefused, RowRefused
from board.formats.mapping import FILE, NAMES, SAID, Constant, FromPath, HandMapping, Key, Source
from board.schema import BY_NAME, TOKEN_METRICS
from board.sources import toml_text

_WHOLE: Final = "prompt and response"
_COVERS: Final = {_WHOLE: True, "response": False}
_PATHS: Final = ("step", "split")
"""What the path of a file can say."""

_CONSTANTS: Final[Mapping[str, tuple[type, ...]]] = {"step": (int,), "number": (int, float), "text": (str,), "id": (str, int)}
"""Kinds of fields that can be the same in every row, and what they may be."""


def parse(text: str, name: str = FILE) -> HandMapping:
    """The mapping in a text. Raises MappingRefused naming the file, the line or the entry, and what may stand there."""
    try:
        return _mapping(toml_text.parse(text))
    except RowRefused as error:
        raise MappingRefused(f"{name} {error}") from error
    except RecursionError as error:
        raise MappingRefused(f"{name} is nested too deeply to be read") from error
    except MappingRefused as error:
        raise MappingRefused(f"{name}: {error}") from None


def write(mapping: HandMapping) -> str:
    """The text of a mapping, which `parse` reads back as the same."""
    lines = [f"pads = [{', '.join(map(quoted, mapping.pads))}]", ""] if mapping.pads else []
    lines += [f"rows = {quoted(mapping.rows)}", ""] if mapping.rows else []
    lines += [f"each = {quoted(mapping.each)}", ""] if mapping.each else []
    lines += ["[fields]", *(f"{name} = {_written(source)}" for name, source in mapping.fields.items())]
    for path, weight in mapping.reward_parts:
        lines += ["", "[[reward_parts]]", f"key = {quoted(path)}", f"weight = {weight!r}"]
    if mapping.reward_values:
        listed = ", ".join(f"{quoted(text)} = {number!r}" for text, number in mapping.reward_values.items())
        lines += ["", "[reward]", f"values = {{ {listed} }}"]
    if mapping.whole_sequence:
        lines += ["", "[arrays]", f"cover = {quoted(_WHOLE)}"]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A text as TOML quotes it: as JSON does, and the one control character that JSON leaves bare written out."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _written(source: Source) -> str:
    if isinstance(source, Key):
        return quoted(source.path)
    if isinstance(source, FromPath):
        return '{ from = "path" }'
    value = source.value
    return f"{{ constant = {quoted(value) if isinstance(value, str) else repr(value)} }}"


def _mapping(table: Mapping[str, Any]) -> HandMapping:
    _check_names(table, ("pads", "rows", "each", "fields", "reward_parts", "reward", "arrays"), "the file")
    pads = _pads(table.get("pads", []))
    if table.keys() == {"pads"}:
        return HandMapping({}, pads=pads)
    named = dict(_fields(table))
    values = _table(table, "reward")
    if isinstance(graded := named.get("reward"), dict) and "key" in graded:  # reward = { key = "grade", values = { C = 1 } }
        named["reward"], values = graded["key"], {name: value for name, value in graded.items() if name != "key"}
    fields = {name: _source(name, value) for name, value in named.items()}
    parts = _parts(table.get("reward_parts", []))
    arrays = _table(table, "arrays")
    _check_names(arrays, ("cover",), "[arrays]")
    cover = arrays.get("cover", "response")
    if not isinstance(cover, str) or cover not in _COVERS:
        raise MappingRefused(f"[arrays] cover is {_said(cover)}; it may be {_quoted_names(_COVERS)}")
    _check_whole(fields, parts, _COVERS[cover])
    each = table.get("each", "")
    if "each" in table and not (isinstance(each, str) and each in SAID and isinstance(fields.get(each), Key)):
        raise MappingRefused(f"each is {_said(each)}; it may be one of {_quoted_names(SAID)} that [fields] has under a key")
    rows = table.get("rows", "")
    if not isinstance(rows, str) or ("rows" in table and not rows):
        raise MappingRefused(f"rows is {_said(rows)}, not a key in quotes")
    return HandMapping(fields, parts, _COVERS[cover], pads, rows, _values(values), each)


def _values(table: Mapping[str, Any]) -> dict[str, float]:
    """The numbers that texts of a reward stand for."""
    _check_names(table, ("values",), "[reward]")
    values = _table(table, "values")
    odd = next((text for text, number in values.items() if not _is_number(number)), None)
    if odd is not None:
        raise MappingRefused(f"[reward] values has {quoted(odd)} as {_said(values[odd])}, not a number")
    return {text: float(number) for text, number in values.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _pads(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(pad, str) and pad.strip() for pad in value):
        raise MappingRefused(f'pads is {_said(value)}, not a list of tokens; write pads = ["<|extra_0|>"]')
    return tuple(value)


def _fields(table: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = _table(table, "fields")
    _check_names(fields, NAMES, "[fields]")
    if "step" not in fields:
        raise MappingRefused(
            '[fields] has no step; write step = "<key>", or step = { from = "path" }, or step = { constant = 0 }'
        )
    if not any(name in fields for name in SAID):
        raise MappingRefused(f"[fields] has nothing that was sampled; write one of {_quoted_names(SAID)}")
    return fields


def _table(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = table.get(name, {})
    if not isinstance(value, dict):
        raise MappingRefused(f"{name} is {_said(value)}, not a table; write [{name}]")
    return value


def _check_names(table: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Raise MappingRefused for the first name that is not allowed, with the one that may be meant."""
    allowed = list(allowed)
    name = next((name for name in table if name not in allowed), None)
    if name is not None:
        close = difflib.get_close_matches(name, allowed, 1)
        hint = f"; perhaps {close[0]}" if close else ""
        raise MappingRefused(f"{where} has {quoted(name)}, which is unknown{hint}. Allowed: {', '.join(allowed)}")


def _source(name: str, value: Any) -> Source:
    """Where a field is from: a key in quotes, a constant, or the path."""
    kind = BY_NAME[name].kind if name in BY_NAME else "tokens"
    constant: Any = value["constant"] if isinstance(value, dict) and value.keys() == {"constant"} else None
    if isinstance(value, str) and value:
        return Key(value)
    if value == {"from": "path"} and name in _PATHS:
        return FromPath()
    if type(constant) in _CONSTANTS.get(kind, ()) and constant == constant:
        return Constant(constant)
    may_be = ["a key in quotes"]
    may_be += [f"{{ constant = <{'text' if str in _CONSTANTS[kind] else 'number'}> }}"] if kind in _CONSTANTS else []
    may_be += ['{ from = "path" }'] if name in _PATHS else []
    raise MappingRefused(f"[fields] {name} is {_said(value)}; it may be {', or '.join(may_be)}")


def _parts(value: Any) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise MappingRefused("reward_parts is no list of tables; write [[reward_parts]] before each key")
    return tuple(_part(part) for part in value)


def _part(part: Mapping[str, Any]) -> tuple[str, float]:
    _check_names(part, ("key", "weight"), "[[reward_parts]]")
    key, weight = part.get("key"), part.get("weight", 1.0)
    if not isinstance(key, str) or not key:
        raise MappingRefused(f"[[reward_parts]] key is {_said(key)}, not a key in quotes")
    if not _is_number(weight):
        raise MappingRefused(f"[[reward_parts]] weight of {quoted(key)} is {_said(weight)}, not a number")
    return key, float(weight)


def _check_whole(fields: Mapping[str, Source], parts: tuple[tuple[str, float], ...], whole_sequence: bool) -> None:
    """Raise MappingRefused when entries that are right alone contradict each other."""
    if parts and "reward" in fields:
        raise MappingRefused("[fields] has a reward and [[reward_parts]] sum another; keep one of them")
    if whole_sequence and "loss_mask" not in fields:
        raise MappingRefused(f"[arrays] cover = {quoted(_WHOLE)} needs loss_mask in [fields], which says where the response is")
    paths = {name: source.path for name, source in fields.items() if isinstance(source, Key)}
    arrays = {path: name for name, path in paths.items() if name in TOKEN_METRICS}
    others = [(path, "[[reward_parts]]") for path, _ in parts]
    others += [(path, name) for name, path in paths.items() if name not in TOKEN_METRICS]
    twice = next(((path, name) for path, name in others if path in arrays), None)
    if twice:
        raise MappingRefused(f"{quoted(twice[0])} is {arrays[twice[0]]}, a number per token, and cannot be {twice[1]} too")


def _said(value: Any) -> str:
    """A value as a message quotes it; TOML also has dates."""
    return "missing" if value is None else json.dumps(value, default=str)


def _quoted_names(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))
