"""Chat messages → text a reader can follow: roles and turns, tool calls as calls.

Knows the shapes in which trainers keep messages (OpenAI's, their parts, items of the Responses API, ShareGPT's, LangChain's), and where
chat APIs have them in their answers.
"""

import base64
import binascii
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final

from board.errors import RowRefused
from board.formats.aliases import set_of
from board.formats.json_paths import found
from board.sources.json_record import as_text, parse_value
from board.text.format_number import size
from board.text.padding import COMMON_PADS, stripped

_HOLDERS: Final = ("image_url", "source", "image", "url", "data", "b64_json", "base64", "bytes", "path", "file_id")
"""Keys under which a part of a message has its image, or an object that has it."""

_LOOKED_AT: Final = 1 << 16
"""So many letters of base64: a JPEG says how large it is behind what cameras add."""

_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_\s-]{64,}")
_JPEG_FRAME: Final = re.compile(rb"\xff[\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf].{3}(.{4})", re.DOTALL)
_LONGEST: Final = 200
"""Letters of an address that are shown."""


def described(part: Any) -> str:
    """`image, 1,024 × 768, 88 kB`; of an image that lies elsewhere its address; what is not known is left out."""
    text = _held(part)
    encoded = text.partition(",")[2] if text.startswith("data:") else text if _ENCODED.fullmatch(text[:_LOOKED_AT]) else ""
    if not encoded:
        return f"image, {text[:_LONGEST]}" if text and not text.startswith("data:") else "image"
    pixels = _pixels(_decoded(encoded[:_LOOKED_AT]))
    across = f", {pixels[0]:,} × {pixels[1]:,}" if pixels else ""
    return f"image{across}, {size(len(encoded) * 3 // 4 - encoded.count('=', -2))}"


