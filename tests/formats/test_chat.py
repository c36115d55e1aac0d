"""Tests of chat messages as text."""

from typing import Any

import pytest

from board.formats.chat import chat, content, is_chat, parted, turns

USER = {"role": "user", "content": "2+2?"}
CALL = {"type": "function", "id": "c1", "function": {"name": "add", "arguments": '{"a": 2, "b": 2}'}}
CONTENTS: dict[str, tuple[dict[str, Any], str]] = {
    "text": (USER, "2+2?"),
    "nothing": ({"role": "assistant", "content": None}, ""),
    "no content": ({"role": "assistant"}, ""),
    "parts": (
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "url": "x"}]},
        'a\n{"type": "image_url", "url": "x"}',
    ),
    "a number": ({"role": "tool", "content": 4}, "4"),
    "reasoning": ({"role": "assistant", "content": "4", "reasoning_content": "two and two"}, "<think>\ntwo and two\n</think>\n4"),
    "thoughts by another name": ({"role": "assistant", "content": "4", "thinking": "so"}, "<think>\nso\n</think>\n4"),
    "parts out of a table": (
        {"role": "user", "content": [{"type": "text", "text": "a", "url": None}, {"type": "image", "text": None, "url": "x"}]},
        'a\n{"type": "image", "url": "x"}',
    ),
    "a call": ({"role": "assistant", "content": "", "tool_calls": [CALL]}, '→ add({"a": 2, "b": 2})'),
    "a call beside text": ({"role": "assistant", "content": "so", "tool_calls": [CALL]}, 'so\n→ add({"a": 2, "b": 2})'),
    "a flat call": ({"role": "assistant", "tool_calls": [{"name": "add", "arguments": {"a": 2}}]}, '→ add({"a": 2})'),
    "a strange call": ({"role": "assistant", "tool_calls": ["x", 3]}, "→ x\n→ 3"),
    "html stays letters": ({"role": "user", "content": "<b>x</b>"}, "<b>x</b>"),
}


@pytest.mark.parametrize(("message", "text"), CONTENTS.values(), ids=CONTENTS)
def test_content_of_a_message(message: dict[str, Any], text: str) -> None:
    """Whatever shape a message has, what it says comes out as text, calls as calls."""
    assert content(message) == text


TURNS: dict[str, tuple[list[dict[str, Any]], tuple[str, str]]] = {
    "one answer": ([USER, {"role": "assistant", "content": "4"}], ("user:\n2+2?", "4")),
    "no answer": ([USER], ("user:\n2+2?", "")),
    "several turns": (
        [
            USER,
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "content": "4"},
            {"role": "assistant", "content": "4"},
        ],
        ("user:\n2+2?", 'assistant:\n→ add({"a": 2, "b": 2})\n\ntool:\n4\n\nassistant:\n4'),
    ),
}


@pytest.mark.parametrize(("messages", "expected"), TURNS.values(), ids=TURNS)
def test_prompt_ends_where_the_assistant_begins(messages: list[dict[str, Any]], expected: tuple[str, str]) -> None:
    """The response starts with the assistant's first message; a tool's answer within it belongs to it."""
    assert turns(messages) == expected


def test_a_message_has_no_padding() -> None:
    """Pads at the ends of any message are no text, as those at the ends of a prompt are none."""
    assert chat([{"role": "user", "content": "<PAD><PAD>a<PAD>"}, {"role": "tool", "content": "b"}]) == "user:\na\n\ntool:\nb"


def test_what_is_a_chat() -> None:
    """A list of objects with roles, and nothing else."""
    assert is_chat([USER])
    assert not any(map(is_chat, ([], "user", None, [USER, "x"], [{"content": "x"}], USER)))
    assert chat([{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]) == "user:\na\n\ntool:\nb"


def test_parted_where_told() -> None:
    """The place decides, not the role; all may be prompt, or all response."""
    said = [USER, {"role": "assistant", "content": "4"}]

    assert parted(said, 2) == ("user:\n2+2?\n\nassistant:\n4", "")
    assert parted(said, 1) == ("user:\n2+2?", "4")
    assert parted(said, 0) == ("", "user:\n2+2?\n\nassistant:\n4")
