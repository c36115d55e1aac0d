"""board.ui.components.prompt_timeline: what is sent of a prompt's rollouts."""

import json

import numpy as np
import pandas as pd

from board.analysis.prompts.prompt_timeline import timeline
from board.ui.components.prompt_timeline import NumberNames, payload

WORDS = NumberNames("reward", "KL k3", "tokens", "best")


def test_points_and_visits_are_sent_as_numbers() -> None:
    """A column per number, the visit of each point, and of each visit its step as it is written."""
    frame = pd.DataFrame({"step": [3, 3, 1_200], "reward": [1.0, 0.0, 0.5], "kl": [0.1, np.nan, 0.3]}, index=[4, 9, 11])
    sent = payload(timeline(frame, "reward", "kl", None, np.zeros(0, np.int64)), WORDS)

    points, visits = sent["points"].to_pydict(), sent["visits"].to_pydict()
    assert points["visit"] == [0, 0, 1]
    assert points["key"] == [4.0, 9.0, 11.0]
    assert points["height"] == [1.0, 0.0, 0.5]
    assert np.isnan(points["color"][1])
    assert visits == {"step": [3.0, 1200.0], "mean": [0.5, 0.5], "best": [1.0, 0.5]}
    assert sent["meta"]["steps"] == ["3", "1,200"]
    assert sent["meta"]["counts"] == [2, 1]
    assert json.dumps(sent["meta"])


def test_what_is_sent_is_bounded() -> None:
    """Of 100,000 visits of two rollouts some thousand points and visits travel, and each point is of a visit that does."""
    steps = np.repeat(np.arange(100_000), 2)
    frame = pd.DataFrame({"step": steps, "reward": np.random.default_rng(0).normal(size=len(steps))})
    drawn = timeline(frame, "reward", None, None, np.array([77_777]))
    sent = payload(drawn, WORDS)

    visits = np.array([int(step.replace(",", "")) for step in sent["meta"]["steps"]])
    at = sent["points"]["visit"].to_numpy()
    assert 77_777 in sent["points"]["key"].to_numpy()
    assert len(visits) < 6_000
    assert sent["points"].num_rows <= 3_001
    assert (visits[at] == drawn.steps[drawn.visit]).all()
