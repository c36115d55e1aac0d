"""board.runs.cache.parts: rows as columns, and what is derived of each row, against plain loops over the row."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.formats.row import Row
from board.runs.cache import parts
from board.runs.cache.columns import Columns
from board.runs.cache.parts import COUNTS, PADS
from board.runs.parsing.row_block import RowPlace, block_of_rows
from board.schema import ALTERNATIVES
from board.text.padding import COMMON_PADS, marks

NAN = math.nan

pytestmark = pytest.mark.filterwarnings("error")  # no statistic may warn, whatever it is given


def make_row(tokens: list[str] | None = None, step: int = 0, **fields: Any) -> Row:
    """A row with arrays (lists) and numbers by name."""
    return Row(
        step,
        texts={name: one for name, one in fields.items() if isinstance(one, str)},
        numbers={name: float(one) for name, one in fields.items() if isinstance(one, (int, float))},
        tokens=tokens,
        arrays={name: np.array(one, np.float32) for name, one in fields.items() if isinstance(one, list)},
    )


def build(*rows: Row, pads: frozenset[str] = COMMON_PADS) -> parts.Part:
    """A part of these rows, one line each."""
    block = block_of_rows(rows, [RowPlace(at + 1, at * 10) for at in range(len(rows))])
    return parts.build(block, "a.jsonl", pads)


def table(columns: Columns) -> Any:
    """Columns of a part, as the Arrow table that they are."""
    return columns


def value(column: str, *rows: Row) -> list[float]:
    """One scalar column of a part of these rows."""
    return [float(one) for one in table(build(*rows).scalars).to_pandas()[column]]


def same(found: list[float], expected: list[float]) -> None:
    """Equal but for rounding, NaN where expected."""
    assert found == pytest.approx(expected, nan_ok=True, rel=1e-6)


AB = ["a", "b"]
DERIVED: dict[str, tuple[str, Row, float]] = {
    "length is that of the tokens": ("response_length", make_row(AB), 2),
    "length without tokens is that of the arrays": ("response_length", make_row(None, logprobs=[1, 2, 3]), 3),
    "length of nothing is unknown": ("response_length", make_row(None), NAN),
    "length of no tokens is 0": ("response_length", make_row([]), 0),
    "pads have no length": ("response_length", make_row(["a", "<pad>", "<pad>"]), 1),
    "masked tokens have no length": ("response_length", make_row(AB, loss_mask=[0, 1]), 1),
    "everything masked": ("response_length", make_row(AB, loss_mask=[0, 0]), 0),
    "missing mask counts": ("response_length", make_row(AB, loss_mask=[NAN, 0]), 1),
    "characters": ("response_chars", make_row(response="威仪\U0001f600"), 3),
    "characters of nothing are unknown": ("response_chars", make_row(AB), NAN),
    "characters of an empty response": ("response_chars", make_row(response=""), 0),
    "gap": ("reward_gap", make_row(reward=1.5, ref_reward=0.25), 1.25),
    "gap of validation rewards": ("valid_reward_gap", make_row(valid_reward=1, ref_valid_reward=2), -1),
    "mean": ("logprob_mean", make_row(AB, logprobs=[-1, -2]), -1.5),
    "mean leaves out pads": ("logprob_mean", make_row(["a", "<pad>"], logprobs=[-1, -9]), -1),
    "mean leaves out masked tokens": ("logprob_mean", make_row(AB, logprobs=[-1, -9], loss_mask=[1, 0]), -1),
    "mean leaves out what is missing": ("logprob_mean", make_row(AB, logprobs=[NAN, -3]), -3),
    "mean leaves out infinities": ("logprob_mean", make_row(AB, logprobs=[-math.inf, -3]), -3),
    "mean of nothing is unknown": ("logprob_mean", make_row([], logprobs=[]), NAN),
    "mean where all is masked is unknown": ("logprob_mean", make_row(AB, logprobs=[-1, -2], loss_mask=[0, 0]), NAN),
    "sum of token rewards": ("token_reward_sum", make_row(AB, token_rewards=[0.5, 1]), 1.5),
    "sum leaves out masked tokens": ("token_reward_sum", make_row(AB, token_rewards=[0.5, 1], loss_mask=[0, 1]), 1),
    "unknown metric": ("foo_mean", make_row(AB, foo=[1, 3]), 2),
    "log-ratio mean": ("log_ratio_mean", make_row(AB, logprobs=[-1, -2], ref_logprobs=[-2, -2]), 0.5),
    "log-ratio sum": ("log_ratio_sum", make_row(AB, logprobs=[-1, -2], ref_logprobs=[-2, -2]), 1),
    "log-ratio max": ("log_ratio_max", make_row(AB, logprobs=[-1, -2], ref_logprobs=[-2, -2]), 1),
    "k2": ("kl_k2_sum", make_row(AB, logprobs=[-1, -2], ref_logprobs=[-3, -2]), 2),
    "k3": ("kl_k3_sum", make_row(AB, logprobs=[-1, -2], ref_logprobs=[-2, -2]), math.exp(-1)),
    "k3 leaves out masked tokens": ("kl_k3_max", make_row(AB, logprobs=[-1, -2], ref_logprobs=[-9, -2], loss_mask=[0, 1]), 0),
    "ratio only where both are": ("log_ratio_sum", make_row(AB, logprobs=[-1, -2], ref_logprobs=[-2, NAN]), 1),
    "no finite number": ("nonfinite_tokens", make_row(AB, logprobs=[NAN, -1], values=[math.inf, 1]), 2),
    "none without": ("nonfinite_tokens", make_row(AB, logprobs=[-1, -1]), 0),
    "masked tokens need no number": ("nonfinite_tokens", make_row(AB, logprobs=[NAN, -1], loss_mask=[0, 1]), 0),
    "without arrays there is nothing to count": ("nonfinite_tokens", make_row(AB), NAN),
}


@pytest.mark.parametrize(("column", "row", "expected"), DERIVED.values(), ids=DERIVED)
def test_derived_numbers(column: str, row: Row, expected: float) -> None:
    """One row, one column, one number: the same between other rows, empty ones included."""
    same(value(column, row), [expected])
    empty, full = make_row([], logprobs=[]), make_row(AB, logprobs=[-7, -8], ref_logprobs=[-7, -8])
    same(value(column, empty, row, empty)[1:2], [expected])
    same(value(column, full, row, full)[1:2], [expected])


@pytest.mark.parametrize(
    "column", ["reward_gap", "valid_reward_gap", "log_ratio_mean", "kl_k3_mean", "logprob_mean", "loss_mask_mean"]
)
def test_columns_that_need_absent_fields_are_absent(column: str) -> None:
    """No column for what no row has; the loss mask is no metric."""
    assert column not in table(build(make_row(AB, loss_mask=[1, 1], reward=1)).scalars).to_pandas().columns


def test_gap_is_missing_in_the_rows_that_lack_a_side() -> None:
    """A missing reference is no reference of 0."""
    same(value("reward_gap", make_row(reward=1, ref_reward=0.5), make_row(reward=1), make_row(ref_reward=1)), [0.5, NAN, NAN])


def test_where_rows_come_from() -> None:
    """Step, shard, line and offset, in the order of reading."""
    part = build(make_row(step=3), make_row(step=1))

    assert table(part.scalars).to_pandas()[["step", "shard", "line", "offset"]].to_numpy().tolist() == [
        [3, "a.jsonl", 1, 0],
        [1, "a.jsonl", 2, 10],
    ]
    assert len(part) == 2


def test_missing_texts_tokens_and_arrays_are_null() -> None:
    """What a row lacks is null in that row, an empty one is empty."""
    part = build(make_row(AB, prompt="p", logprobs=[-1, -2]), make_row(None, response=""), make_row([], logprobs=[]))

    assert table(part.texts).to_pydict() == {"prompt": ["p", None, None], "response": [None, "", None]}
    assert part.tokens.column("logprobs").to_pylist() == [[-1.0, -2.0], None, []]
    assert part.tokens.column("response_tokens").to_pylist() == [AB, None, []]
    assert part.tokens.column(COUNTS).to_pylist() == [[True, True], [], []]


def test_row_without_an_array_between_rows_that_have_it() -> None:
    """The rows after it keep their own numbers."""
    part = build(make_row(AB, x=[1, 2]), make_row(["c", "d", "e"], y=[3, 4, 5]), make_row(["f"], x=[6]))

    assert part.tokens.column("x").to_pylist() == [[1.0, 2.0], None, [6.0]]
    assert part.tokens.column("y").to_pylist() == [None, [3.0, 4.0, 5.0], None]
    same(list(table(part.scalars).to_pandas()["x_mean"]), [1.5, NAN, 6])


def test_marks_tell_padding_from_masked() -> None:
    """Pads are padding and do not count; masked tokens do not count."""
    part = build(make_row(["a", "b", "<pad>"], loss_mask=[0, 1, 1]))

    assert part.tokens.column(PADS).to_pylist() == [[False, False, True]]
    assert part.tokens.column(COUNTS).to_pylist() == [[False, True, False]]


def test_named_pads_count_as_padding() -> None:
    """The pads given are the ones there are."""
    assert list(table(build(make_row(["a", "x"]), pads=frozenset({"x"})).scalars).to_pandas()["response_length"]) == [1]


TEXTS_LIKE_PADS = ["", "<pad>", "[PAD]", "<", "<pad", "x<pad>", "</s>", "é", "填充", "填"]


@given(
    rows=st.lists(st.lists(st.sampled_from(TEXTS_LIKE_PADS), max_size=6), min_size=1, max_size=5),
    pads=st.frozensets(st.sampled_from(TEXTS_LIKE_PADS), max_size=4),
)
def test_padding_of_many_rows_is_that_of_each(rows: list[list[str]], pads: frozenset[str]) -> None:
    """Whatever the pads begin with, and whatever tokens begin as they do."""
    part = build(*(make_row(tokens) for tokens in rows), pads=pads)

    assert part.tokens.column(PADS).to_pylist() == [marks(tokens, pads) for tokens in rows]


@pytest.mark.parametrize("name", ["response_length", "kl_k3_mean", "offset", "prompt_key", "line", "logprob_mean"])
def test_logged_numbers_do_not_replace_the_boards_own(name: str) -> None:
    """A trainer's number of the same name stands beside it as `(logged)`."""
    scalars = table(
        build(make_row(AB, logprobs=[-1, -2], ref_logprobs=[-1, -2], **dict[str, Any]({name: 77.0}))).scalars
    ).to_pandas()

    assert scalars[f"{name} (logged)"].tolist() == [77]
    assert scalars.columns.is_unique
    assert name == "prompt_key" or scalars[name].tolist() != [77]


