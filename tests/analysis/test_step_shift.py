"""Step A against step B: distances and tests against slow references and closed forms."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rows import row, write_run

from board import open_run
from board.analysis.steps.step_shift import (
    MOVED,
    PERMUTATIONS,
    compare,
    moved_prompts,
    permutation_test,
    quantile_shift,
    typical,
    wasserstein,
)
from board.errors import FieldMissing

SAMPLES = st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(-10, 10)), min_size=1, max_size=30)


def array(values: list[float]) -> NDArray[np.float64]:
    """As the functions take it."""
    return np.array(values, np.float64)


def slow_ks(a: list[float], b: list[float]) -> float:
    """By its definition, at every value."""
    return max(abs(sum(one <= x for one in a) / len(a) - sum(one <= x for one in b) / len(b)) for x in a + b)


def slow_wasserstein(a: list[float], b: list[float]) -> float:
    """What is moved times how far: each value as often as the other sample has values, in order."""
    many_a, many_b = (sorted(values * times) for values, times in ((a, len(b)), (b, len(a))))
    return math.fsum(abs(x - y) for x, y in zip(many_a, many_b, strict=True)) / len(many_a)


@given(SAMPLES, SAMPLES)
def test_distances_are_those_of_the_slow_way(a: list[float], b: list[float]) -> None:
    """Ties, unequal sizes and samples of one value included."""
    assert wasserstein(array(a), array(b)) == pytest.approx(slow_wasserstein(a, b), abs=1e-9)


@given(SAMPLES, SAMPLES, st.floats(-5, 5))
def test_distances_are_distances(a: list[float], b: list[float], by: float) -> None:
    """The same from either side, nothing to itself, and a shift's Wasserstein distance is the shift."""
    assert wasserstein(array(a), array(b)) == pytest.approx(wasserstein(array(b), array(a)))
    assert wasserstein(array(a), array(a)) == 0
    assert wasserstein(array(a), array(a) + by) == pytest.approx(abs(by), abs=1e-9)
    assert abs(float(np.mean(a)) - float(np.mean(b))) <= wasserstein(array(a), array(b)) + 1e-9


def test_closed_forms() -> None:
    """Uniform on 0 to 1 against uniform on 0 to 2: the functions part by 1/2 at 1, and means and area by 1/2."""
    a = (np.arange(10_000) + 0.5) / 10_000
    b = 2 * a

    assert wasserstein(a, b) == pytest.approx(0.5, abs=1e-3)
    shift = quantile_shift(a, b)
    np.testing.assert_allclose(shift["percent"], np.arange(1, 100))
    np.testing.assert_allclose(shift["difference"], shift["percent"] / 100, atol=1e-3)
    assert len(quantile_shift(a[:99], b)) == 19


@pytest.mark.parametrize(("a", "b"), [([], [1.0]), ([1.0], []), ([], [])], ids=str)
def test_nothing_to_compare(a: list[float], b: list[float]) -> None:
    """Where a step has no number there is no distance, no p and no quantile."""
    test = permutation_test(array(a), array(b), np.arange(len(a)), np.arange(len(b)))

    assert math.isnan(wasserstein(array(a), array(b)))
    assert (math.isnan(test.statistic), math.isnan(test.p), test.permutations) == (True, True, 0)
    assert quantile_shift(array(a), array(b)).empty
    assert moved_prompts(array(a), array(b), np.arange(len(a)), np.arange(len(b)), -1).empty


