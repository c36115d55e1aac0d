"""Read a record under our names into a Row: what every format's rollouts become, and what a mapping by hand makes too.

Undeclared keys stay: numbers become numeric columns, lists of numbers of the response's length token metrics, everything else
text.
"""

import json
import math
import re
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, Final

import numpy as np

from board.errors import RowRefused
from board.formats.aliases import remarked
from board.formats.chat import as_messages, chat, response
from board.formats.row import Alternative, FloatArray, Row
from board.formats.token_names import PROMPT_IDS
from board.schema import BY_NAME, DERIVED_TOKEN_METRICS, NATIVE, TOKENS
from board.sources.json_record import Record, as_text
from board.text.counting import plural

EXACT: Final = 2**53
"""Integers beyond this are not exact as float64, so an unknown one is read as text."""

_RESERVED: Final = {"shard", "line", *(column.name for column in DERIVED_TOKEN_METRICS)}
_TAKEN_BY_TOKENS: Final = {"counts", "pads", "position", "token"}
"""What the board itself stores or shows in addition to the token metrics."""
_TITLES: Final = {column.title: column.name for column in NATIVE if column.title != column.name}

_WORDS: Final = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
"""Verdicts as judges write them, and the numbers they stand for."""

_SPOKEN: Final = {"prompt": chat, "response": response, "ref_response": response}
"""Texts that may come as chat messages, and how these are written as text."""


def read(record: Record) -> Row:
    """The rollout in a native record, arrays not yet aligned. Raises RowRefused when it has no step or no response."""
    tokens = record.get(TOKENS)
    _check_required(record)
    row = Row(step=_step(record))
    if isinstance(tokens, list):
        row.tokens = _texts(tokens)
    elif tokens is not None:
        row.flags.append(f"{TOKENS} is {shown(tokens)}, not a list: taken as missing")
    for key, name, read_into in _fields(tuple(record)):
        value = record[key]
        if value is not None:
            read_into(row, name, value)
    return row


@lru_cache(maxsize=64)
def _fields(keys: tuple[str, ...]) -> list[tuple[str, str, Callable[[Row, str, Any], None]]]:
    """How a record of these keys is read, found once for all rows that have them: key, its name here, and its reader."""
    found = []
    for key in keys:
        name = field_name(key, keys)
        declared = BY_NAME.get(name)
        found.append((key, name, _READERS.get(declared.kind, _read_unknown) if declared else _read_unknown))
    return [field for field in found if field[0] not in ("step", TOKENS)]


def _texts(tokens: list[Any]) -> list[str]:
    """The tokens as text; those that are (nearly all) are not looked at one by one."""
    try:
        "".join(tokens)
    except TypeError:
        return [token if isinstance(token, str) else as_text(token) for token in tokens]
    return tokens


def field_name(name: str, keys: Collection[str]) -> str:
    """The name of a field here: its own, unless the board means something else by that name, given the row's other keys."""
    clashes = name in _RESERVED or (name in _TITLES and _TITLES[name] in keys)
    return f"{name} (logged)" if clashes else name


def array_name(name: str) -> str:
    """The name of an undeclared array here."""
    return f"{name} (logged)" if name in _TAKEN_BY_TOKENS else name


def _check_required(record: Record) -> None:
    """Raise RowRefused naming what is missing, which keys there are, and what they may be called here."""
    missing = [] if "step" in record else ["`step`"]
    if record.get("response") is None and not isinstance(record.get(TOKENS), list):
        missing.append("`response` or `response_tokens`")
    if not missing:
        return
    theirs = [
        key for key in record if not key.startswith("reward.") or "reward" not in record
    ]  # parts of a reward are named by us
    keys = ", ".join(key[:40] for key in theirs[:12]) or "none"
    meant = [f"{key[:40]} → {name}" for key in record if (name := remarked(key)) and name not in record]
    hint = f"; perhaps {', '.join(meant)}" if meant else ""
    raise RowRefused(f"has no {' and no '.join(missing)}; its keys are: {keys}{hint}")


def _step(record: Record) -> int:
    """The step as an integer: an integer, an integral float such as 3.0, or digits as text."""
    value = record["step"]
    step: int | None = None
    if isinstance(value, float) and value.is_integer():
        step = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        step = value
    elif isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,19}", value.strip()):
        step = int(value)
    if step is None:
        raise RowRefused(f"`step` is {shown(value)}, which is not a whole number")
    if not -(2**63) <= step < 2**63:
        raise RowRefused(f"`step` is {shown(value)}, which is more than 64 bits hold")
    return step