def test_logged_token_metric_does_not_replace_a_kl() -> None:
    """A token metric called kl_k3 has its mean beside the board's own."""
    scalars = table(build(make_row(AB, kl_k3=[5, 7], logprobs=[-1, -2], ref_logprobs=[-1, -2])).scalars).to_pandas()

    assert scalars["kl_k3_mean"].tolist() == [0]
    assert scalars["kl_k3 (logged)_mean"].tolist() == [6]


def test_two_spellings_of_one_metric_lose_nothing() -> None:
    """Rows with `entropy` and rows with `entropies` in one run: the declared one has the name."""
    scalars = table(build(make_row(AB, entropy=[1, 3]), make_row(AB, entropies=[2, 4])).scalars).to_pandas()

    same(list(scalars["entropy_mean"]), [NAN, 3])
    same(list(scalars["entropy (logged)_mean"]), [2, NAN])


def test_mismatches_are_flagged_on_the_row() -> None:
    """Building aligns the arrays and says so on the row itself."""
    row = make_row(AB, logprobs=[-1])

    build(row)

    assert row.flags == ["logprobs has 1 number for 2 tokens: 1 token at the end without one"]


TOKEN = st.sampled_from(["a", "b", "<pad>"])
NUMBER = st.sampled_from([0.0, 1.0, -2.5, NAN, math.inf, -math.inf])
SIZES = st.integers(0, 5).flatmap(
    lambda size: st.tuples(
        st.lists(TOKEN, min_size=size, max_size=size),
        st.dictionaries(
            st.sampled_from(["logprobs", "ref_logprobs", "foo", "loss_mask"]), st.lists(NUMBER, min_size=size, max_size=size)
        ),
    )
)


