"""board.analysis.rollouts.selection: which rows and tokens are shown, in which order."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rows import token_row, write_run

from board import open_run
from board.analysis.rollouts import selection
from board.errors import FieldMissing
from board.metrics.formulas import kl
from board.runs.parsing import part_builder

NAN, INF = math.nan, math.inf


def frame_of(steps: list[int], **columns: list[float]) -> pd.DataFrame:
    """A frame as a run has it: ordered by step, its index the key."""
    frame = pd.DataFrame({"step": np.array(steps, np.int64), **columns})
    return frame.rename_axis(index="rollout")


def keys(frame: pd.DataFrame) -> list[int]:
    """The rows of a frame by key."""
    return [int(key) for key in frame.index]


def column_of(*texts: str | None) -> pa.ChunkedArray:
    """A text column as a run gives it."""
    return pa.chunked_array([list(texts)], pa.large_string())


STEPS: dict[str, tuple[list[int], int | None, list[int]]] = {
    "all": ([0, 0, 1], None, [0, 1, 2]),
    "first": ([0, 0, 1], 0, [0, 1]),
    "last": ([0, 0, 1], 1, [2]),
    "missing between": ([0, 0, 2], 1, []),
    "before": ([0, 1], -1, []),
    "negative": ([-5, -1, -1, 3], -1, [1, 2]),
    "of no rows": ([], 0, []),
    "the largest there can be": ([2**63 - 2, 2**63 - 1], 2**63 - 1, [1]),
}


@pytest.mark.parametrize(("steps", "step", "expected"), STEPS.values(), ids=STEPS)
def test_rows_of_a_step(steps: list[int], step: int | None, expected: list[int]) -> None:
    """Exactly those of the step, in the frame's order; all for None."""
    assert keys(selection.of_step(frame_of(steps), step)) == expected


def test_numeric_columns_leave_out_places_and_ids() -> None:
    """Numbers only, and not those that say where a row came from."""
    frame = frame_of([0], line=[1], reward=[1.0], count=[2]).assign(
        shard=pd.Categorical(["a"]), rank=pd.Categorical(["1"]), text=["x"], flag=[1.5]
    )

    assert selection.numeric_columns(frame) == ["reward", "count", "flag"]


SORTS: dict[str, tuple[list[float], bool, list[int]]] = {
    "ascending": ([2.0, 1.0, 3.0], False, [1, 0, 2]),
    "descending": ([2.0, 1.0, 3.0], True, [2, 0, 1]),
    "missing last ascending": ([NAN, 1.0, NAN, 0.0], False, [3, 1, 0, 2]),
    "missing last descending": ([NAN, 1.0, NAN, 0.0], True, [1, 3, 0, 2]),
    "infinities at their ends ascending": ([0.0, INF, -INF, NAN], False, [2, 0, 1, 3]),
    "infinities at their ends descending": ([0.0, INF, -INF, NAN], True, [1, 0, 2, 3]),
    "ties keep the order ascending": ([1.0, 0.0, 1.0, 0.0], False, [1, 3, 0, 2]),
    "ties keep the order descending": ([1.0, 0.0, 1.0, 0.0], True, [0, 2, 1, 3]),
    "zeros are one": ([0.0, -0.0, 0.0], True, [0, 1, 2]),
    "nothing but missing": ([NAN, NAN], True, [0, 1]),
    "nothing": ([], True, []),
}


@pytest.mark.parametrize(("values", "descending", "expected"), SORTS.values(), ids=SORTS)
def test_sorting(values: list[float], descending: bool, expected: list[int]) -> None:
    """By value, missing ones last either way, ties in the order they came; the frame given is not touched."""
    frame = frame_of([0] * len(values), reward=values)
    before = frame.copy(deep=True)

    assert keys(selection.sort(frame, "reward", descending=descending)) == expected
    pd.testing.assert_frame_equal(frame, before)


