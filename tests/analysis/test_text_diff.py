"""text_diff: runs of two texts against a slow longest common subsequence, and what it does where that would take too long."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.analysis.stats import text_diff
from board.analysis.stats.text_diff import DiffSpan, compare, fold, words

TEXTS = st.lists(st.sampled_from(["a", " b", " c", "\n", "  ", "明", "é", "👩‍👩‍👧", ",", " the"]), max_size=14).map(
    "".join
) | st.text(max_size=20)

WORDS = {
    "words keep the space before them": ("one  two\nthree", ["one", "  two", "\nthree"]),
    "punctuation": ("No, (really)!", ["No", ",", " (", "really", ")", "!"]),
    "Chinese by character": ("床前 明月。ok", ["床", "前", " 明", "月", "。", "ok"]),
    "Korean by character": ("안녕", ["안", "녕"]),
    "an accent stays with its letter": ("cafe\u0301 x", ["cafe\u0301", " x"]),
    "a joined emoji stays whole": ("a 👩‍👩‍👧 b", ["a", " 👩‍👩‍👧", " b"]),
    "Hindi stays whole": ("नमस्ते दुनिया", ["नमस्ते", " दुनिया"]),
    "space at the end": ("a \n", ["a", " \n"]),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("text", "expected"), WORDS.values(), ids=WORDS)
def test_words(text: str, expected: list[str]) -> None:
    """A text is cut where a reader would, and no character of one is halved."""
    assert words(text) == expected


def slow_common(a: list[str], b: list[str]) -> int:
    """The length of a longest common subsequence, by the textbook table."""
    row = [0] * (len(b) + 1)
    for one in a:
        above = row[:]
        for at, other in enumerate(b):
            row[at + 1] = above[at] + 1 if one == other else max(row[at], above[at + 1])
    return row[-1]


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_runs_give_both_texts_back(old: str, new: str) -> None:
    """Old and common runs are the old text, new and common ones the new, letter for letter; no two neighbours are of one side."""
    runs = compare(old, new).runs

    assert "".join(run.text for run in runs if run.side != "new") == old
    assert "".join(run.text for run in runs if run.side != "old") == new
    assert all(one.side != other.side for one, other in pairwise(runs))
    assert all(run.text for run in runs)


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=25), st.lists(st.sampled_from("abcd"), max_size=25))
def test_as_much_as_can_be_is_common(a: list[str], b: list[str]) -> None:
    """Before crumbs are swept up, the common words are a longest common subsequence, in order in both."""
    common = text_diff._common(a, b, text_diff.MOST_PAIRS)

    assert common is not None
    assert len(common) == slow_common(a, b)
    assert all(a[x] == b[y] for x, y in common)
    assert all(x < next_x and y < next_y for (x, y), (next_x, next_y) in pairwise(common))


RUNS = {
    "equal": ("a b", "a b", [("both", "a b")]),
    "nothing": ("", "", []),
    "from nothing": ("", "a b", [("new", "a b")]),
    "a word replaced": ("the old cat", "the new cat", [("both", "the"), ("old", " old"), ("new", " new"), ("both", " cat")]),
    "a word at the end": ("it is 41", "it is 42.", [("both", "it is"), ("old", " 41"), ("new", " 42.")]),
    "Chinese": ("床前明月光", "床前看月光", [("both", "床前"), ("old", "明"), ("new", "看"), ("both", "月光")]),
    "crumbs": (
        "we went far the other day",
        "I saw big the next week",
        [("old", "we went far the other day"), ("new", "I saw big the next week")],
    ),
    "one word between small changes stays": (
        "a x b",
        "c x d",
        [("old", "a"), ("new", "c"), ("both", " x"), ("old", " b"), ("new", " d")],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), RUNS.values(), ids=RUNS)
def test_runs(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    """What was replaced stands before what replaces it; a lone common word between long changes is no anchor."""
    assert [(run.side, run.text) for run in compare(old, new).runs] == expected


def test_many_changes_are_compared_by_line() -> None:
    """Texts with more pairs of words than may be compared are compared by line, and say so; otherwise by word."""
    old = "same first\n" + "\n".join(f"o{i} p{i} q{i}" for i in range(40)) + "\nsame last"
    new = "same first\n" + "\n".join(f"n{i} m{i} l{i}" for i in range(40)) + "\nsame last"
    old, new = old.replace("o7 p7 q7", "kept line"), new.replace("n9 m9 l9", "kept line")

    found = compare(old, new, most_pairs=10_000)

    assert (found.unit, compare(old, new).unit) == ("line", "word")
    assert [run.text for run in found.runs if run.side == "both"] == ["same first\n", "kept line\n", "same last"]
    assert found.words("both") == 6


def test_too_many_lines_are_not_compared() -> None:
    """Beyond so many pairs of lines too, only the common beginning and end are told apart, and it says so."""
    old, new = (" first " + "\n".join(f"{letter}{i}" for i in range(200)) + " last" for letter in "ab")

    found = compare(old, new, most_pairs=10_000)

    assert found.unit == "text"
    assert [run.side for run in found.runs] == ["both", "old", "new", "both"]
    assert (found.runs[0].text, found.runs[-1].text) == (" first", " last")


def test_a_long_text_of_one_line_keeps_its_common_ends() -> None:
    """Lines would find nothing in common there, though both begin alike."""
    old, new = ("the same start" + "".join(f" {letter}{i}" for i in range(200)) + " end" for letter in "ab")

    found = compare(old, new, most_pairs=10_000)

    assert found.unit == "text"
    assert (found.runs[0].text, found.runs[-1].text) == ("the same start", " end")


def run(side: text_diff.Side, count: int) -> DiffSpan:
    """A run of so many words."""
    return DiffSpan(side, "".join(f" w{i}" for i in range(count)), count)


FOLDS = {
    "between changes": ([run("old", 1), run("both", 100), run("new", 1)], [1, 12, -76, 12, 1]),
    "at the start": ([run("both", 100), run("new", 1)], [-88, 12, 1]),
    "at the end": ([run("new", 1), run("both", 100)], [1, 12, -88]),
    "everything": ([run("both", 100)], [-100]),
    "too short to fold": ([run("old", 1), run("both", 36), run("new", 1)], [1, 36, 1]),
    "changes are never folded": ([run("old", 500)], [500]),
    "nothing": ([], []),
}


@pytest.mark.parametrize(("runs", "expected"), FOLDS.values(), ids=FOLDS)
def test_fold(runs: list[DiffSpan], expected: list[int]) -> None:
    """Long common runs keep twelve words beside a change; the rest (negative here) is folded, and no letter lost."""
    folded = fold(runs)

    assert [-one.words if one.folded else one.words for one in folded] == expected
    assert "".join(one.text for one in folded) == "".join(one.text for one in runs)