def slow_statistics(tokens: list[str], arrays: dict[str, list[float]]) -> dict[str, float]:
    """What a row's columns must be, by the definitions."""
    mask = arrays.get("loss_mask", [1.0] * len(tokens))
    counted = [at for at, token in enumerate(tokens) if token != "<pad>" and mask[at] != 0]
    expected: dict[str, float] = {"response_length": len(counted)}
    for name, column in {"logprobs": "logprob_mean", "foo": "foo_mean"}.items():
        finite = [arrays[name][at] for at in counted if math.isfinite(arrays[name][at])] if name in arrays else []
        expected[column] = sum(finite) / len(finite) if finite else NAN
    ratios = []
    if "logprobs" in arrays and "ref_logprobs" in arrays:
        pairs = [(arrays["logprobs"][at], arrays["ref_logprobs"][at]) for at in counted]
        ratios = [policy - reference for policy, reference in pairs if math.isfinite(policy) and math.isfinite(reference)]
    expected["log_ratio_sum"] = sum(ratios) if ratios else NAN
    expected["log_ratio_max"] = max(ratios) if ratios else NAN
    expected["kl_k3_sum"] = sum(math.exp(-d) - 1 + d for d in ratios) if ratios else NAN
    bad = [not math.isfinite(array[at]) for array in arrays.values() for at in counted]
    expected["nonfinite_tokens"] = sum(bad) if arrays else NAN
    return expected


