"""What parts of a link say, and what they do not."""

import pytest

from board.ui.state import link_texts


@pytest.mark.parametrize(
    ("text", "found"), [("10-40", (10, 40)), ("-3--1", (-3, -1)), ("5-5", (5, 5)), ("40-10", None), ("ten", None), ("", None)]
)
def test_a_range_of_steps(text: str, found: tuple[int, int] | None) -> None:
    """Rising, of whole numbers; as the curves report it, it is written back."""
    assert link_texts.step_range(text) == found
    if found:
        assert link_texts.range_text({"range": list(found)}) == text


@pytest.mark.parametrize("given", [None, {}, {"range": None}, {"range": [1]}, {"range": [1, float("nan")]}, {"range": ["1", 2]}])
def test_what_is_no_range(given: object) -> None:
    """Whatever a browser may send."""
    assert link_texts.range_text(given) is None


@pytest.mark.parametrize(("text", "is_one"), [("12", True), ("-3", True), ("1.5", False), ("", False), ("9" * 20, False)])
def test_whole_numbers(text: str, is_one: bool) -> None:
    """Those that fit 64 bits, or nearly."""
    assert link_texts.is_whole(text) is is_one


def test_a_mark_is_of_one_text() -> None:
    """Whose name may hold a colon."""
    assert link_texts.marked("a:b:10-14", "a:b") == (10, 14)
    assert link_texts.marked("response:10-14", "prompt") is None
    assert link_texts.marked("response", "response") is None