def shown(value: Any) -> str:
    """A value as a message quotes it: JSON, cut to what fits a line."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _read_text(row: Row, name: str, value: Any) -> None:
    row.texts[name] = spoken(name, value)


def spoken(name: str, value: Any) -> str:
    """A value under the name of a text as text: chat messages, where they may stand, as roles and turns, and texts one below the other."""
    if (speak := _SPOKEN.get(name)) is None:
        return as_text(value)
    if (said := as_messages(value)) is not None:
        return speak(said)
    is_pieces = isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
    return "\n\n".join(value) if is_pieces else as_text(value)


def _read_id(row: Row, name: str, value: Any) -> None:
    row.ids[name] = as_id(value)


def as_id(value: Any) -> str:
    """A value under the name of an id as text."""
    return str(value) if isinstance(value, int) else as_text(value)


def _read_number(row: Row, name: str, value: Any) -> None:
    number = as_number(value)
    if number is None and isinstance(value, str) and (number := number_in(value)) is not None:
        row.flags.append(f"{name} is the text {shown(value)}, read as {number:g}")
    if number is None:
        row.flags.append(f"{name} is {shown(value)}, not a number: taken as missing")
        row.texts[name] = as_text(value)
        return
    _take_number(row, name, number)


def _take_number(row: Row, name: str, number: float) -> None:
    if not math.isfinite(number):
        row.flags.append(f"{name} is {number}: it enters no mean")
    row.numbers[name] = number


def as_number(value: Any) -> float | None:
    """A JSON number (true and false count as 1 and 0) as float; None for anything else."""
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return None


def number_in(text: str) -> float | None:
    """The number that a text says: its digits, or 1 and 0 for true and false, yes and no; None for any other text."""
    try:
        return float(text)
    except ValueError:
        return _WORDS.get(text.strip().lower())


def _read_array(row: Row, name: str, value: Any) -> None:
    array = as_array(value)
    if array is None:
        row.flags.append(f"{name} is not a list of numbers: read as text")
        row.texts[name] = as_text(value)
        return
    row.arrays[name] = array


def as_array(value: Any) -> FloatArray | None:
    """A flat list of numbers and nulls as float32, null as NaN; None for anything else. What is float32 already is taken as it is."""
    if isinstance(value, np.ndarray):
        return value
    if not isinstance(value, list) or (value and isinstance(value[0], (str, list, dict))):
        return None
    try:
        with np.errstate(over="ignore"):
            array = np.array(value, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.ndim == 1 else None


def _read_alternatives(row: Row, name: str, value: Any) -> None:
    lists = [as_alternatives(one) for one in value] if isinstance(value, list) else []
    if all(one is None for one in lists):
        if lists != value:  # a list of nulls says that nothing is known
            row.flags.append(f"{name} is not a list of [token, logprob] lists: read as text")
            row.texts[name] = as_text(value)
        return
    row.alternatives = lists
    bad = [at for at, one in enumerate(value) if one is not None and lists[at] is None]
    if bad:
        row.flags.append(f"{name} is no list of [token, logprob] at {plural(len(bad), 'token')}, the first at position {bad[0]}")


def as_alternatives(value: Any) -> list[Alternative] | None:
    """What could have been sampled at one token, in any of the shapes that inference engines give it.

    Pairs [token, logprob]; a dict {token: logprob}; vLLM's {token or id: {"logprob": …, "decoded_token": …}}; OpenAI's list of objects
    with `token` and `logprob`, alone or as `top_logprobs` of an object. A null logprob is NaN. None for anything else.
    """
    if isinstance(value, dict):
        listed = value.get("top_logprobs")
        value = listed if isinstance(listed, list) else [_named(name, one) for name, one in value.items()]
    if not isinstance(value, list):
        return None
    pairs = [_alternative(one) for one in value]
    return None if None in pairs else [pair for pair in pairs if pair is not None]


def _named(name: str, value: Any) -> Any:
    """An entry of a dict of alternatives as a pair; vLLM's says its text itself, the name then being the token's id."""
    if not isinstance(value, dict):
        return (name, value)
    text = value.get("decoded_token")
    return (text if isinstance(text, str) else name, value["logprob"]) if "logprob" in value else None


def _alternative(value: Any) -> Alternative | None:
    pair = (value.get("token"), value.get("logprob")) if isinstance(value, dict) else value
    if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[0], (str, int)):
        return None
    number = math.nan if pair[1] is None else as_number(pair[1])
    return None if number is None else (as_text(pair[0]), number)


def _read_unknown(row: Row, name: str, value: Any) -> None:
    """Store an undeclared value: a number, a token metric of the response's length, numbers inside a dict, or text."""
    number = as_number(value)
    if number is not None and (isinstance(value, float) or abs(value) <= EXACT):
        _take_number(row, name, number)
        return
    is_metric = row.tokens and isinstance(value, list) and len(value) == len(row.tokens) and name != PROMPT_IDS
    array = as_array(value) if is_metric else None
    if array is not None:
        row.arrays[array_name(name)] = array
        return
    row.texts[name] = as_text(value)
    if isinstance(value, dict):
        for part, number in parts(name, value).items():
            _take_number(row, part, number)


def parts(name: str, value: dict[str, Any]) -> dict[str, float]:
    """The numbers in an undeclared object, under names of their own."""
    found = {f"{name}.{key}": as_number(part) for key, part in value.items()}
    return {key: part for key, part in found.items() if part is not None}


_READERS: Final = {
    "text": _read_text,
    "id": _read_id,
    "number": _read_number,
    "token_metric": _read_array,
    "alternatives": _read_alternatives,
}
