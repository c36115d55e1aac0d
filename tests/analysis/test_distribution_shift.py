"""How far one distribution lies from another, with its interval, against slow references and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.analysis.stats.bootstrap import PromptDraws
from board.analysis.steps.distribution_shift import MOST_PLACES, PERCENTS, QUANTILES, DistributionShift, PromptValues, shift
from board.analysis.steps.step_shift import wasserstein
from board.metrics.formulas import Float64Array

VALUES = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1.0, 3.0]), st.integers(0, 5)), min_size=1, max_size=25)


def sample(values: list[float] | Float64Array, prompts: list[int] | None = None) -> PromptValues:
    """Values of these prompts, each of a prompt of its own where there are none."""
    found = np.asarray(values, np.float64)
    return PromptValues(found, np.arange(len(found)) if prompts is None else np.array(prompts, np.int64))


def middle(values: list[float], percent: int) -> float:
    """A quantile as it is defined: where the share of values at or below it first goes beyond, averaged where it is just that."""
    rising = sorted(values)
    low = next(one for at, one in enumerate(rising) if 100 * (at + 1) >= percent * len(rising))
    high = next(one for at, one in enumerate(rising) if 100 * (at + 1) > percent * len(rising))
    return (low + high) / 2


@settings(max_examples=8)
@given(VALUES, VALUES)
def test_every_resample_is_read_as_it_is_said(a: list[tuple[float, int]], b: list[tuple[float, int]]) -> None:
    """Whole prompts are drawn of both runs, and mean, quantiles and distance of each resample taken from its rollouts one by one."""
    sides = [sample([value for value, _ in one], [prompt for _, prompt in one]) for one in (a, b)]
    found = shift(sides[0], sides[1], -1)

    draws = PromptDraws(sides[0].prompts, sides[1].prompts, -1)
    if not draws.tell:
        assert np.isnan([found.mean.low, found.quantile(50).high, found.distance.low]).all()
        return
    means, medians, noise = [], [], []
    grid = np.unique(np.concatenate([one.values for one in sides]))
    own = [(one.values[:, None] <= grid).mean(axis=0) for one in sides]
    for weights in draws.weights:
        drawn = [np.repeat(one.values, weights[of].astype(int)) for one, of in zip(sides, (draws.a, draws.b), strict=True)]
        means.append(drawn[1].mean() - drawn[0].mean())
        medians.append(middle(drawn[1].tolist(), 50) - middle(drawn[0].tolist(), 50))
        there = [(one[:, None] <= grid).mean(axis=0) for one in drawn]
        noise.append(np.abs((there[1] - own[1]) - (there[0] - own[0]))[:-1] @ np.diff(grid))
    assert [found.mean.low, found.mean.high] == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=1e-9)
    assert [found.quantile(50).low, found.quantile(50).high] == pytest.approx(np.quantile(medians, [0.025, 0.975]), abs=1e-9)
    assert found.distance.high - found.distance.value == pytest.approx(np.quantile(noise, 0.95), abs=1e-9)


def test_estimates_are_those_of_the_values_themselves() -> None:
    """Mean, quantiles and distance; a shift of all by 2 is 2 everywhere."""
    values = np.random.default_rng(0).normal(size=301)
    found = shift(sample(values), sample(values + 2), -1)

    assert list(found.quantiles.columns) == list(QUANTILES)
    assert found.quantiles["percent"].tolist() == list(PERCENTS)
    np.testing.assert_allclose(found.quantiles["difference"], 2)
    np.testing.assert_allclose(found.quantiles["baseline"], [middle(values.tolist(), one) for one in PERCENTS])
    assert (found.mean.value, found.distance.value) == pytest.approx((2, 2))
    assert found.distance.value == wasserstein(values, values + 2)
    assert found.shared == 301
    # every prompt moved alike, and is drawn for both: nothing is left to chance
    assert (found.mean.low, found.mean.high) == pytest.approx((2, 2))


def test_prompts_that_are_not_shared_give_the_interval_of_two_samples() -> None:
    """The central limit theorem: ± 1.96 √(σ²/n + τ²/m) about the difference of means; a median's error is √(π/2) as large."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 400), rng.normal(0.5, 2, 900)
    found = shift(PromptValues(a, np.arange(400)), PromptValues(b, np.arange(1_000, 1_900)), -1)

    half = 1.96 * np.sqrt(a.var() / 400 + b.var() / 900)
    assert (found.shared, found.prompts) == (0, (400, 900))
    assert found.mean.high - found.mean.low == pytest.approx(2 * half, rel=0.1)
    assert found.quantile(50).high - found.quantile(50).low == pytest.approx(2 * half * np.sqrt(np.pi / 2), rel=0.25)


def test_more_values_than_there_are_places() -> None:
    """Quantiles of resamples are read inside a place, so that an interval is no coarser than it is wide."""
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=20 * MOST_PLACES) for _ in range(2))
    found = shift(sample(a), PromptValues(b, -2 - np.arange(len(b))), -1)

    expected = 2 * 1.96 * np.sqrt(2 * np.pi / 2 / len(a))
    widths = found.quantiles.loc[found.quantiles["percent"].between(40, 60), "high"] - found.quantiles["low"]
    np.testing.assert_allclose(widths.dropna(), expected, rtol=0.25)


def seen(seed: int, moved: float) -> DistributionShift:
    """Two runs of 60 prompts that are alike in part, the same in both, 4 rollouts each, the other's moved so far."""
    rng = np.random.default_rng(seed)
    prompts = np.repeat(np.arange(60), 4)
    hard = rng.normal(0, 0.5, 60)[prompts]
    return shift(PromptValues(hard + rng.normal(size=240), prompts), PromptValues(hard + rng.normal(moved, 1, 240), prompts), -1)


def test_what_chance_gives_is_hardly_told_apart() -> None:
    """Of 20 pairs alike no more leave zero out than 6 % each do in all but one of a thousand cases (5); of far ones all do."""
    alike = [seen(seed, 0.0) for seed in range(20)]

    for found in ([one.mean for one in alike], [one.distance for one in alike], [one.quantile(50) for one in alike]):
        assert sum(one.low > 0 or one.high < 0 for one in found) <= 5
    far = [seen(seed, 1.0) for seed in range(3)]
    assert all(one.mean.low > 0 and one.distance.low > 0 for one in far)


ODD: dict[str, tuple[list[float], list[float]]] = {
    "nothing in one": ([], [1.0, 2.0]),
    "nothing": ([], []),
    "one rollout": ([1.0], [2.0]),
    "huge numbers": ([1e308, -1e308, 1e308], [-1e308, 1e308]),
    "all the same": ([1.0] * 5, [1.0] * 5),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("error")
def test_odd(name: str) -> None:
    """What cannot be told is NaN, without a warning."""
    a, b = ODD[name]
    found = shift(sample(a), sample(b), -1)

    assert len(found.quantiles) == (len(PERCENTS) if a and b else 0)
    assert np.isnan(found.quantile(50).value) == (name.startswith("nothing"))
    if name == "all the same":
        assert (found.mean.low, found.distance.high) == (0, 0)
