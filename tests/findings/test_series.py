"""A number by step with its standard error: against a loop, and a closed form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.findings.change_points import clusters, series, turn
from board.findings.departures import dated
from board.metrics.step_sums import Steps

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.floats(-5, 5) | st.just(float("nan"))), min_size=1, max_size=40
)


@settings(deadline=None, max_examples=80)
@given(ROWS)
def test_as_by_hand(rows: list[tuple[int, int, float]]) -> None:
    """Mean and clustered standard error of each step are those of a loop over its prompts."""
    rows = sorted(rows, key=lambda row: row[0])
    steps, prompts, values = (np.array(column) for column in zip(*rows, strict=True))
    found = series(Steps(steps), values, clusters(Steps(steps), prompts))

    for at, step in enumerate(found.steps.tolist()):
        own = [(prompt, value) for one, prompt, value in rows if one == step and np.isfinite(value)]
        assert found.count[at] == len(own)
        if not own:
            assert np.isnan(found.mean[at])
            continue
        mean = sum(value for _, value in own) / len(own)
        assert found.mean[at] == pytest.approx(mean)
        units = {prompt for prompt, _ in own}
        if len(units) < 2:
            assert np.isnan(found.error[at])
            continue
        squares = sum(sum(value - mean for prompt, value in own if prompt == unit) ** 2 for unit in units)
        assert found.error[at] == pytest.approx((squares * len(units) / (len(units) - 1)) ** 0.5 / len(own), abs=1e-9)


def test_of_prompts_of_their_own_it_is_the_textbook_one() -> None:
    """Where every rollout has a prompt of its own the error is std (ddof 1) over the root of n."""
    values = np.array([1.0, 4, 2, 8, 5, 7])
    found = series(steps := Steps(np.zeros(6, np.int64)), values, clusters(steps, np.arange(6)))

    assert found.error[0] == pytest.approx(values.std(ddof=1) / 6**0.5)


def test_turn_is_the_curves() -> None:
    """A curve of means turns where its means jump."""
    steps = np.repeat(np.arange(20), 4)
    noise = np.tile([0.1, -0.1, 0.2, -0.2], 20)
    found = turn(series(Steps(steps), np.where(steps >= 12, 2.0, 0.0) + noise, clusters(Steps(steps), np.tile(np.arange(4), 20))))

    assert found is not None
    assert found.step == 12


def test_a_bend_departs_where_it_can_be_seen() -> None:
    """A level with little noise, then a parabola from step 20 on, which the fitted line meets late."""
    dice = np.random.default_rng(0)
    values = np.repeat(np.maximum(0.0, np.arange(40) - 19.0) ** 2, 6) + dice.normal(0, 0.05, 240)
    curve = series(steps := Steps(np.repeat(np.arange(40), 6)), values, clusters(steps, np.arange(240)))
    found = turn(curve)
    assert found is not None
    assert not found.is_jump
    assert dated(curve, found) in (20, 21)
