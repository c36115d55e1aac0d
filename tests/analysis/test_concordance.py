"""Keyword in context: every place with what stands around it, in the order asked for, and the token it is in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import row, write_run

from board import open_run
from board.analysis.texts.concordance import CONTEXT, LONGEST_MATCH, MOST_OF_ONE, Occurrence, lines, ordered, spread, token_at
from board.analysis.texts.text_search import SearchText
from board.runs.run import Run


def opened(folder: Path, *responses: str | None) -> Run:
    """A run of one step with these responses."""
    return open_run(write_run(folder / "run", {"a.jsonl": [row(0, response=one) for one in responses]}))


def test_every_place_with_its_surroundings(tmp_path: Path) -> None:
    """A line for each place, with its characters and what stands to either side, cut at the context's length."""
    long = "x" * 100
    run = opened(tmp_path, f"{long}cat{long}", "a cat, a Cat", "none")

    found = lines(run, run.frame.index.to_numpy(), "response", SearchText("cat"))

    assert [(line.start, line.stop) for line in found] == [(100, 103), (2, 5), (9, 12)]
    assert (found[0].left, found[0].right) == ("x" * CONTEXT, "x" * CONTEXT)
    assert (found[1].left, found[1].match, found[1].right) == ("a ", "cat", ", a Cat")
    assert (found[2].left, found[2].match, found[2].right) == ("a cat, a ", "Cat", "")


def test_lines_are_bounded(tmp_path: Path) -> None:
    """Of a text with endless places the first are listed, and of an endless place its beginning; what follows is as it stands."""
    run = opened(tmp_path, "ab" * 1_000, "y" * 1_000)
    keys = run.frame.index.to_numpy()

    many = lines(run, keys, "response", SearchText("ab"))
    assert len(many) == MOST_OF_ONE
    assert many[-1].right == "ab" * (CONTEXT // 2)
    (long,) = lines(run, keys, "response", SearchText("y+", "expression"))
    assert long.match == "y" * LONGEST_MATCH + "…"
    assert long.stop == 1_000


@given(st.text("ab文", max_size=30), st.sampled_from(["a", "b+", "文", "ab"]))
def test_places_are_where_they_say(text: str, expression: str) -> None:
    """The characters from start to stop are the match, and the lines are as many as there are places."""
    import re

    from board.analysis.texts.concordance import _of_text

    marked = re.sub(expression, lambda found: f"<{found[0]}>", text)

    found = list(_of_text(0, "response", marked, "<", ">"))

    assert [(line.start, line.stop, line.match) for line in found] == [
        (one.start(), one.end(), one[0]) for one in re.finditer(expression, text)
    ]
    assert all(text[max(0, line.start - CONTEXT) : line.start] == line.left for line in found)
    assert all(text[line.stop : line.stop + CONTEXT] == line.right for line in found)


LINES = [
    Occurrence(0, "response", 0, 1, "the big ", "x", " barks"),
    Occurrence(1, "response", 0, 1, "A small ", "x", " Ate"),
    Occurrence(2, "response", 0, 1, "my Big", "x", " cries"),
]

ORDERS = {"step": [2, 0, 1], "left": [2, 0, 1], "right": [1, 0, 2], "reward": [1, 2, 0]}


@pytest.mark.parametrize("by", ORDERS)
def test_orders(by: str) -> None:
    """By step, by the words to the left read backwards, by those to the right, or by reward with missing ones last."""
    found = ordered(LINES, by, {0: 5, 1: 9, 2: 1}, {1: 2.0, 2: -1.0})  # type: ignore[arg-type]

    assert [line.key for line in found] == ORDERS[by]


def test_few_stand_for_many() -> None:
    """Of more keys than wanted the kept ones are spread over all, first and last among them."""
    keys = np.arange(1_000)

    assert spread(keys, 2_000) is keys
    assert len(spread(keys, 10)) == 10
    assert spread(keys, 10)[[0, -1]].tolist() == [0, 999]


TOKENS: dict[str, tuple[list[str], int, str, int | None]] = {
    "the first": (["The", " cat"], 0, "The", 0),
    "within one": (["The", " cat"], 2, "e", 0),
    "over two": (["The", " cat"], 2, "e c", 0),
    "the next": (["The", " cat"], 4, "cat", 1),
    "a little later": (["<s>", "The", " cat"], 4, "cat", 2),
    "a little earlier": (["cat", " cat", " cat"], 6, "cat", 1),
    "not there": (["The", " cat"], 0, "dog", None),
    "nothing": (["The"], 0, "", None),
    "none": ([], 0, "a", None),
    "bytes": (["Ġa", "Ġb", "Ġc", "Ġd"], 3, "b", 1),
    "a split character": (["<0xE4>", "<0xBB>", "<0x8A>", "▁a", "▁b", "▁c"], 2, "a", 3),
}


@pytest.mark.parametrize("name", TOKENS)
def test_the_token_at_a_place(name: str) -> None:
    """A place in the text is in the token whose bytes hold its first character, wherever tokens put it."""
    tokens, start, match, wanted = TOKENS[name]

    assert token_at(tokens, start, match) == wanted
