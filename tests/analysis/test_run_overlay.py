"""Curves of several runs on one axis: their bands, the difference to a baseline, and the mean over seeds."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.compare import run_overlay
from board.analysis.compare.compared_run import compared
from board.analysis.compare.run_overlay import CURVE, MOST_RUNS, curve, less, seeds
from board.analysis.stats.bootstrap import mean_intervals, units_of
from board.errors import BoardError, FieldMissing
from board.metrics.step_sums import Steps
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run


def run_of(folder: Path, rows: Iterable[dict[str, Any]]) -> Run:
    """A run of one shard."""
    return open_run(write_run(folder, {"rank_0.jsonl": rows}))


def line(at: list[float], value: list[float], half: float = np.nan) -> pd.DataFrame:
    """A curve with a band so wide to either side."""
    values = np.array(value, np.float64)
    found = {"at": np.array(at, np.float64), "step": range(len(at)), "value": values, "low": values - half, "high": values + half}
    return pd.DataFrame(found)[list(CURVE)]


def test_a_curve_with_its_band(tmp_path: Path) -> None:
    """The mean by step and the interval over prompts, placed by rollouts; a step without the number is left out."""
    rng = np.random.default_rng(0)
    rows = [row(step, prompt=f"p{at % 5}", reward=float(rng.normal())) for step in (1, 4) for at in range(20)]
    run = run_of(tmp_path / "run", [*rows, row(7, prompt="p0")])
    (side,) = compared([run], "reward")

    found, bare = curve(side, "rollouts"), curve(side, "rollouts", band=False)

    assert list(found.columns) == list(CURVE)
    assert found[["at", "step"]].to_numpy().tolist() == [[20, 1], [40, 4]]
    steps = Steps(run.frame["step"].to_numpy(np.int64))
    low, high = mean_intervals(steps, side.values, units_of(run.prompt_keys, NO_PROMPT))
    np.testing.assert_array_equal(found[["low", "high"]].to_numpy(), np.column_stack([low, high])[:2])
    assert bare["value"].tolist() == found["value"].tolist()
    assert bare[["low", "high"]].isna().all(axis=None)
    with pytest.raises(FieldMissing, match="time"):
        curve(side, "time")


def test_runs_are_compared_by_the_split_that_all_have(tmp_path: Path) -> None:
    """One run of evaluations alone makes evaluations of all what is drawn."""
    both = run_of(tmp_path / "both", [row(0, reward=1.0, split=split) for split in ("train", "evaluation")])
    evaluated = run_of(tmp_path / "evaluated", [row(0, reward=1.0, split="evaluation")])

    assert [side.split for side in compared([both, evaluated], "reward")] == ["evaluation", "evaluation"]
    assert [side.split for side in compared([both, both], "reward")] == ["train", "train"]


def test_less_a_baseline() -> None:
    """Between the baseline's steps linearly, never beyond them; independent errors add by squares."""
    found = less(line([0, 10, 20], [0.0, 1.0, 3.0], half=0.3), line([-5, 5, 10, 15, 25], [9.0, 2.0, 2.0, 2.0, 9.0], half=0.4))

    assert found["at"].tolist() == [5, 10, 15]
    np.testing.assert_allclose(found["value"], [1.5, 1.0, 0.0])
    np.testing.assert_allclose(found["high"] - found["value"], 0.5)
    np.testing.assert_allclose(found["value"] - found["low"], 0.5)


def test_less_of_one_run() -> None:
    """A curve less itself is zero all along; without bands there is a difference and no interval; of nothing there is nothing."""
    some = line([1, 2], [3.0, 4.0])

    assert less(some, some)["value"].tolist() == [0.0, 0.0]
    assert less(some, some)[["low", "high"]].isna().all(axis=None)
    assert less(some.iloc[:0], some).empty
    assert less(some, some.iloc[:0]).empty


def test_seeds_are_a_mean_with_students_interval() -> None:
    """Two seeds: their mean, and 12.7 standard errors to either side; only where all of them have got."""
    found = seeds([line([0, 1, 2], [1.0, 2.0, 3.0]), line([0, 2], [3.0, 5.0])])

    assert found["value"].tolist() == [2.0, 3.0, 4.0]
    np.testing.assert_allclose(found["high"] - found["value"], 12.7062 * np.sqrt(2) / np.sqrt(2), rtol=1e-5)
    assert seeds([line([0, 1], [1.0, 1.0]), line([5, 6], [1.0, 1.0])]).empty


@pytest.mark.parametrize("count", [0, 1, MOST_RUNS + 1])
def test_too_few_seeds_or_too_many(count: int) -> None:
    """It is said how many there may be."""
    with pytest.raises(BoardError, match="2 to 8 runs"):
        seeds([line([0], [1.0])] * count)


def test_students_quantiles() -> None:
    """Each leaves 2.5 % of the distribution above, by its density: there is one for each number of runs."""
    x = np.concatenate([np.linspace(0, 50, 200_001), np.geomspace(50, 1e7, 200_001)[1:]])
    for freedom, quantile in enumerate(run_overlay._T, 1):
        density = (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
        areas = np.diff(x) * (density[1:] + density[:-1]) / 2
        assert areas[x[1:] > quantile].sum() / (2 * areas.sum()) == pytest.approx(0.025, rel=1e-3)
    assert len(run_overlay._T) == MOST_RUNS - 1
