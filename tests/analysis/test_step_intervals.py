"""How sure a number of a step is: columns, metrics over rollouts and over tokens, and what is no mean."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import token_row, write_run

from board import open_run
from board.analysis.stats.bootstrap import mean_intervals, prompt_units, unit_intervals
from board.analysis.steps.step_intervals import BY_STEP, of_metrics, of_values, units, without_band
from board.analysis.steps.step_metrics import per_step_values
from board.analysis.steps.step_stats import finite_values
from board.metrics.step_sums import Steps
from board.runs.run import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two steps of six prompts, twice each, with tokens."""
    rng = np.random.default_rng(1)
    rows = [token_row(step, prompt=f"p{at % 6}", reward=float(rng.normal())) for step in (3, 8) for at in range(12)]
    return open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))


def test_a_column_has_its_mean_and_an_interval_around_it(run: Run) -> None:
    """Which lies around the mean, and is not there without a band; a step without a number before the first that has one is left out."""
    rewards = finite_values(run.frame, "reward")
    found, bare = (of_values(units(run), rewards, band=band) for band in (True, False))
    assert list(found.columns) == list(BY_STEP)
    assert found["step"].tolist() == [3, 8]
    assert ((found["low"] < found["value"]) & (found["value"] < found["high"])).all()
    assert bare["value"].tolist() == found["value"].tolist()
    assert bare["low"].isna().all()
    rewards[:12] = np.nan
    assert of_values(units(run), rewards, band=True)["step"].tolist() == [8]


def test_a_step_without_a_number_between_others_is_a_gap() -> None:
    """Of a column, of a metric and of what was logged: a line over it would be invented. Beyond the first and the last nothing is left."""
    nan, inf = float("nan"), float("inf")
    steps = np.arange(1, 7)
    values = np.array([nan, 1.0, nan, inf, 4.0, inf])
    of = prompt_units(Steps(steps), np.zeros(6, np.int64))
    for found in (of_values(of, values, band=True), without_band(pd.Series(values, index=steps))):
        assert found["step"].tolist() == [2, 3, 4, 5]
        assert np.isfinite(found["value"]).tolist() == [True, False, False, True]
    assert without_band(pd.Series([nan, inf], index=[1, 2])).empty


def test_metrics_have_the_catalogue_s_values_and_intervals_where_they_are_means(run: Run) -> None:
    """Means over rollouts and over tokens have one; a spread has none."""
    keys = ["reward/mean", "kl/k3_mean", "reward/std"]
    values = per_step_values(run, keys)
    found = of_metrics(run, values, keys)
    for key in keys:
        np.testing.assert_array_equal(found[key]["value"], values[key])
    assert found["reward/mean"].equals(of_values(units(run), finite_values(run.frame, "reward"), band=True))
    assert found["reward/std"]["low"].isna().all()
    assert (found["kl/k3_mean"]["low"] <= found["kl/k3_mean"]["value"]).all()
    assert without_band(values["reward/std"])["value"].tolist() == values["reward/std"].tolist()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-5, 5), st.integers(1, 9)), min_size=2, max_size=40))
def test_a_weighted_interval_is_that_of_each_rollout_as_many_times(rollouts: list[tuple[int, float, int]]) -> None:
    """Weights are counts: a rollout's mean over n tokens weighs as n tokens with that number."""
    prompts, values, weights = (np.array(column) for column in zip(*rollouts, strict=True))
    once = Steps(np.zeros(len(values), np.int64))
    often = Steps(np.zeros(int(weights.sum()), np.int64))
    weighted = unit_intervals(prompt_units(once, prompts), values, weights=weights)
    repeated = mean_intervals(often, np.repeat(values, weights), np.repeat(prompts, weights))
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)
