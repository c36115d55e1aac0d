"""Tests of chat messages as text."""

from base64 import b64encode
from typing import Any

import pytest

from board.formats import native, read
from board.formats.chat import chat, content, is_chat, parted, turns
from board.formats.contract import Place
from board.sources.json_record import as_text
from board.text.padding import COMMON_PADS

USER = {"role": "user", "content": "2+2?"}
CALL = {"type": "function", "id": "c1", "function": {"name": "add", "arguments": '{"a": 2, "b": 2}'}}
CONTENTS: dict[str, tuple[dict[str, Any], str]] = {
    "text": (USER, "2+2?"),
    "nothing": ({"role": "assistant", "content": None}, ""),
    "no content": ({"role": "assistant"}, ""),
    "parts": (
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "url": "x"}]},
        "a\n[image, x]",
    ),
    "a number": ({"role": "tool", "content": 4}, "4"),
    "reasoning": ({"role": "assistant", "content": "4", "reasoning_content": "two and two"}, "<think>\ntwo and two\n</think>\n4"),
    "thoughts by another name": ({"role": "assistant", "content": "4", "thinking": "so"}, "<think>\nso\n</think>\n4"),
    "parts out of a table": (
        {"role": "user", "content": [{"type": "text", "text": "a", "url": None}, {"type": "image", "text": None, "url": "x"}]},
        "a\n[image, x]",
    ),
    "a call": ({"role": "assistant", "content": "", "tool_calls": [CALL]}, '→ add({"a": 2, "b": 2})'),
    "a call beside text": ({"role": "assistant", "content": "so", "tool_calls": [CALL]}, 'so\n→ add({"a": 2, "b": 2})'),
    "a flat call": ({"role": "assistant", "tool_calls": [{"name": "add", "arguments": {"a": 2}}]}, '→ add({"a": 2})'),
    "a strange call": ({"role": "assistant", "tool_calls": ["x", 3]}, "→ x\n→ 3"),
    "a call among the parts and beside them": (
        {
            "content": [{"type": "tool_call", "tool_call": CALL}],
            "role": "agent",
            "tool_calls": [{"name": "add", "arguments": {"b": 2, "a": 2}}],
        },
        '→ add({"a": 2, "b": 2})',
    ),
    "a call said twice is two calls": (
        {"role": "assistant", "tool_calls": [CALL, CALL]},
        '→ add({"a": 2, "b": 2})\n→ add({"a": 2, "b": 2})',
    ),
    "a call as one part of several": (
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "so"}, {"type": "tool_use", "id": "t", "name": "ls", "input": {"at": "."}}],
        },
        'so\n→ ls({"at": "."})',
    ),
    "a call by Gemini": (
        {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {"at": "."}}}]},
        '→ ls({"at": "."})',
    ),
    "a call by Bedrock": (
        {"role": "assistant", "content": [{"text": "so"}, {"toolUse": {"toolUseId": "t", "name": "ls", "input": {"at": "."}}}]},
        'so\n→ ls({"at": "."})',
    ),
    "an answer to Gemini": (
        {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"files": 2}}}]},
        '{"files": 2}',
    ),
    "an answer to Gemini in Python": (
        {"role": "user", "parts": [{"function_response": {"name": "ls", "response": {"result": "a.py"}}}]},
        "a.py",
    ),
    "an answer to Bedrock": (
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"json": {"files": 2}}, {"text": "a.py"}]}}]},
        '{"files": 2}\na.py',
    ),
    "a call of a function's name": (
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "function": "ls", "arguments": {"at": "."}, "parse_error": None}],
        },
        '→ ls({"at": "."})',
    ),
    "a call of the older kind": (
        {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": "{}"}},
        "→ ls({})",
    ),
    "a call that could not be parsed": (
        {"role": "assistant", "content": [{"type": "unparsed_tool_call", "raw_text": "<tool_call>{", "error": "cut off"}]},
        "→ <tool_call>{\n(this call could not be parsed: cut off)",
    ),
    "a thought among the parts": (
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "so", "signature": "x"}, {"type": "text", "text": "4"}],
        },
        "<think>\nso\n</think>\n4",
    ),
    "a thought said twice": (
        {
            "role": "assistant",
            "reasoning_content": "so",
            "content": [{"type": "reasoning", "reasoning": "so"}, {"type": "text", "text": "4"}],
        },
        "<think>\nso\n</think>\n4",
    ),
    "a tool's answer among the parts": (
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a.py"}]}]},
        "a.py",
    ),
    "an unknown part": (
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "UklGR" * 999}}]},
        "[input_audio]",
    ),
    "ShareGPT": ({"from": "gpt", "value": "4"}, "4"),
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


ROLES = ("assistant", "agent", "model", "AI", "gpt", "policy", "assistant_2", "solver")


@pytest.mark.parametrize("role", ROLES)
def test_a_response_begins_at_what_is_trained_by_any_name(role: str) -> None:
    """Whoever is not known to ask, or to answer for the environment, is what is trained."""
    asked = [{"role": one, "content": "a"} for one in ("system", "environment", "observation")]

    assert turns([*asked, {"role": role, "content": "b"}])[1] == "b"


def test_a_mark_comes_before_roles() -> None:
    """An answer that was given as an example is prompt where the writer marks what was sampled."""
    example = {"role": "assistant", "content": "Madrid.", "source": "input"}
    said = [USER, example, USER, {"role": "assistant", "content": "Paris.", "source": "generate"}]

    assert turns(said)[1] == "Paris."
    assert turns(said)[0].endswith("Madrid.\n\nuser:\n2+2?")


