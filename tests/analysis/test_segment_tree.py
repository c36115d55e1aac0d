"""Segments as they are folded: each with what is nested in it."""

import pytest

from board.analysis.tokens.segments import find_segments, outline


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
