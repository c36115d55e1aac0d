"""The likeliest alternatives at every token, and where the sampled one stands among all."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.tokens.alternatives import Likeliest, likeliest

PAIR = pa.struct([("token", pa.large_string()), ("logprob", pa.float32())])
Lists = list[list[tuple[str, float]] | None]


def arrow(lists: Lists) -> pa.LargeListArray:
    """The lists as a part holds them."""
    as_dicts = [None if one is None else [{"token": token, "logprob": number} for token, number in one] for one in lists]
    return pa.array(as_dicts, pa.large_list(PAIR))


def of(lists: Lists, tokens: list[str], rows: list[int] | None = None, most: int = 5) -> Likeliest:
    """`likeliest` of plain lists, of all tokens unless told otherwise."""
    return likeliest(arrow(lists), tokens, np.array(range(len(lists)) if rows is None else rows, np.int64), most)


def parts(found: Likeliest) -> list[list[tuple[str, float]]]:
    """Token by token what is to be sent."""
    starts = [0, *found.ends.tolist()][:-1]
    pairs = list(zip(found.texts.to_pylist(), found.logprobs.tolist(), strict=True))
    return [pairs[start:end] for start, end in zip(starts, found.ends.tolist(), strict=True)]


def test_the_likeliest_come_first_and_are_few() -> None:
    """However they are listed; what is impossible or has no number comes last, the sampled one is found beyond the cut."""
    lists: Lists = [[("a", -3.0), ("b", math.nan), ("c", -1.0), ("d", -math.inf), ("e", -2.0)], None, [], [("x", -1.0)]]
    found = of(lists, ["a", "a", "a", "y"], most=2)
    assert parts(found) == [[("c", -1.0), ("e", -2.0)], [], [], [("x", -1.0)]]
    assert found.listed.tolist() == [5, 0, 0, 1]
    assert found.sampled.tolist() == [2, -1, -1, -1]


def test_only_the_rows_asked_for() -> None:
    """Hidden padding and other windows are left out, and a token keeps its own alternatives."""
    found = of([[("a", -1.0)], [("b", -1.0)], [("c", -1.0)]], ["a", "x", "c"], rows=[1, 2])
    assert parts(found) == [[("b", -1.0)], [("c", -1.0)]]
    assert found.sampled.tolist() == [-1, 0]


def test_text_beside_names() -> None:
    """Where tokens are byte-level names and the alternatives text, the sampled one is known all the same."""
    assert of([[(" cat", -0.5)], [("Ġsat", -0.5)]], ["Ġcat", "Ġsat"]).sampled.tolist() == [0, 0]


def test_nothing_listed_anywhere() -> None:
    """Empty lists and no tokens make an empty answer."""
    assert parts(of([None, []], ["a", "b"])) == [[], []]
    assert parts(of([], [])) == []


_LISTS: Any = st.lists(
    st.none() | st.lists(st.tuples(st.sampled_from("abcd"), st.floats(-50, 0, width=32) | st.just(math.nan)), max_size=7),
    max_size=8,
)


@given(lists=_LISTS, most=st.integers(1, 6), data=st.data())
def test_as_sorting_each_list_would(lists: Lists, most: int, data: st.DataObject) -> None:
    """Every token's answer is its own list, sorted and cut; regular and ragged lists alike."""
    rows = sorted(data.draw(st.sets(st.integers(0, len(lists) - 1)))) if lists else []
    tokens = ["a"] * len(lists)
    found = of(lists, tokens, rows, most)
    wanted = [sorted(lists[row] or [], key=lambda pair: math.inf if math.isnan(pair[1]) else -pair[1]) for row in rows]
    assert repr(parts(found)) == repr([one[:most] for one in wanted])
    assert found.sampled.tolist() == [next((k for k, (name, _) in enumerate(one) if name == "a"), -1) for one in wanted]