def test_items_of_the_responses_api_are_turns() -> None:
    """Thought, call and message that follow each other are one turn of the assistant; the tool's answer is one of its own."""
    items: list[dict[str, Any]] = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "add"}]},
        {"type": "function_call", "name": "add", "arguments": '{"a": 2}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "4"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]},
    ]

    assert is_chat(items)
    assert turns([USER, *items]) == (
        "user:\n2+2?",
        'assistant:\n<think>\nadd\n</think>\n→ add({"a": 2})\n\ntool:\n4\n\nassistant:\n4',
    )


def test_messages_of_langchain() -> None:
    """Their type is their role; an object with a type that is none is no message."""
    said: list[dict[str, Any]] = [
        {"type": "human", "content": "Hi"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "ls", "args": {"at": "."}}]},
    ]

    assert turns(said) == ("human:\nHi", '→ ls({"at": "."})')
    assert not is_chat([{"type": "text", "content": "Hi"}])
    assert not is_chat([{"type": ["human"], "content": "Hi"}])


ANSWER = {"role": "assistant", "content": "4", "tool_calls": None}
HELD: dict[str, Any] = {
    "a message": ANSWER,
    "OpenAI's answer": {"id": "c", "choices": [{"index": 0, "message": ANSWER}], "usage": {"total_tokens": 9}},
    "Gemini's": {"candidates": [{"content": {"role": "model", "parts": [{"text": "4"}]}}]},
    "Bedrock's": {"output": {"message": {"role": "assistant", "content": [{"text": "4"}]}}, "stopReason": "end_turn"},
    "of the Responses API": {"object": "response", "output": [{"type": "message", "role": "assistant", "content": "4"}]},
    "messages": [ANSWER],
    "texts": ["4"],
}


@pytest.mark.parametrize("value", HELD.values(), ids=HELD)
def test_one_message_or_a_chat_api_s_answer_as_a_response(value: Any) -> None:
    """It is read as what the message says, in rows of the board's own, too."""
    assert read({"step": 0, "response": value}, native, Place("a.jsonl", 1))[0].texts["response"] == "4"


OTHERS: dict[str, Any] = {
    "several choices": {"choices": [{"message": ANSWER}, {"message": ANSWER}]},
    "no message": {"answer": 4, "message": "none"},
    "a message that says nothing": {"role": "assistant"},
    "texts and numbers": ["a", 1],
}


@pytest.mark.parametrize("value", OTHERS.values(), ids=OTHERS)
def test_any_other_object_as_a_response_is_json(value: Any) -> None:
    """Nothing of it is lost, and none of several answers is chosen."""
    assert read({"step": 0, "response": value}, native, Place("a.jsonl", 1))[0].texts["response"] == as_text(value)


PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (1024).to_bytes(4, "big") + (768).to_bytes(4, "big") + b"\0" * 88_000
GIF = b"GIF89a" + (3).to_bytes(2, "little") + (2).to_bytes(2, "little") + b"\0" * 90
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF" + b"\0" * 9 + b"\xff\xc0\0\x11\x08\x02\x58\x03\x20" + b"\0" * 900
IMAGES: dict[str, tuple[dict[str, Any], str]] = {
    "OpenAI's": (
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(PNG).decode()}"}},
        "1,024 × 768, 88 kB",
    ),
    "Anthropic's": ({"type": "image", "source": {"type": "base64", "data": b64encode(GIF).decode()}}, "3 × 2, 100 B"),
    "bare": ({"type": "image", "image": b64encode(JPEG).decode()}, "800 × 600, 928 B"),
    "no image after all": ({"type": "image", "image": f"data:image/png;base64,{b64encode(b'x' * 300).decode()}"}, "300 B"),
    "cut off": ({"type": "image", "image": f"data:image/png;base64,{b64encode(PNG[:20]).decode()}"}, "20 B"),
    "elsewhere": ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, "https://example.org/a.png"),
}


@pytest.mark.parametrize(("part", "said"), IMAGES.values(), ids=IMAGES)
def test_an_image_is_a_phrase(part: dict[str, Any], said: str) -> None:
    """Its size in pixels and bytes, or where it lies; never its bytes."""
    assert content({"role": "user", "content": [part]}) == f"[image, {said}]"


def test_what_is_a_chat() -> None:
    """A list of objects with roles, and nothing else."""
    assert is_chat([USER])
    assert not any(map(is_chat, ([], "user", None, [USER, "x"], [{"content": "x"}], USER)))
    assert chat([{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]) == "user:\na\n\ntool:\nb"


def test_parted_where_told() -> None:
    """The place decides, not the role; all may be prompt, or all response."""
    said: list[dict[str, Any]] = [USER, {"role": "assistant", "content": "4"}]

    assert parted(said, 2) == ("user:\n2+2?\n\nassistant:\n4", "")
    assert parted(said, 1) == ("user:\n2+2?", "4")
    assert parted(said, 0) == ("", "user:\n2+2?\n\nassistant:\n4")


def test_a_run_s_own_pads_stand_at_no_end_of_a_message() -> None:
    """What pads this run alone goes from each message as from a text, in parts, too; read without it the messages have it."""
    asked = [{"role": "user", "content": [{"type": "text", "text": "<x>Hi<x>"}]}, {"role": "user", "content": "there <x> now<x>"}]
    said = [
        {"role": "assistant", "content": "Yes<x><pad>"},
        {"role": "tool", "content": "4<x>"},
        {"role": "assistant", "content": "4"},
    ]
    row = {"step": 0, "prompt": asked, "response": said}
    texts = read(row, native, Place("a.jsonl", 1), pads=COMMON_PADS | {"<x>"})[0].texts

    assert texts["prompt"] == "user:\nHi\n\nuser:\nthere <x> now"
    assert texts["response"] == "assistant:\nYes\n\ntool:\n4\n\nassistant:\n4"
    assert "Yes<x>\n" in read(row, native, Place("a.jsonl", 1))[0].texts["response"]