def _held(value: Any) -> str:
    """The first text under the keys that hold an image."""
    if isinstance(value, dict):
        return next((text for key in _HOLDERS if (text := _held(value.get(key)))), "")
    return value if isinstance(value, str) else ""


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text[: len(text) // 4 * 4], altchars=b"-_" if "-" in text or "_" in text else None)
    except (binascii.Error, ValueError):
        return b""


def _pixels(data: bytes) -> tuple[int, int] | None:
    """(width, height) by the first bytes of a PNG, GIF, JPEG or WebP; None of any other."""
    if data.startswith(b"\x89PNG") and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    if data.startswith(b"GIF8") and len(data) >= 10:
        return struct.unpack("<HH", data[6:10])
    if data.startswith(b"\xff\xd8") and (frame := _JPEG_FRAME.search(data)):
        height, width = struct.unpack(">HH", frame[1])
        return width, height
    if data[8:16] == b"WEBPVP8X" and len(data) >= 30:
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return None


PADS: Final = ContextVar("PADS", default=COMMON_PADS)
"""What pads the texts of messages in the run that is read."""

_REASONING: Final = ("reasoning_content", "thinking", "reasoning")
"""Keys under which chat templates keep what was thought before the answer."""

_SAMPLED: Final = set_of("assistant agent model ai aimessage bot chatbot gpt chatgpt llm policy actor function_call tool_call")
"""Roles of what is trained, by the letters they begin with: `assistant_2` is one, too; a call as a turn of its own is the model's."""

_ASKING: Final = set_of(
    "system developer user human humanmessage systemmessage instruction task context tool toolmessage function"
    " environment env observation obs ipython interpreter computer"
)
"""Roles of what is said to it."""

_LETTERS: Final = re.compile("(function|tool)_call|[a-z]*")
_SAYS: Final = ("content", "value", "parts", "text", "message", "prompt")
"""Keys under which a message has its content, the usual one first."""

_ITEMS: Final = {"reasoning": "assistant", "function_call": "assistant", "function_call_output": "tool"}
"""Items of the Responses API, which have a type and no role, and whose turn they belong to; other calls of tools are the assistant's."""

_TYPED: Final = set_of("human ai tool system")
"""LangChain's word for a role, which it has as a type."""

_CALLS: Final = set_of("tool_call tool_use function_call toolCall toolUse functionCall server_tool_use mcp_call")
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters")
_ANSWERS: Final = set_of("tool_result tool_response function_call_output function_response toolResult functionResponse")
_IMAGES: Final = set_of("image image_url input_image")
_RAW: Final = ("raw_text", "raw", "raw_content")
"""Keys under which the text of a call stands that could not be parsed."""

_ANSWERED: Final = ("choices.0.message", "candidates.0.content", "output.message", "message", "output")
"""Where the answer of a chat API has its message or its items."""

_WRITTEN: Final = re.compile(r'\[\s*\{\s*"')
"""How a list of messages begins that is written as JSON, as columns of tables hold it."""


def is_chat(value: Any) -> bool:
    """Whether a value is a list of messages, each with a role."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(message, dict) and _role(message) is not None for message in value)
    )


def items_in(values: Sequence[Any]) -> Iterator[Any]:
    """The values, and of lists that are no conversation what is in them."""
    for value in values:
        if isinstance(value, list) and not is_chat(value):
            yield from items_in(value)
        elif value is not None:
            yield value


def messages_in(value: Any) -> list[dict[str, Any]] | None:
    """The messages that a value is, or that it holds as JSON text, where one has a role; None of anything else."""
    if isinstance(value, str):
        if not _WRITTEN.match(value):
            return None
        with suppress(RowRefused):
            found = parse_value(value.encode())
            return found if is_chat(found) and any("type" not in one or "role" in one for one in found) else None
    return value if is_chat(value) else None


def as_messages(value: Any) -> list[dict[str, Any]] | None:
    """As `messages_in`, and the one message that a value is, or that it holds as the answer of a chat API."""
    if not isinstance(value, dict):
        return messages_in(value)
    several = found(value, "choices.1") or found(value, "candidates.1")
    held = [value] if several else [value, *(found(value, path) for path in _ANSWERED)]
    listed = (one if isinstance(one, list) else [one] for one in held)
    return next((one for one in listed if is_chat(one) and any(map(content, one))), None)


def is_thought(key: str, other: str) -> bool:
    """Whether what stands under a key of a row is what was thought before the answer under another; `reasoning` may be anybody's."""
    return key in _REASONING and other not in _REASONING and (key != "reasoning" or other == "content")


def with_thought(record: dict[str, Any], key: str, said: str) -> str:
    """What was said under a key of a row, behind what was thought before it, where the row has that, too."""
    thoughts = (record[name] for name in _REASONING if name in record and is_thought(name, key))
    thought = next((one for one in thoughts if isinstance(one, str) and one.strip() and one not in said), "")
    return f"{_thought(thought)}\n{said}" if thought else said


def chat(messages: Sequence[dict[str, Any]]) -> str:
    """Messages as roles and text, one turn after the other."""
    return "\n\n".join(f"{role}:\n{text}" for role, text in _turns(messages))


def response(messages: Sequence[dict[str, Any]]) -> str:
    """What was answered in these messages: the content of a single one alone, else all of them with their roles."""
    said = _turns(messages)
    return said[0][1] if len(said) == 1 else chat(messages)


def content(message: dict[str, Any]) -> str:
    """What a message says: its reasoning, its text, and the tools it calls, one below the other; what stands in it twice is said once."""
    if _item_role(message) is not None:
        return "\n".join(_part(message))
    thoughts = [message[key] for key in _REASONING if isinstance(message.get(key), str) and message[key]]
    value = next((message[key] for key in _SAYS if message.get(key) is not None), None)
    pads = PADS.get()
    said = [text for one in _content(value) if (text := stripped(one, pads)) or not one]
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) else [message["function_call"]] if message.get("function_call") else []
    shown = Counter(_key(part) for part in value if _is_call(part)) if isinstance(value, list) else Counter[str]()
    for call in calls:
        if shown[_key(call)]:
            shown[_key(call)] -= 1
        else:
            said.append(_call(call))
    said += (text for one in found(message, "observation.results.*.content") or () for text in _content(one))
    return "\n".join([*(one for one in map(_thought, dict.fromkeys(thoughts)) if one not in said), *said])