@given(st.lists(SIZES, min_size=1, max_size=6))
def test_statistics_agree_with_plain_loops(rows: list[tuple[list[str], dict[str, list[float]]]]) -> None:
    """Rows of any length, arrays missing here and there, pads, masks, NaN and infinities."""
    scalars = table(build(*(make_row(list(tokens), 0, **arrays) for tokens, arrays in rows)).scalars).to_pandas()

    for at, (tokens, arrays) in enumerate(rows):
        longest = len(tokens) if arrays else None
        for column, expected in slow_statistics(tokens[:longest], arrays).items():
            found = float(scalars[column].iloc[at]) if column in scalars else NAN
            assert found == pytest.approx(expected, nan_ok=True, abs=1e-5), (at, column)


ALTERNATIVE = st.tuples(st.sampled_from(["a", "", "威", "<b>"]), st.sampled_from([0.0, -0.5, -math.inf]))


@given(st.lists(st.none() | st.lists(st.none() | st.lists(ALTERNATIVE, max_size=3), max_size=4), max_size=5))
def test_alternatives_come_back_as_they_were(rows: list[Any]) -> None:
    """Row by row and token by token, nothing told from not known; no column where no row has any."""
    part = build(*(Row(0, tokens=["x"] * len(one or ()), alternatives=one) for one in rows))

    assert (ALTERNATIVES in part.tokens.column_names) == any(one is not None for one in rows)
    if ALTERNATIVES in part.tokens.column_names:
        column = part.tokens.column(ALTERNATIVES)
        found = [list(parts.Alternatives(one.values)) if one.is_valid else None for one in column]
        assert found == rows


def test_alternatives_are_a_sequence() -> None:
    """They can be counted, indexed from either end and sliced."""
    part = build(Row(0, tokens=["x"] * 3, alternatives=[[("a", -1.0)], None, []]))

    found = parts.Alternatives(part.tokens.column(ALTERNATIVES)[0].values)

    assert (len(found), found[0], found[-1], found[1:]) == (3, [("a", -1.0)], [], [None, []])
    with pytest.raises(IndexError):
        found[3]


def test_token_ids_have_no_mean() -> None:
    """Ids are kept token by token and add up to nothing; an array of the trainer's own beside them does."""
    part = build(make_row(AB, response_token_ids=[5, 7], mine=[1, 3]))

    assert part.tokens.column("response_token_ids").to_pylist() == [[5, 7]]
    assert "response_token_ids_mean" not in table(part.scalars).to_pandas()
    assert table(part.scalars).to_pandas()["mine_mean"].tolist() == [2]