def test_sorting_ids_counts_as_people_do() -> None:
    """Categories have their own order."""
    frame = frame_of([0, 0, 0]).assign(rank=pd.Categorical(["10", "2", None], categories=["2", "10"]))

    assert keys(selection.sort(frame, "rank", descending=False)) == [1, 0, 2]


def test_sorting_by_a_missing_column_is_said() -> None:
    """The column is named."""
    with pytest.raises(FieldMissing, match="no column 'kl' to sort by"):
        selection.sort(frame_of([0]), "kl", descending=True)


SEARCH: dict[str, tuple[str, str, bool]] = {
    "as it is": ("the answer is 42", "answer", True),
    "not there": ("the answer is 42", "question", False),
    "case": ("The Answer", "tHE aNSWER", True),
    "chinese": ("白云一片去悠悠", "去悠", True),
    "other chinese": ("白云一片去悠悠", "归", False),
    "russian case": ("ПРИВЕТ, Мир", "привет, МИР", True),
    "greek case": ("ΑΒΓ", "αβγ", True),
    "accents count": ("café", "CAFÉ", True),
    "accents are not dropped": ("cafe", "café", False),
    "regex characters are letters": ("a.*[b", ".*[", True),
    "dot is a dot": ("abc", "a.c", False),
    "star is a star": ("aaa", "a*", False),
    "brackets": ("f(x)[0]{1}", "(X)[0]{1}", True),
    "backslash": (r"\boxed{42}", r"\BOXED{", True),
    "dollar and caret": ("$x^2$", "^2$", True),
    "pipe": ("<|im_end|>", "|IM_END|", True),
    "percent and underscore": ("100%_", "%_", True),
    "line breaks": ("one\ntwo", "ONE\nTWO", True),
    "tags": ("<script>alert(1)</script>", "<SCRIPT>", True),
    "emoji of several code points": ("x 👩\u200d👧 y", "👩\u200d👧", True),
    "right to left override": ("a\u202eb", "\u202eb", True),
    "zero width space": ("a\u200bb", "ab", False),
    "zero byte": ("a\0b", "A\0B", True),
    "space counts": ("a  b", "a b", False),
    "empty query finds all": ("x", "", True),
    "empty text": ("", "x", False),
    "longer than the text": ("x", "xx", False),
    "very long, degenerate": ("Ha" * 20_000, "hA" * 19_999, True),
    "very long, not there": ("a" * 40_000, "a" * 39_999 + "b", False),
    "very long, chinese": ("好" * 20_000, "好" * 19_999, True),
}


@pytest.mark.parametrize(("text", "query", "expected"), SEARCH.values(), ids=SEARCH)
def test_search_is_letter_for_letter_but_for_case(text: str, query: str, expected: bool) -> None:
    """In any script; no character of the query has a meaning of its own; null contains nothing."""
    assert selection.contains([column_of(text, None)], query).tolist() == [expected, False]


def test_search_in_several_columns() -> None:
    """A row is found where any of its texts contains the query."""
    prompts, responses = column_of("cat", "dog", None, None), column_of("dog", "cow", "CAT", None)

    assert selection.contains([prompts, responses], "cat").tolist() == [True, False, True, False]
    assert selection.contains([], "cat").tolist() == []
    assert selection.contains([column_of()], "cat").tolist() == []


@given(st.text(st.characters(codec="ascii"), max_size=12), st.text(st.characters(codec="ascii"), max_size=3))
def test_search_agrees_with_lowering_both(text: str, query: str) -> None:
    """For ASCII, whatever characters it holds."""
    assert selection.contains([column_of(text)], query).tolist() == [query.lower() in text.lower()]


