"""Tests of the order of names: as people count, and the same however they come."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.text.natural_order import natural_key

NATURAL = {
    "ranks": ["rank_1.jsonl", "rank_2.jsonl", "rank_10.jsonl"],
    "folders before names": ["step_2/rank_10.jsonl", "step_2/rank_11.jsonl", "step_10/rank_0.jsonl"],
    "dates": ["2026-01-02.jsonl", "2026-01-11.jsonl", "2026-10-01.jsonl"],
    "a name and its continuation": ["rank", "rank1", "rank10"],
    "leading zeros": ["r01", "r1", "r002", "r2", "r010"],
    "superscripts are not digits": ["a1²3", "a1²10", "a2"],
    "more digits than Python reads as a number": ["a1", "a" + "1" * 5000, "a" + "2" * 5000],
    "zero": ["r0", "r00", "r1"],
}


@pytest.mark.parametrize("names", NATURAL.values(), ids=NATURAL)
def test_names_are_ordered_as_people_count(names: list[str]) -> None:
    """Digits in a name count as a number, and names that count the same still have one order."""
    for order in itertools.permutations(names):
        assert sorted(order, key=natural_key) == names


@given(st.lists(st.text("ab_/019٣²", max_size=6), max_size=6, unique=True))
def test_no_two_names_share_a_place(names: list[str]) -> None:
    """Whatever the names, their order does not depend on the order they come in."""
    assert len({natural_key(name) for name in names}) == len(names)
