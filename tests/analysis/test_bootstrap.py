"""Intervals of a step's mean by bootstrap over prompts, and draws of two runs' prompts, against a slow reference and what theory says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from board.analysis.stats.bootstrap import MOST_UNITS, RESAMPLES, PromptDraws, mean_intervals, units_of
from board.metrics.step_sums import Steps


def slowly(values: list[float], prompts: list[int], resamples: int = 1_000) -> tuple[float, float]:
    """The same of one step, as it is said: draw prompts, take the mean of all their rollouts, again and again."""
    known = [(value, prompt) for value, prompt in zip(values, prompts, strict=True) if np.isfinite(value)]
    by_prompt = [[value for value, prompt in known if prompt == one] for one in dict.fromkeys(prompt for _, prompt in known)]
    size = len(by_prompt)
    if size < 2:
        return np.nan, np.nan
    draws = np.random.default_rng([0, size]).integers(0, size, (resamples, size))
    means = [float(np.mean([value for at in draw for value in by_prompt[at]])) for draw in draws.tolist()]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def of(steps: list[int], values: list[float], prompts: list[int]) -> NDArray[np.float64]:
    """Ends of the intervals, (steps, 2)."""
    found = mean_intervals(Steps(np.array(steps, np.int64)), np.array(values), np.array(prompts, np.int64))
    return np.column_stack(found)


ROWS = st.lists(
    st.tuples(st.integers(-2, 3), st.one_of(st.floats(-5, 5), st.just(np.nan)), st.integers(0, 5)), min_size=1, max_size=40
)


@given(ROWS)
def test_intervals_are_those_of_the_slow_way(rows: list[tuple[int, float, int]]) -> None:
    """Prompts are drawn whole, whatever their numbers of rollouts, steps and missing rewards."""
    rows.sort(key=lambda row: row[0])
    steps, values, prompts = (list(column) for column in zip(*rows, strict=True))

    expected = [
        slowly(*zip(*((value, prompt) for at, value, prompt in rows if at == step), strict=True))  # type: ignore[arg-type]
        for step in sorted(set(steps))
    ]

    np.testing.assert_allclose(of(steps, values, prompts), expected, atol=1e-9)


def test_many_prompts_of_one_rollout_give_the_normal_interval() -> None:
    """The central limit theorem: mean ± 1.96 σ / √n."""
    values = np.random.default_rng(3).normal(2.0, 3.0, 200)

    (interval,) = of([0] * 200, values.tolist(), list(range(200)))

    half = 1.96 * values.std() / np.sqrt(200)
    np.testing.assert_allclose(interval, [values.mean() - half, values.mean() + half], atol=0.08 * half)


def test_equal_rollouts_of_a_prompt_are_no_more_evidence() -> None:
    """Each prompt's rollouts taken eight times over leave the interval as it is."""
    values = np.random.default_rng(4).normal(size=50).tolist()

    once = of([0] * 50, values, list(range(50)))
    often = of([0] * 400, np.repeat(values, 8).tolist(), np.repeat(range(50), 8).tolist())

    np.testing.assert_allclose(often, once, atol=1e-9)


def test_more_prompts_than_are_drawn_give_nearly_the_same_interval() -> None:
    """Blocks of prompts are drawn in place of prompts where there are very many: every rollout enters, and the width stays."""
    count = 40 * MOST_UNITS + 7
    values = np.random.default_rng(5).normal(1.0, 2.0, count)

    (interval,) = of([0] * count, values.tolist(), list(range(count)))

    half = 1.96 * values.std() / np.sqrt(count)
    np.testing.assert_allclose(interval, [values.mean() - half, values.mean() + half], atol=0.2 * half)


ENDS: dict[str, tuple[list[float], list[int], list[float]]] = {
    "one prompt": ([1.0, 2.0], [7, 7], [np.nan, np.nan]),
    "one of two known": ([1.0, np.nan], [7, 8], [np.nan, np.nan]),
    "no number": ([np.nan, np.inf], [7, 8], [np.nan, np.nan]),
    "all the same": ([2.0, 2.0, 2.0], [7, 8, 9], [2.0, 2.0]),
    "beyond what floats hold": ([1.7e308, 1.7e308, 1.7e308], [7, 8, 9], [np.nan, np.nan]),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_cannot_be_told_is_missing(name: str) -> None:
    """There is no interval without a second prompt, and none of no width but where all rollouts agree."""
    values, prompts, expected = ENDS[name]

    np.testing.assert_array_equal(of([0] * len(values), values, prompts), [expected])


def test_no_rollout_has_no_step() -> None:
    """An empty run has no interval, and no error."""
    assert of([], [], []).shape == (0, 2)


def test_rollouts_without_a_prompt_stand_alone() -> None:
    """What has no prompt is alike to nothing."""
    units = units_of(np.array([5, -9, 5, -9, 6]), no_prompt=-9)

    assert units[0] == units[2]
    assert len(set(units.tolist())) == 4


PROMPTS = st.lists(st.integers(-1, 6), min_size=1, max_size=20)


def draws(a: list[int], b: list[int]) -> PromptDraws:
    """Of prompts by these keys, where -1 is none."""
    return PromptDraws(np.array(a, np.int64), np.array(b, np.int64), -1)


@given(PROMPTS, PROMPTS)
def test_whole_prompts_are_drawn_of_both_runs_at_once(a: list[int], b: list[int]) -> None:
    """Rollouts of one prompt are of one block, in both runs; one without a prompt is of its own; each kind is drawn as often as it is there."""
    found = draws(a, b)

    both = [*zip(a, found.a.tolist(), strict=True), *zip(b, found.b.tolist(), strict=True)]
    named = {(prompt, block) for prompt, block in both if prompt != -1}
    alone = [block for prompt, block in both if prompt == -1]
    assert len(named) == len({*a, *b} - {-1}) == len({block for _, block in named})
    assert len({*alone} | {block for _, block in named}) == len(named) + len(alone) == found.weights.shape[1]
    shared = ({*a} & {*b}) - {-1}
    assert found.shared == len(shared)
    assert found.prompts == tuple(len({*one} - {-1}) + one.count(-1) for one in (a, b))
    of_shared = sorted({block for prompt, block in named if prompt in shared})
    assert (found.weights[:, of_shared].sum(axis=1) == len(of_shared)).all()
    assert (found.weights.sum(axis=1) == found.weights.shape[1]).all()


def test_of_very_many_prompts_blocks_are_drawn() -> None:
    """They hold nearly as many prompts each, and every prompt is in one."""
    count = 3 * MOST_UNITS + 10
    found = draws([*range(count)], [*range(count // 2, 2 * count)])

    assert found.weights.shape == (RESAMPLES, 3 * MOST_UNITS)
    held = np.bincount(found.a, minlength=3 * MOST_UNITS)
    assert set(held[held > 0].tolist()) <= {1, 2, 3, 4}
    assert found.tell


def test_one_prompt_tells_no_interval() -> None:
    """Neither does an empty run."""
    assert not draws([1, 1], [1, 2]).tell
    assert not draws([], [1, 2]).tell