@pytest.mark.parametrize("asked", [1, 40], ids=["a few", "all"])
def test_search_over_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: int) -> None:
    """Rollouts are found by prompt or response whichever part holds them, whether few or all are asked for, in the order asked."""
    monkeypatch.setattr(part_builder, "ROWS_PER_PART", 7)
    rows = [token_row(at // 8, prompt=f"p{at % 5}", response=f"Rr{at}") for at in range(39)]
    run = open_run(write_run(tmp_path, {"a.jsonl": [*rows, {"step": 9, "response_tokens": ["r3"]}]}))
    keys = run.frame.index.to_numpy()[::-1][:asked]

    for query in ("R3", "p4", "none"):
        texts = [(run.rollout(int(key))["prompt"] or "") + "|" + (run.rollout(int(key))["response"] or "") for key in keys]
        assert selection.with_text(run, keys, query).tolist() == [query.lower() in text.lower() for text in texts]


PAGES: dict[str, tuple[int, int, int, list[int], int]] = {
    "first": (5, 1, 2, [0, 1], 3),
    "middle": (5, 2, 2, [2, 3], 3),
    "last, not full": (5, 3, 2, [4], 3),
    "beyond the last": (5, 9, 2, [4], 3),
    "full": (4, 2, 2, [2, 3], 2),
    "larger than all": (3, 1, 100, [0, 1, 2], 1),
    "nothing": (0, 1, 10, [], 1),
    "beyond nothing": (0, 7, 10, [], 1),
}


@pytest.mark.parametrize(("rows", "number", "size", "expected", "pages"), PAGES.values(), ids=PAGES)
def test_pages(rows: int, number: int, size: int, expected: list[int], pages: int) -> None:
    """1-based; the last page where there are fewer; at least one page."""
    assert selection.page(np.arange(rows), number, size).tolist() == expected
    assert selection.pages(rows, size) == pages


@given(st.integers(0, 50), st.integers(1, 10))
def test_pages_together_are_all_rows(rows: int, size: int) -> None:
    """None twice, none left out."""
    keys = np.arange(rows)
    seen = [key for number in range(selection.pages(rows, size)) for key in selection.page(keys, number + 1, size).tolist()]

    assert seen == list(range(rows))


NEIGHBOURS: dict[str, tuple[list[int], int, tuple[int | None, int | None]]] = {
    "between": ([5, 3, 9], 3, (5, 9)),
    "first": ([5, 3, 9], 5, (None, 3)),
    "last": ([5, 3, 9], 9, (3, None)),
    "only": ([5], 5, (None, None)),
    "not there": ([5, 3, 9], 4, (None, None)),
    "nothing": ([], 4, (None, None)),
}


@pytest.mark.parametrize(("order", "key", "expected"), NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_neighbours(order: list[int], key: int, expected: tuple[int | None, int | None]) -> None:
    """Before and after in this very order."""
    assert selection.neighbours(order, key) == expected
    assert selection.neighbours(np.array(order, np.int64), key) == expected


ALL = [True] * 6
VALUES = [1.0, -3.0, 2.0, NAN, 2.0, 0.0]
EXTREMES: dict[str, tuple[list[float], selection.Order, int, list[bool], list[int]]] = {
    "highest, ties in order": (VALUES, "highest", 3, ALL, [2, 4, 0]),
    "lowest": (VALUES, "lowest", 2, ALL, [1, 5]),
    "magnitude": (VALUES, "magnitude", 3, ALL, [1, 2, 4]),
    "more than there are": (VALUES, "highest", 99, ALL, [2, 4, 0, 5, 1]),
    "none": (VALUES, "highest", 0, ALL, []),
    "masked tokens are left out": (VALUES, "highest", 2, [True, True, False, True, True, True], [4, 0]),
    "all masked": (VALUES, "highest", 2, [False] * 6, []),
    "infinite is highest": ([1, INF, -INF, NAN, 2, 3], "highest", 2, ALL, [1, 5]),
    "infinite is lowest": ([1, INF, -INF, NAN, 2, 3], "lowest", 2, ALL, [2, 0]),
    "both infinities are far": ([1, INF, -INF, NAN, 2, 3], "magnitude", 3, ALL, [1, 2, 5]),
    "no number at all": ([NAN] * 6, "magnitude", 3, ALL, []),
}


@pytest.mark.parametrize(("values", "order", "top", "counts", "expected"), EXTREMES.values(), ids=EXTREMES)
def test_extreme_tokens(values: list[float], order: selection.Order, top: int, counts: list[bool], expected: list[int]) -> None:
    """Position, token and every metric of the most extreme counted tokens, most extreme first."""
    metrics = {"kl": np.array(values, np.float32), "other": np.arange(6, dtype=np.float32)}

    table = selection.extreme_tokens(list("abcdef"), metrics, "kl", order, top, np.array(counts))

    assert list(table.columns) == ["position", "token", "kl", "other"]
    assert table["position"].tolist() == expected
    assert table["token"].tolist() == ["abcdef"[at] for at in expected]
    assert table["other"].tolist() == expected
    np.testing.assert_array_equal(table["kl"].to_numpy(float), [values[at] for at in expected])


GAPS = [12.0, -3.4, 0.0, NAN, 11.0, -1.0]
SIDES: dict[str, tuple[selection.Side, bool, list[int]]] = {
    "both: the avoided one is the largest by k3": ("both", True, [1, 0, 4, 5, 2]),
    "those that the policy prefers": ("policy prefers", True, [0, 4]),
    "those that it avoids": ("policy avoids", True, [1, 5]),
    "no log-ratio, both": ("both", False, [1, 0, 4, 5, 2]),
    "no log-ratio, no side": ("policy prefers", False, []),
}


@pytest.mark.parametrize(("side", "known", "expected"), SIDES.values(), ids=SIDES)
def test_extreme_tokens_of_one_side(side: selection.Side, known: bool, expected: list[int]) -> None:
    """A KL has no sign; the sign of the log-ratio leaves the preferred tokens alone, or the avoided ones."""
    gaps = np.array(GAPS, np.float32)
    metrics: dict[str, NDArray[np.floating[Any]]] = {"kl": kl(gaps), **({"log_ratio": gaps} if known else {})}

    table = selection.extreme_tokens(list("abcdef"), metrics, "kl", "highest", 9, np.array(ALL), side)

    assert table["position"].tolist() == expected


def test_what_the_sign_of_a_log_ratio_says() -> None:
    """Above zero the policy prefers the token, below it avoids it; zero and missing say nothing."""
    assert selection.preferred(np.array(GAPS)) == ["prefers", "avoids", "", "", "prefers", "avoids"]


def test_extreme_tokens_of_an_unknown_metric_are_said() -> None:
    """The metric is named."""
    with pytest.raises(FieldMissing, match="This rollout has no kl"):
        selection.extreme_tokens(["a"], {}, "kl", "highest", 1, np.array([True]))


def test_extreme_tokens_of_an_empty_response() -> None:
    """An empty table with its columns."""
    table = selection.extreme_tokens([], {"kl": np.empty(0, np.float32)}, "kl", "highest", 5, np.empty(0, bool))

    assert (len(table), list(table.columns)) == (0, ["position", "token", "kl"])


SAMPLES = {
    "all": (0, [0, 1, 2, 3, 4]),
    "more than there are": (9, [0, 1, 2, 3, 4]),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_keeps_all_when_there_is_room(name: str) -> None:
    """No limit, or one that no step reaches, changes nothing."""
    limit, expected = SAMPLES[name]
    frame = pd.DataFrame({"step": [0, 0, 0, 1, 1]})

    assert selection.sample(frame, limit).index.tolist() == expected


def test_sample_is_drawn_per_step_in_order_and_repeats() -> None:
    """Each step keeps at most so many rows, in the frame's order; the same seed draws the same rows, another one others."""
    frame = pd.DataFrame({"step": np.repeat([-1, 3, 7], [100, 2, 50])})

    drawn = selection.sample(frame, 10)

    assert drawn["step"].value_counts().to_dict() == {-1: 10, 3: 2, 7: 10}
    assert drawn.index.is_monotonic_increasing
    assert selection.sample(frame, 10).index.equals(drawn.index)
    assert not selection.sample(frame, 10, seed=1).index.equals(drawn.index)


def test_sample_of_nothing_is_nothing() -> None:
    """An empty frame stays empty."""
    assert selection.sample(pd.DataFrame({"step": []}), 3).empty