def test_the_statistic_tested_is_the_one_told() -> None:
    """With ties and samples of other sizes too."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, 40).astype(float), rng.integers(1, 7, 23).astype(float)

    test = permutation_test(a, b, np.arange(40), np.arange(23))

    assert test.statistic == pytest.approx(slow_ks(a.tolist(), b.tolist()))
    assert (test.units, test.whole_prompts, test.permutations) == ((40, 23), False, PERMUTATIONS)


def test_p_is_that_of_all_ways_to_deal() -> None:
    """Six rollouts can be dealt in 20 ways; A wholly below B is one of the two most extreme: p is near 2/20, and no p is below 1/20."""
    test = permutation_test(array([1, 2, 3]), array([4, 5, 6]), np.arange(3), np.arange(3))

    assert test.statistic == 1
    assert test.p == pytest.approx(0.1, abs=0.03)
    assert test.least == pytest.approx(1 / 20)


def test_p_keeps_its_word() -> None:
    """Where nothing differs p is below 0.1 in a tenth of the cases, prompts with many alike rollouts or not."""
    rng = np.random.default_rng(1)
    prompts = np.repeat(np.arange(10), 8)

    def p() -> float:
        """Of two steps of ten prompts, whose eight rollouts are all but equal."""
        a, b = (np.repeat(rng.normal(size=10), 8) + 0.01 * rng.normal(size=80) for _ in range(2))
        return permutation_test(a, b, prompts, prompts).p

    shares = np.mean([p() < 0.1 for _ in range(120)])

    assert 0.03 < shares < 0.19


def test_whole_prompts_are_permuted() -> None:
    """One prompt against another with many rollouts each proves nothing: the two can be dealt in two ways."""
    test = permutation_test(np.zeros(50), np.ones(50), np.full(50, 7), np.full(50, 9))

    assert (test.units, test.whole_prompts, test.p, test.least) == ((1, 1), True, 1.0, 0.5)


def test_the_same_answer_each_time() -> None:
    """Permutations are seeded."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=30), rng.normal(0.4, size=30)

    first, second = (permutation_test(a, b, np.arange(30), np.arange(30)).p for _ in range(2))

    assert first == second


def test_prompts_that_moved_most() -> None:
    """Those of both steps alone, by the size of the change, with their means and numbers of rollouts; what has no prompt is none."""
    a, b = array([0, 1, 5, 2, 9]), array([1, 1, 2, 3, 7])

    found = moved_prompts(a, b, np.array([4, 4, 5, 6, -1]), np.array([4, 6, 5, 8, -1]), no_prompt=-1)

    assert list(found.columns) == list(MOVED)
    assert found.to_numpy().tolist() == [[5, 1, 1, 5, 2, -3], [6, 1, 1, 2, 1, -1], [4, 2, 1, 0.5, 1, 0.5]]


LINES = [
    *(row(2, prompt="p", reward=one) for one in (0.0, 1.0, 0.4)),
    row(2, prompt="q", reward=None),
    row(2, reward=7.0),
    *(row(5, prompt="p", reward=one) for one in (2.0, 3.0)),
    row(5, prompt="r", reward=4.0),
    row(9, prompt="p"),
]


def test_both_steps_by_a_number(tmp_path: Path) -> None:
    """Rollouts without the number are left out; prompts of both steps are listed, and which rollout is like their mean."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": LINES}))

    found = compare(run, "reward", 2, 5)

    assert (found.a.step, found.a.values.tolist()) == (2, [0.0, 1.0, 0.4, 7.0])
    assert (found.b.step, found.b.values.tolist()) == (5, [2.0, 3.0, 4.0])
    assert (found.test.whole_prompts, found.test.units) == (True, (2, 2))
    assert found.moved[["rollouts_a", "rollouts_b", "mean_b"]].to_numpy().tolist() == [[3, 2, 2.5]]
    prompt = int(found.moved["prompt"][0])
    assert [run.frame["reward"].loc[typical(side, prompt)] for side in (found.a, found.b)] == [0.4, 2.0]


def test_a_step_without_the_number_is_empty(tmp_path: Path) -> None:
    """It is no zero, and there is no test; a number that the run lacks is an error fit for the screen."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": LINES}))

    found = compare(run, "reward", 2, 9)

    assert found.b.values.size == 0
    assert np.isnan(found.test.p)
    assert found.moved.empty
    with pytest.raises(FieldMissing, match="needs entropy"):
        compare(run, "entropy", 2, 5)
