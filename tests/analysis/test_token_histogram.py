"""All tokens of a run by one metric: against loops over its rollouts, whether parts keep summaries or arrays are read."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import row, token_row, write_run

from board.analysis.tokens.token_histogram import (
    BARS,
    MOST_STEPS,
    TokenHistogram,
    bars,
    between,
    count_tokens,
    fields_of,
    largest,
    metrics_of,
    read_tokens,
    tokens_of_bar,
)
from board.metrics.formulas import token_arrays
from board.metrics.token_summaries import CODES, MOST, RELATIVE, code_values, codes
from board.runs.cache.part_token_summaries import LEAST
from board.runs.opening import open_run
from board.runs.run import Run
from board.schema import extreme

LONG = LEAST // 8 + 10
"""Tokens of a rollout eight of which are worth a summary."""


def long_rows(steps: int, **fields: Any) -> list[dict[str, Any]]:
    """Eight long rollouts of each step, masked at the beginning, and one short rollout."""
    dice = np.random.default_rng(steps)
    found = []
    for step in range(steps):
        for _ in range(8):
            arrays = dice.normal(-1, 0.5, (4, LONG)).astype(np.float32).round(3).astype(float).tolist()
            names = ("logprobs", "ref_logprobs", "values", "own")
            found.append(row(step, **dict(zip(names, arrays, strict=True)), loss_mask=[0] * 5 + [1] * (LONG - 5), **fields))
        found.append(token_row(step, own=[3.0, None], **fields))
    return found


def slow(run: Run, metric: str, estimator: str) -> dict[int, list[tuple[float, int, int, int, int]]]:
    """By step every counted token with a number: value, key, position, place among the counted, how many these are."""
    found: dict[int, list[tuple[float, int, int, int, int]]] = {}
    for key, step in run.frame["step"].items():
        rollout = run.rollout(int(str(key)))
        values = token_arrays(rollout.arrays, estimator).get(metric)
        kept = np.flatnonzero(rollout.counts)
        for at, position in enumerate(kept.tolist() if values is not None else []):
            one = float(np.float32(values[position])) if values is not None else math.nan
            found.setdefault(int(step), []).append((one, rollout.key, position, at, len(kept)))
    return found


def check(run: Run, metric: str, found: TokenHistogram, estimator: str = "k3") -> None:
    """The survey says what the loop does."""

    def rank(value: float) -> float:
        return {"magnitude": -abs(value), "highest": -value, "lowest": value}[extreme(metric)]

    wanted = slow(run, metric, estimator)
    for at, step in enumerate(found.first.tolist()):
        own = [one for one in wanted.get(step, []) if not math.isnan(one[0])]
        sums, counts = np.zeros(RELATIVE), np.zeros(RELATIVE, int)
        for value, _, _, place, length in own:
            sums[place * RELATIVE // length] += value
            counts[place * RELATIVE // length] += 1
        np.testing.assert_array_equal(found.counts[at, :RELATIVE], counts)
        np.testing.assert_allclose(found.sums[at, :RELATIVE], sums, rtol=1e-9, atol=1e-9)
        tokens = found.tokens[found.tokens["stretch"] == at]
        best = sorted(rank(one[0]) for one in own)[:MOST]
        assert sorted(map(rank, tokens["value"].tolist())) == best
        assert {*zip(tokens["value"], tokens["key"], tokens["position"], strict=True)} <= {one[:3] for one in own}
    everything = np.array([one[0] for of_step in wanted.values() for one in of_step], np.float32)
    known = everything[~np.isnan(everything)]
    np.testing.assert_array_equal(found.in_bins, np.bincount(codes(known), minlength=len(found.in_bins)))
    assert [rank(one) for one in found.tokens["value"]] == sorted(rank(one) for one in found.tokens["value"])


@pytest.mark.parametrize("odd", [False, True])
def test_kept_and_counted_alike(odd: bool, tmp_path: Path) -> None:
    """Parts keep a summary of a step with many tokens, by whichever way lines are read; every metric is as a loop over rollouts has it."""
    strange = {"note": {"a": [1e400]}} if odd else {}
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": long_rows(2, **strange), "rank_1.jsonl": [token_row(1)]}))
    kept = {name for part in run.parts for name in part.summaries.column_names}
    assert kept == {"logprob", "value", "token_reward", "log_ratio", "kl", "own"}

    for metric in ("logprob", "kl", "own", "prob"):
        check(run, metric, count_tokens(run, metric))
    check(run, "kl", count_tokens(run, "kl", "k2"), "k2")


def test_some_rollouts_of_a_kept_step(tmp_path: Path) -> None:
    """Under a filter, or of one split, only the rollouts that are left are counted, though the whole step has a summary."""
    rows = [one | {"split": "evaluation" if at % 3 == 0 else "train"} for at, one in enumerate(long_rows(2) * 2)]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))
    trained = run.of_split("train")

    for part_of_it in (trained, run.of_split("evaluation"), trained.of_steps(1, 1)):
        check(part_of_it, "value", count_tokens(part_of_it, "value"))


def test_run_of_many_steps_is_bounded(tmp_path: Path) -> None:
    """Beyond so many steps neighbours are taken together, whatever numbers they have."""
    steps = [at * 10**15 for at in range(-600, 601)]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [token_row(step, values=[step % 7, 0.25]) for step in steps]}))

    found = count_tokens(run, "value")

    assert len(found.first) == MOST_STEPS
    assert (found.first[0], found.last[-1]) == (steps[0], steps[-1])
    assert (found.first[1:] > found.last[:-1]).all()
    assert found.counts[:, :RELATIVE].sum() == 2 * len(steps) == len(found.tokens)


def test_run_without_arrays(tmp_path: Path) -> None:
    """A run with no token array has no metric; one that is asked for all the same has no token."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(0), row(1)]}))

    found = count_tokens(run, "kl")

    assert metrics_of(run) == []
    assert fields_of(run, "kl") == ["logprobs", "ref_logprobs"]
    assert (len(found.tokens), found.in_bins.sum()) == (0, 0)


def test_progress_and_every_token(tmp_path: Path) -> None:
    """It is told how far it is, to the end; and all counted tokens can be read."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [token_row(0), token_row(1, loss_mask=[0, 1])], "b.jsonl": [row(0)]}))
    told: list[float] = []

    count_tokens(run, "log_ratio", progress=told.append)

    assert told[-1] == 1.0
    read = [
        tuple(row)
        for found, _ in read_tokens(run, "value", "k3", lambda values: np.flatnonzero(values < 1))
        for row in found.to_numpy().tolist()
    ]
    assert sorted(read) == [(0, 0, 0, 0.5), (0, 0, 1, 0.25), (1, 1, 1, 0.25)]
    texts = run.at_tokens("response_tokens", np.array([1, 2, 0]), np.array([1, 0, 5]))
    assert texts.tolist() == [" b", None, None]
    np.testing.assert_array_equal(run.at_tokens("values", np.array([2, 1]), np.array([0, 0])), [np.nan, 0.5])


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
