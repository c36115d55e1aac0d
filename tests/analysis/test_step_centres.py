"""Tests of what the covariance of a token is taken around: a token's number is the same on every page, and a step's mean of it is the metric."""

from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from looked_at import opened
from rows import token_row

from board.analysis.steps.step_centres import StepCentres
from board.analysis.steps.step_metrics import per_step_values
from board.analysis.tokens.color_ranges import token_ranges
from board.analysis.tokens.position_profile import rollouts_at
from board.analysis.tokens.token_histogram import count_tokens, fields_of, metrics_of
from board.metrics.formulas import CENTRES, COVARIANCE, token_arrays, token_metric_names
from board.runs.run import Run

ROWS: list[dict[str, Any]] = [
    token_row(0, logprobs=[-1.0, -3.0], advantages=[1.0, -1.0]),
    token_row(0, logprobs=[-2.0, -0.5], advantages=[0.5, None]),
    token_row(1, logprobs=[-1.0, -1.0], advantages=[2.0, 3.0], loss_mask=[1, 0]),
    token_row(1, logprobs=[-4.0, -2.0], advantages=[-1.0, 0.0]),
    token_row(1, logprobs=[-9.0, -9.0], advantages=[9.0, 9.0], split="evaluation"),
    token_row(2, logprobs=[-1.0, -1.0]),
]


def slow(run: Run) -> dict[tuple[int, int], float]:
    """By rollout and position the covariance of each counted token of training that has both, by the definition."""
    found: dict[tuple[int, int], float] = {}
    for step in (0, 1):
        rollouts = [run.rollout(int(str(key))) for key in run.trained.frame.index[run.trained.frame["step"] == step]]
        both = {
            (one.key, at): (float(one.arrays["logprobs"][at]), float(one.arrays["advantages"][at]))
            for one in rollouts
            for at in np.flatnonzero(one.counts).tolist()
            if np.isfinite(one.arrays["advantages"][at])
        }
        means = [fmean(pair[side] for pair in both.values()) for side in (0, 1)]
        found |= {place: (pair[0] - means[0]) * (pair[1] - means[1]) for place, pair in both.items()}
    return found


def test_a_token_has_its_covariance(tmp_path: Path) -> None:
    """As a loop over the tokens has it, of a filtered run as of the whole; a step's mean of it is the metric of that step."""
    run = opened(tmp_path, ROWS)
    trained = run.trained
    expected = slow(run)
    tokens = count_tokens(trained, COVARIANCE).tokens

    places = zip(tokens["key"].tolist(), tokens["position"].tolist(), strict=True)
    assert dict(zip(places, tokens["value"].tolist(), strict=True)) == pytest.approx(expected, rel=1e-6)
    first = trained.of_rows(trained.frame.index == trained.frame.index[0], "one")
    assert count_tokens(first, COVARIANCE).tokens["value"].tolist() == pytest.approx(
        sorted([one for (key, _), one in expected.items() if key == trained.frame.index[0]], key=abs, reverse=True), rel=1e-6
    )
    by_step = [fmean(one for (key, _), one in expected.items() if trained.frame["step"].loc[key] == step) for step in (0, 1)]
    metric = per_step_values(run)["policy/logprob_advantage_covariance"]
    assert metric.dropna().tolist() == pytest.approx(by_step, rel=1e-6)


def test_every_way_to_a_token_says_the_same(tmp_path: Path) -> None:
    """The ends of the colours, the rollouts that stand out at a place, and the tokens of one rollout."""
    run = opened(tmp_path, ROWS).trained
    expected = slow(run)
    most = max(map(abs, expected.values()))
    rollout = run.rollout(int(run.frame.index[0]))
    beside = StepCentres(run, 0, 0).added_to(rollout.arrays, np.array([0]), np.array([0, 2]))

    assert token_ranges(run, None, "k3").loc[COVARIANCE, "hi"] == pytest.approx(most)
    assert token_arrays(beside)[COVARIANCE].tolist() == pytest.approx([expected[rollout.key, at] for at in (0, 1)])
    found = rollouts_at(run.of_steps(0, 0), COVARIANCE, "k3", "beginning", 0)
    assert dict(zip(found["key"], found["mean"], strict=True)) == pytest.approx(
        {key: one for (key, at), one in expected.items() if at == 0 and run.frame["step"].loc[key] == 0}
    )


def test_a_run_without_advantages_has_none(tmp_path: Path) -> None:
    """Neither the metric is offered, nor is anything put beside the arrays; where both are, it is named and no centre is."""
    run = opened(tmp_path, [token_row(0)])
    arrays = run.rollout(int(run.frame.index[0])).arrays

    assert COVARIANCE not in metrics_of(run)
    assert StepCentres(run).added_to(arrays, np.array([0]), np.array([0, 2])) is arrays
    assert COVARIANCE in token_metric_names(("logprobs", "advantages"))
    assert not [name for name in token_metric_names(("logprobs", "advantages")) if "mean of the step" in name]
    assert fields_of(run, COVARIANCE) == ["logprobs", "advantages"]


def test_a_step_without_training_has_no_number(tmp_path: Path) -> None:
    """A rollout of a step that no rollout of training is of has centres of NaN."""
    run = opened(tmp_path, [token_row(0, advantages=[1.0, 2.0]), token_row(5, advantages=[1.0, 2.0], split="evaluation")])
    beside = StepCentres(run).added_to(run.rollout(0).arrays, np.array([5]), np.array([0, 2]))

    assert np.isnan(token_arrays(beside)[COVARIANCE]).all()


def test_steps_that_no_float_tells_apart_are_not_mixed(tmp_path: Path) -> None:
    """Neighbours beyond 2^53, as a clock's nanoseconds are, and the largest step there is have centres of their own."""
    large = [2**53, 2**53 + 1, 2**63 - 1]
    run = opened(tmp_path, [token_row(step, advantages=[1.0, 2.0], logprobs=[-at, -at]) for at, step in enumerate(large)])

    beside = StepCentres(run).added_to(run.rollout(0).arrays, np.array([large[2]]), np.array([0, 2]))

    assert [beside[name].tolist() for name in CENTRES.values()] == [[-2.0, -2.0], [1.5, 1.5]]
