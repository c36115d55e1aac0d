"""board.analysis.tokens.segments: what is found in a response, however it is cut into tokens, and what the table says of it."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from board.analysis.tokens.segments import Segment, find_segments, join_blanks, outline, roll_up

FOUND: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "nothing": ("plain text", [("text", "plain text")]),
    "think and answer": (
        "<think>a</think>\n<answer>b</answer>",
        [("think", "<think>a</think>"), ("text", "\n"), ("answer", "<answer>b</answer>")],
    ),
    "think that the prompt opened": ("a\nb</think>c", [("think", "a\nb</think>"), ("text", "c")]),
    "code in a think that the prompt opened": (
        "a```py\nx```\nb</think>c",
        [("think", "a"), ("think › code py", "```py\nx```"), ("think", "\nb</think>"), ("text", "c")],
    ),
    "a second closing tag is text": ("<think>a</think>b</think>c", [("think", "<think>a</think>"), ("text", "b</think>c")]),
    "a tag mentioned within itself": ("<think>a <think> b</think>c", [("think", "<think>a <think> b</think>"), ("text", "c")]),
    "never closed": ("x<think>a", [("text", "x"), ("think, not closed", "<think>a")]),
    "nested": (
        "<think>a<tool_call>b</tool_call>c</think>",
        [("think", "<think>a"), ("think › tool call", "<tool_call>b</tool_call>"), ("think", "c</think>")],
    ),
    "closing the outer closes the inner": (
        "<think>a<answer>b</think>c</answer>",
        [("think", "<think>a"), ("think › answer, not closed", "<answer>b</think>"), ("text", "c</answer>")],
    ),
    "a tag with attributes": ('<tool_call name="f">x</tool_call>', [("tool call", '<tool_call name="f">x</tool_call>')]),
    "tool response": (
        "a<tool_response>b</tool_response>",
        [("text", "a"), ("tool response", "<tool_response>b</tool_response>")],
    ),
    "tool responses of DeepSeek": (
        "a<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>b<｜tool▁output▁end｜><｜tool▁outputs▁end｜>c",
        [
            ("text", "a"),
            ("tool response", "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>b<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"),
            ("text", "c"),
        ],
    ),
    "a result behind a call": (
        "<search>a</search><result>b</result>",
        [("tool call", "<search>a</search>"), ("tool response", "<result>b</result>")],
    ),
    "a result without a call": ("<result>b</result>", [("answer", "<result>b</result>")]),
    "another tag is text": ("<b>a</b></answer>", [("text", "<b>a</b></answer>")]),
    "code": ("a\n```python\nx = 1\n```\nb", [("text", "a\n"), ("code python", "```python\nx = 1\n```"), ("text", "\nb")]),
    "tags in code are code": ("```\n<think></think>\n```", [("code", "```\n<think></think>\n```")]),
    "a longer fence holds a shorter one": ("````\n```\n```` x", [("code", "````\n```\n````"), ("text", " x")]),
    "a fence with a language does not end code": ("```md\n```py\n```\nx", [("code md", "```md\n```py\n```"), ("text", "\nx")]),
    "code never closed in a think": (
        "<think>```c</think>d",
        [("think", "<think>"), ("think › code c, not closed", "```c</think>"), ("text", "d")],
    ),
    "ChatML turns": (
        "a<|im_end|>\n<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\nc",
        [
            ("text", "a<|im_end|>\n"),
            ("user", "<|im_start|>user\nb<|im_end|>"),
            ("text", "\n"),
            ("assistant", "<|im_start|>assistant\nc"),
        ],
    ),
    "Llama 3 turns": (
        "<|start_header_id|>user<|end_header_id|>\n\na<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nb<|eot_id|>",
        [
            ("user", "<|start_header_id|>user<|end_header_id|>\n\na<|eot_id|>"),
            ("assistant", "<|start_header_id|>assistant<|end_header_id|>\n\nb<|eot_id|>"),
        ],
    ),
    "turns without an end": ("<|user|>a<|assistant|>b", [("user", "<|user|>a"), ("assistant", "<|assistant|>b")]),
    "DeepSeek turns": ("<｜User｜>a<｜Assistant｜>b", [("user", "<｜User｜>a"), ("assistant", "<｜Assistant｜>b")]),
    "Mistral turns": ("[INST]a[/INST]b", [("user", "[INST]a[/INST]"), ("text", "b")]),
    "Gemma turns": ("<start_of_turn>model\na<end_of_turn>", [("model", "<start_of_turn>model\na<end_of_turn>")]),
    "a turn with no role": ("<|im_start|>\na", [("turn", "<|im_start|>\na")]),
    "a turn ends what is open in it": (
        "<|assistant|><think>a<|user|>b",
        [("assistant", "<|assistant|>"), ("assistant › think, not closed", "<think>a"), ("user", "<|user|>b")],
    ),
    "the end of a turn ends what is open": ("<think>a<|im_end|>b", [("think, not closed", "<think>a<|im_end|>"), ("text", "b")]),
    "a new turn ends code": ("```a<|user|>b", [("code a, not closed", "```a"), ("user", "<|user|>b")]),
    "each turn has its think": (
        "a</think>b<|im_end|><|im_start|>assistant c</think>d",
        [
            ("think", "a</think>"),
            ("text", "b<|im_end|>"),
            ("assistant › think", "<|im_start|>assistant c</think>"),
            ("assistant", "d"),
        ],
    ),
    "GPT-2's byte alphabet": (
        "<|im_start|>assistantĊ<think>ĊĠa</think>Ċ```pythonĊx```Ċ",
        [
            ("assistant", "<|im_start|>assistantĊ"),
            ("assistant › think", "<think>ĊĠa</think>"),
            ("assistant", "Ċ"),
            ("assistant › code python", "```pythonĊx```"),
            ("assistant", "Ċ"),
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), FOUND.values(), ids=FOUND)
def test_segments_of_a_text(text: str, expected: list[tuple[str, str]]) -> None:
    """With one token per character, each segment holds exactly its characters, under its label."""
    assert [(found.label, text[found.first : found.last + 1]) for found in find_segments(list(text))] == expected


def test_a_marker_may_be_split_over_tokens() -> None:
    """`<think>` is found in four tokens; a token shared by two segments belongs to the one it begins in."""
    tokens = ["<", "thi", "nk", ">", "a", ".</", "think", ">\n\n", "b", " <answer", ">", "c"]

    assert find_segments(tokens) == [
        Segment("think", "think", 0, 7),
        Segment("text", "text", 8, 9),
        Segment("answer", "answer, not closed", 10, 11),
    ]


def test_white_space_belongs_to_the_segment_before() -> None:
    """Line ends between two segments, also by byte-level name, are no segment of their own; words are, and white space at the start."""
    tokens = ["\n", "<think>", "a", "</think>", "Ċ", " \n", "<answer>", "b", "</answer>", " so", "\n"]

    joined = join_blanks(find_segments(tokens), tokens)

    assert [(one.label, one.first, one.last) for one in joined] == [
        ("text", 0, 0),
        ("think", 1, 5),
        ("answer", 6, 8),
        ("text", 9, 10),
    ]


def test_a_segment_that_no_token_begins_in_is_not_listed() -> None:
    """What lies wholly inside one token leaves that token to the segment it begins in."""
    assert find_segments(["x<think>y</think>z", "w"]) == [Segment("text", "text", 0, 1)]


WORDS = ["a", " b", "\n", "", "é明", "Ġ", "user", "```", "```py", "````"]
SHARDS = ["`", "<", "think", ">", "<|user|>", "[INST]", "[/INST]", "<|im_start|>", "<|im_end|>", "<|eot_id|>"]
PAIRS = ["<think>", "</think>", "<answer>", "</answer>", "<tool_call>", "</tool_call>"]
PIECES = st.sampled_from([*WORDS, *SHARDS, *PAIRS])


@settings(deadline=None)
@given(st.lists(PIECES, max_size=30))
@example([])
@example([""])
def test_segments_tile_the_tokens(tokens: list[str]) -> None:
    """Whatever the model writes, every token is in exactly one segment, and neighbours differ."""
    found = find_segments(tokens)

    assert [at for one in found for at in range(one.first, one.last + 1)] == list(range(len(tokens)))
    assert all(one.first <= one.last for one in found)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=20), st.data())
def test_cutting_into_tokens_moves_no_character(pieces: list[str], data: st.DataObject) -> None:
    """However the same text is cut, a token has the label of its first character as if every character were a token."""
    text = "".join(pieces)
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=12))})
    tokens = [text[start:end] for start, end in pairwise(cuts)]
    of_character = [one.label for one in find_segments(list(text)) for _ in range(one.first, one.last + 1)]

    of_token = [one.label for one in find_segments(tokens) for _ in range(one.first, one.last + 1)]

    assert of_token == [of_character[start] for start in cuts[:-1]]


def test_roll_up_is_that_of_a_loop() -> None:
    """Sums and means per segment over tokens that count and have a number; the value from the first to the last of them."""
    segments = [Segment("think", "think", 0, 2), Segment("text", "text", 3, 3), Segment("answer", "answer", 4, 6)]
    nan = math.nan
    arrays = {
        "kl": np.array([1, 2, 4, 8, nan, 16, math.inf]),
        "entropy": np.array([1.0, 3, 9, 0, 2, 4, 6]),
        "advantage": np.array([1.0, -3, 9, 0, 2, 4, 6]),
        "value": np.array([nan, 1.0, 5, 7, 2, nan, 0.5]),
    }
    counts = np.array([1, 1, 0, 1, 1, 1, 1], bool)

    table = roll_up(segments, arrays, counts, np.zeros(7, bool))

    assert table.to_dict("list") == {
        "segment": ["think", "text", "answer"],
        "first": [0, 3, 4],
        "tokens": [2, 1, 3],
        "masked": [1, 0, 0],
        "kl, sum": [3, 8, 16],
        "kl, mean": [1.5, 8, 16],
        "entropy, mean": [2, 0, 4],
        "advantage, sum": [-2, 0, 12],
        "value, change": [pytest.approx(nan, nan_ok=True), pytest.approx(nan, nan_ok=True), -1.5],
    }


def test_roll_up_leaves_out_what_is_not_there() -> None:
    """A metric the row lacks has no column, padding alone no row, and masked tokens alone no statistics."""
    segments = [Segment("text", "text", 0, 0), Segment("tool response", "tool response", 1, 1), Segment("text", "text", 2, 3)]

    table = roll_up(segments, {"kl": np.ones(4)}, np.array([True, False, False, False]), np.array([False, False, True, True]))

    assert table.columns.tolist() == ["segment", "first", "tokens", "masked", "kl, sum", "kl, mean"]
    assert table["segment"].tolist() == ["text", "tool response"]
    assert math.isnan(table["kl, sum"][1])


def test_roll_up_of_nothing() -> None:
    """A response of no tokens has no segments and an empty table."""
    assert roll_up([], {"kl": np.zeros(0)}, np.zeros(0, bool), np.zeros(0, bool)).empty


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(["a", "b"], [], id="only text"),
        pytest.param(
            ["<think>", "a", "```py\n", "x", "```\n", "b", "</think>", "c"],
            [(0, 7, 0, "think"), (2, 5, 1, "code py"), (7, 8, 0, "text")],
            id="code in a think: the think is one stretch again",
        ),
        pytest.param(["<think>", "a"], [(0, 2, 0, "think, not closed")], id="not closed"),
        pytest.param(
            ["<think>", "a", "</think>", "<think>", "b", "</think>"],
            [(0, 3, 0, "think"), (3, 6, 0, "think")],
            id="two of a name side by side",
        ),
        pytest.param(
            ["<|im_start|>assistant\n", "<think>", "x", "</think>", "y", "<|im_end|>", "\n", "<|im_start|>user\n", "q"],
            [(0, 7, 0, "assistant"), (1, 4, 1, "think"), (7, 9, 0, "user")],
            id="turns: a line end between two belongs to the first",
        ),
    ],
)
def test_a_segment_comes_with_what_it_holds(tokens: list[str], expected: list[tuple[int, int, int, str]]) -> None:
    """Outer before inner, in the order of the response, each from its first token to before the token after its last."""
    assert [(one.first, one.stop, one.depth, one.label) for one in outline(find_segments(tokens), tokens)] == expected
