"""Chat messages → text a reader can follow: roles and turns, tool calls as calls.

Knows the shapes in which trainers keep messages (OpenAI's, and their parts); knows nothing of rollouts.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from board.sources.json_record import as_text
from board.text.padding import COMMON_PADS, stripped

_REASONING: Final = ("reasoning_content", "thinking")
"""Keys under which chat templates keep what was thought before the answer."""


def is_chat(value: Any) -> bool:
    """Whether a value is a list of messages, each with a role."""
    return isinstance(value, list) and bool(value) and all(isinstance(message, dict) and "role" in message for message in value)


def chat(messages: Sequence[dict[str, Any]]) -> str:
    """Messages as roles and text, one turn after the other."""
    return "\n\n".join(f"{as_text(message['role'])}:\n{content(message)}" for message in messages)


def response(messages: Sequence[dict[str, Any]]) -> str:
    """What was answered in these messages: the content of a single one alone, else all of them with their roles."""
    return content(messages[0]) if len(messages) == 1 else chat(messages)


def content(message: dict[str, Any]) -> str:
    """What a message says: its reasoning, its text, and the tools it calls, one below the other."""
    thoughts = (message.get(key) for key in _REASONING)
    said = [f"<think>\n{thought}\n</think>" for thought in thoughts if isinstance(thought, str) and thought]
    said += [text] if (text := _text(message.get("content"))) else []
    calls = message.get("tool_calls")
    return "\n".join([*said, *map(_call, calls if isinstance(calls, list) else [])])


def turns(messages: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """(prompt, response): what stands before the first message of the assistant, and what comes from there on.

    A response of one turn is that turn's content alone. Without an assistant's message everything is prompt.
    """
    return parted(
        messages, next((at for at, message in enumerate(messages) if message.get("role") == "assistant"), len(messages))
    )


def parted(messages: Sequence[dict[str, Any]], at: int) -> tuple[str, str]:
    """(prompt, response): the messages before the one at that place, and from it on; a response of one turn is its content alone."""
    return chat(messages[:at]), response(messages[at:])


def _text(value: Any) -> str:
    """Content is text, taken without common pads, or a list of parts of which the text ones are shown as such."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        return "\n".join(part["text"] if isinstance(part.get("text"), str) else as_text(_written(part)) for part in value)
    return stripped(value, COMMON_PADS) if isinstance(value, str) else as_text(value)


def _written(part: dict[str, Any]) -> dict[str, Any]:
    """A part without the nulls that a table puts where only another part has that key."""
    return {key: value for key, value in part.items() if value is not None}


def _call(call: Any) -> str:
    """`→ name(arguments)`, from OpenAI's nested shape or a flat one."""
    function = call.get("function", call) if isinstance(call, dict) else call
    if not isinstance(function, dict) or "name" not in function:
        return f"→ {as_text(call)}"
    arguments = function.get("arguments", {})
    return (
        f"→ {as_text(function['name'])}({arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)})"
    )