def turns(messages: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """(prompt, response): what stands before the first message of what is trained, and what comes from there on.

    A response of one turn is that turn's content alone. Without such a message everything is prompt.
    """
    return parted(messages, _first_sampled(messages))


def parted(messages: Sequence[dict[str, Any]], at: int) -> tuple[str, str]:
    """(prompt, response): the messages before the one at that place, and from it on; a response of one turn is its content alone."""
    return chat(messages[:at]), response(messages[at:])


def _first_sampled(messages: Sequence[dict[str, Any]]) -> int:
    """The place of the first message that was sampled: by the writer's mark, by its role, or by the first role that is not the asking side's."""
    marked = [at for at, one in enumerate(messages) if one.get("trainable") is True or one.get("source") == "generate"]
    roles = [*map(_letters, messages)]
    named = [at for at, role in enumerate(roles) if role in _SAMPLED]
    others = [at for at, role in enumerate(roles) if at and role not in _ASKING]
    return next(iter((*marked[:1], *named[:1], *others[:1])), len(messages))


def is_sampled(message: dict[str, Any]) -> bool:
    """Whether a message is by what is trained, as its role says."""
    return _letters(message) in _SAMPLED


def _letters(message: dict[str, Any]) -> str:
    return _LETTERS.match(str(_role(message)).lower())[0]  # type: ignore[index]


def _role(message: dict[str, Any]) -> str | None:
    """Who speaks; None where that is no message. Others have a `source`, too, as documents do: it counts where it is a role."""
    if "role" in message:
        return as_text(message["role"])
    said = str(message.get("from") or message.get("source") or "")
    if said and any(key in message for key in _SAYS) and ("from" in message or said in _SAMPLED | _ASKING):
        return said
    return _item_role(message) or _typed_role(message)


def _item_role(message: dict[str, Any]) -> str | None:
    """Whose turn an item without a role belongs to; None of anything else."""
    kind = message.get("type")
    if "role" in message or not isinstance(kind, str):
        return None
    return _ITEMS.get(kind, "assistant" if kind.endswith("_call") and ("call_id" in message or "status" in message) else None)


def _typed_role(message: dict[str, Any]) -> str | None:
    """The role that a message of LangChain has as its type; None of anything else."""
    kind = message.get("type")
    return kind if isinstance(kind, str) and kind in _TYPED and "content" in message else None


def _turns(messages: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """(role, text) of each turn; items that follow each other are one, with the message next to them."""
    found: list[tuple[str, str]] = []
    joins = False
    for message in messages:
        role, text, is_item = str(_role(message)), content(message), _item_role(message) is not None
        if found and found[-1][0] == role == "assistant" and (joins or is_item):
            found[-1] = (role, "\n".join(filter(None, (found[-1][1], text))))
        else:
            found.append((role, text))
        joins = is_item or (joins and role == "assistant")
    return found


def _content(value: Any) -> Iterator[str]:
    """Content is text, or a list of parts."""
    if isinstance(value, list) and all(isinstance(part, (dict, str)) for part in value):
        yield from (text for part in value for text in _part(part))
    elif isinstance(value, dict) and ("type" in value or "text" in value):
        yield from _part(value)
    elif isinstance(value, dict) and [*map(type, value.values())] == [str]:  # `{"answer": "It is 4."}`
        yield from value.values()
    elif value is not None and (text := as_text(value)):
        yield text


def _part(part: Any) -> Iterator[str]:
    """A part of a message: its text, a thought, a call, a tool's answer, an image in a phrase; any other by its kind."""
    if isinstance(part, str):
        yield part
        return
    kind = str(part.get("type") or next((key for key, value in part.items() if value is not None), "part"))
    if _is_call(part):
        yield _call(part)
    elif kind in ("thinking", "reasoning"):
        yield from filter(None, [_thought("\n".join(_thoughts(part)))])
    elif kind in _ANSWERS:
        held = part[kind] if isinstance(part.get(kind), dict) else part
        yield from _content(next((held[key] for key in ("output", "content", "response") if held.get(key) is not None), None))
    elif kind == "json":
        yield as_text(part.get(kind))
    elif isinstance(text := part.get("text", part.get(kind) if kind == "refusal" else None), str):
        yield text
    else:
        yield f"[{described(part) if kind in _IMAGES else kind}]"


def _thoughts(part: dict[str, Any]) -> Iterator[str]:
    """What a part of reasoning says: in one text, or in a list of parts."""
    value = next((part[key] for key in ("thinking", "reasoning", "text", "content", "summary") if part.get(key)), None)
    yield from _content(value)


def _thought(text: str) -> str:
    return f"<think>\n{text}\n</think>" if text else ""


def _is_call(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    kind = part.get("type")
    named = isinstance(kind, str) and (kind in _CALLS or _unparsed(part) is not None)
    return named or any(part.get(key) for key in _CALLS)


def _unparsed(call: Any) -> str | None:
    """The raw text of a call that could not be parsed; None of any other."""
    raw = next((call[key] for key in _RAW if isinstance(call.get(key), str)), None) if isinstance(call, dict) else None
    return raw if raw is not None and _error(call) else None


def _error(call: dict[str, Any]) -> str:
    return as_text(call.get("parse_error") or call.get("error") or "")


def _inner(call: Any) -> tuple[Any, Any]:
    """(name, arguments) of a call, from OpenAI's nested shape or a flat one; no name where there is none."""
    for key in (*_CALLS, "function"):
        call = call[key] if isinstance(call, dict) and isinstance(call.get(key), dict) else call
    if not isinstance(call, dict):
        return None, None
    name = (
        call.get("name") or call.get("function_name") or (call.get("function") if isinstance(call.get("function"), str) else None)
    )
    return name, next((call[key] for key in _ARGUMENTS if call.get(key) is not None), {})


def _key(call: Any) -> str:
    """What is the same in two writings of one call."""
    name, arguments = _inner(call)
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    return json.dumps([_unparsed(call), name, arguments] if name else [call], sort_keys=True, default=str)


def _call(call: Any) -> str:
    """`→ name(arguments)`; of one that could not be parsed the raw text, with the error."""
    error = _error(call) if isinstance(call, dict) else ""
    raw, (name, arguments) = _unparsed(call), _inner(call)
    if raw is None and name is None:
        return f"→ {as_text(call)}"
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    shown = raw if raw is not None else f"{as_text(name)}({written})"
    return f"→ {shown}\n(this call could not be parsed: {error})" if error else f"→ {shown}"
