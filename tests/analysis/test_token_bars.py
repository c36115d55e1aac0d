"""Bars of how a metric's tokens are spread, and the tokens of a bar, against loops over rollouts."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import row, write_run

from board.analysis.tokens.token_histogram import BARS, bars, between, count_tokens, largest, tokens_of_bar
from board.metrics.token_summaries import CODES, code_values, codes
from board.runs.opening import open_run


def counted(values: list[float]) -> np.ndarray:
    """Fine bins of some numbers."""
    return np.bincount(codes(np.array(values, np.float32)), minlength=2 * CODES)


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=60))
def test_every_number_is_in_a_bar(values: list[float]) -> None:
    """No number is lost or counted twice, and each stands in the bar that its fine bin's middle is in."""
    found = bars(counted(values))

    assert found.counts.sum() == len(values)
    assert len(found.edges) == BARS + 1
    assert (np.diff(found.edges) > 0).all()
    middles = code_values(codes(np.array(values, np.float32)))
    own = np.searchsorted(found.codes, codes(np.array(values, np.float32)), side="right") - 1
    slack = 1e-9 * (found.edges[-1] - found.edges[0])
    assert (found.edges[own] <= middles + slack).all()
    assert (middles <= found.edges[own + 1] + slack).all()
    assert found.counts.tolist() == np.bincount(own, minlength=BARS).tolist()


def test_infinite_numbers_are_told_apart() -> None:
    """They are in no bar; a run with nothing else has no bars, nor has one with nothing at all."""
    mixed = bars(counted([np.inf, -np.inf, 0.5, 0.25]))

    assert (mixed.infinite, int(mixed.counts.sum())) == (2, 2)
    assert bars(counted([np.inf])).infinite == 1
    assert len(bars(counted([np.inf])).counts) == len(bars(np.zeros(2 * CODES, np.int64)).edges) == 0


@pytest.mark.parametrize("whole", [True, False])
def test_tokens_of_a_bar(whole: bool, tmp_path: Path) -> None:
    """Those of its tokens that are most extreme, whether the survey holds them all or the arrays are read; masked ones never."""
    dice = np.random.default_rng(0)
    numbers = [dice.normal(0, 1, 40 if whole else 500).astype(np.float32) for _ in range(6)]
    masks = [(dice.random(len(one)) < 0.8).astype(int) for one in numbers]
    rows = [
        row(at // 3, values=one.astype(float).tolist(), loss_mask=mask.tolist())
        for at, (one, mask) in enumerate(zip(numbers, masks, strict=True))
    ]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))
    of = count_tokens(run, "value")
    found = bars(of.in_bins)
    first, stop = (int(found.codes[at]) for at in (28, 32))

    tokens = tokens_of_bar(run, of, "k3", first, stop)

    inside = [
        (abs(float(value)), key, at)
        for key, (one, mask) in enumerate(zip(numbers, masks, strict=True))
        for at, value in enumerate(one)
        if mask[at] and first <= codes(one[at : at + 1])[0] < stop
    ]
    wanted = sorted(inside, key=lambda token: -token[0])[:200]
    assert [abs(value) for value in tokens["value"]] == [token[0] for token in wanted]
    assert {*zip(tokens["key"], tokens["position"], strict=True)} == {token[1:] for token in wanted}
    assert tokens["step"].tolist() == run.frame["step"].loc[tokens["key"]].tolist()


def test_what_lies_between() -> None:
    """Both ends count, infinities never."""
    assert between(counted([0.5, 1.5, 2.0, 4.5, 7.0, np.inf]), 1.0, 5.0) == 3


LARGEST = {
    "one holds all but a little": ([100.0, *[0.01] * 99], 0.01, 1, 100.0, 100 / 100.99),
    "half of equal ones": ([2.0] * 10, 0.5, 5, 2.0, 0.5),
    "negative ones are no part of the sum": ([-8.0, 4.0, 4.0], 0.34, 1, 4.0, 0.5),
    "an infinite one is in no share": ([np.inf, 3.0, 1.0], 0.5, 1, 3.0, 0.75),
}


@pytest.mark.parametrize(("values", "share", "tokens", "least", "held"), LARGEST.values(), ids=LARGEST)
def test_what_the_largest_hold(values: list[float], share: float, tokens: int, least: float, held: float) -> None:
    """As the numbers themselves have it, to the width of a fine bin."""
    found = largest(counted(values), share)

    assert found is not None
    assert found.tokens == tokens
    assert (found.least, found.share) == pytest.approx((least, held), rel=0.02)


@pytest.mark.parametrize("values", [[], [0.0], [-1.0, -2.0]])
def test_nothing_positive_has_no_largest(values: list[float]) -> None:
    """There is no sum to hold a share of."""
    assert largest(counted(values), 0.002) is None
