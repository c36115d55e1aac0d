"""board.figures for notebooks: a run in, a Plotly figure with the run's numbers out."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from rows import row, token_row, write_run

from board import figures, open_run
from board.analysis.steps.step_metrics import computable, per_step_values
from board.errors import BoardError, FieldMissing
from board.runs.run import Run

REPOSITORY = Path(__file__).parents[2]
REWARDS = {1: (0.0, 1.0), 2: (0.5, 1.0), 4: (1.0, 1.0)}
"""Step → rewards of its rollouts."""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Three steps of two rollouts each, a reference's rewards, a column of its own, and an evaluation to be left out."""
    rows = [
        token_row(step, reward=reward, ref_reward=0.25, **{"<b>mine": step * 2.0})
        for step, rewards in REWARDS.items()
        for reward in rewards
    ]
    return open_run(write_run(tmp_path / "run", {"rank_0.jsonl": [*rows, token_row(4, reward=9.0, split="evaluation")]}))


def lines(figure: go.Figure) -> dict[str, tuple[list[int], list[float]]]:
    """The lines of a figure by name: x and y."""
    assert isinstance(figure, go.Figure)
    return {one.name: ([*one.x], [*one.y]) for one in figure.data if one.mode.startswith("lines") and one.hoverinfo != "skip"}


def test_reward_curve(run: Run) -> None:
    """The mean of each step, of the policy and of the reference, evaluations left out; a band around each unless none is wanted."""
    figure = figures.reward_curve(run)

    assert lines(figure) == {"policy": ([1, 2, 4], [0.5, 0.75, 1.0]), "reference": ([1, 2, 4], [0.25] * 3)}
    assert [one.name for one in figure.data if one.fill] == ["policy, band", "reference, band"]
    assert [one.name for one in figures.reward_curve(run, band="none").data] == ["policy", "reference"]


def test_metric(run: Run) -> None:
    """Every metric that the run can give is drawn, by its key, as the catalogue computes it."""
    keys = [*per_step_values(run)]
    assert "kl/k3_mean" in keys

    for key in keys:
        figure = figures.metric(run, key)
        ((steps, drawn),) = lines(figure).values()
        known = per_step_values(run, [key])[key].dropna()
        assert np.isin(known.index, steps).all(), key
        np.testing.assert_allclose([y for y in drawn if y == y], known.to_numpy())
        assert figure.layout.title.text


def test_a_name_of_the_run_is_text(run: Run) -> None:
    """The name of a run's own column is the title, letter for letter."""
    assert "column/<b>mine/mean" in computable(run)

    assert figures.metric(run, "column/<b>mine/mean").layout.title.text == "column/&lt;b&gt;mine/mean"


def test_reward_histogram(run: Run) -> None:
    """The rewards of one step, the reference's beside them, and both means."""
    figure = figures.reward_histogram(run, 2)

    assert isinstance(figure, go.Figure)
    assert sum(figure.data[0].y) == 2
    assert figure.layout.title.subtitle.text == "2 rollouts"
    assert sorted(shape.x0 for shape in figure.layout.shapes) == [0.25, 0.75]


REFUSED: dict[str, tuple[Any, type[BoardError], str]] = {
    "no such step": (lambda run: figures.reward_histogram(run, 3), BoardError, "There is no step 3 in run"),
    "no such metric": (lambda run: figures.metric(run, "kl/none"), BoardError, "This run cannot give kl/none"),
    "no reward by step": (figures.reward_curve, FieldMissing, "This needs"),
    "no reward in the step": (lambda run: figures.reward_histogram(run, 1), FieldMissing, "This needs reward"),
}


@pytest.mark.parametrize(("ask", "error", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_there_is_said(tmp_path: Path, ask: Any, error: type[BoardError], said: str) -> None:
    """A figure of what the run does not have is an error that says what is missing."""
    with pytest.raises(error, match=said):
        ask(open_run(write_run(tmp_path / "run", {"rank_0.jsonl": [row(1), row(2)]})))


WITHOUT = """
import sys
sys.modules["streamlit"] = None
from board import figures, open_run
figures.reward_curve(open_run("rollout_samples/tiny_ppo_rhyme"))
"""


def test_it_needs_no_streamlit() -> None:
    """A notebook without Streamlit can draw a run that ships with the board."""
    subprocess.run([sys.executable, "-c", WITHOUT], cwd=REPOSITORY, env=os.environ, check=True, timeout=120)
