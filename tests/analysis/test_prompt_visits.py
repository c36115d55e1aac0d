"""board.analysis.prompts.prompt_visits: visits and the leaderboard are what a loop over rollouts finds."""

import math
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import row, write_run

from board import open_run
from board.analysis.prompts.prompt_visits import BOARD, VISIT, leaderboard, visits

Rows = list[dict[str, Any]]

NUMBERS = st.none() | st.sampled_from([0.0, 1.0, 0.5, -2.0, 1e9])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "step": st.integers(-2, 3),
            "prompt": st.sampled_from(["a", "b", " a", "", "c"]),
            "reward": NUMBERS,
            "ref_reward": NUMBERS,
        }
    ),
    min_size=1,
    max_size=24,
)


def mean(values: list[float]) -> float:
    """NaN where there is nothing."""
    return sum(values) / len(values) if values else math.nan


def slow_leaderboard(rows: Rows) -> dict[str, dict[str, float]]:
    """What the leaderboard says of each prompt, by its folded text, found one by one."""
    found = {}
    for name in {one["prompt"].strip() for one in rows} - {""}:
        own = sorted((one for one in rows if one["prompt"].strip() == name), key=lambda one: int(one["step"]))
        rewards = [one["reward"] for one in own if one["reward"] is not None]
        gaps = [one["reward"] - one["ref_reward"] for one in own if None not in (one["reward"], one["ref_reward"])]
        by_visit = [
            [one["reward"] for one in there if one["reward"] is not None] for _, there in groupby(own, lambda one: one["step"])
        ]
        ends = [mean(there) for there in by_visit if there]
        found[name] = {
            "visits": len(by_visit),
            "rollouts": len(own),
            "reward": mean(rewards),
            "first": ends[0] if ends else math.nan,
            "last": ends[-1] if ends else math.nan,
            "gain": ends[-1] - ends[0] if len(ends) > 1 else math.nan,
            "variance": mean([(one - mean(rewards)) ** 2 for one in rewards]),
            "length": 2.0,
            "wins": mean([float(gap > 0) for gap in gaps]),
            "gap": mean(gaps),
            "last_seen": own[-1]["step"],
        }
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
def test_the_leaderboard_is_what_a_loop_over_rollouts_finds(tmp_path_factory: pytest.TempPathFactory, rows: Rows) -> None:
    """Of every prompt all numbers, missing ones left out of means; rollouts without a prompt are of none."""
    run = open_run(write_run(tmp_path_factory.mktemp("run"), {"a.jsonl": [row(**one) for one in rows]}))
    visited = visits(run)
    board = leaderboard(visited)

    texts = run.texts("prompt", visited["first"].to_numpy()).to_pylist() if len(visited) else []
    names = {key: text.strip() for key, text in zip(visited["prompt"], texts, strict=True)}
    expected = slow_leaderboard(rows)
    assert list(board.columns) == list(BOARD)
    assert sorted(names[key] for key in board.index) == sorted(expected)
    assert visited["prompt"].to_numpy()[board["at"]].tolist() == board.index.tolist()
    for key, found in board.drop(columns=["at", "rollout"]).iterrows():
        assert found.to_dict() == pytest.approx(expected[names[key]], nan_ok=True, rel=1e-6, abs=1e-6)


def test_visits_stand_together_by_prompt_and_step(tmp_path: Path) -> None:
    """A row for each prompt and step, whatever the order of the shards; a visit without a reward is a visit."""
    rows = [row(5, prompt="a", reward=1.0), row(2, prompt="b"), row(2, prompt="a", reward=0.0), row(5, prompt="a", reward=0.5)]
    found = visits(open_run(write_run(tmp_path, {"a.jsonl": rows})))

    assert list(found.columns) == list(VISIT)
    assert pd.factorize(found["prompt"])[0].tolist() == [0, 1, 1]
    assert found[["step", "rollouts", "rewards"]].to_numpy().tolist() == [[2, 1, 0], [2, 1, 1], [5, 2, 2]]
    assert found["reward"].tolist() == pytest.approx([math.nan, 0.0, 0.75], nan_ok=True)
    assert found["squares"].tolist() == pytest.approx([0.0, 0.0, 0.125])
    assert found["gaps"].sum() == found["wins"].sum() == 0


def test_the_rounding_of_a_sum_is_no_gap(tmp_path: Path) -> None:
    """Gaps that add up to nothing but their rounding are a mean of zero, at a visit and over all; a small one that is meant stays."""
    thirds = [row(0, prompt="a", reward=one, ref_reward=0.0) for one in (0.1, 0.2, -0.3)]
    small = [row(0, prompt="b", reward=1e-9, ref_reward=0.0), row(1, prompt="b", reward=0.3, ref_reward=0.1 + 0.2)]
    visited = visits(open_run(write_run(tmp_path, {"a.jsonl": [*thirds, *small]})))

    assert visited["gap"].tolist()[:2] == [0.0, 1e-9]
    assert leaderboard(visited)["gap"].tolist() == [0.0, pytest.approx(5e-10)]


def test_a_run_without_prompts_has_no_visits(tmp_path: Path) -> None:
    """Neither visits nor prompts, and no error."""
    found = visits(open_run(write_run(tmp_path, {"a.jsonl": [row(0, reward=1.0), row(1, prompt="  ")]})))

    assert found.empty
    assert leaderboard(found).empty
    assert list(leaderboard(found).columns) == list(BOARD)


def test_extreme_steps_are_steps(tmp_path: Path) -> None:
    """The least and the greatest 64-bit step are two visits like others."""
    ends = [-(2**63), 2**63 - 1]
    board = leaderboard(visits(open_run(write_run(tmp_path, {"a.jsonl": [row(at, prompt="a", reward=1.0) for at in ends]}))))

    assert board[["visits", "last_seen"]].to_numpy().tolist() == [[2, ends[1]]]
    assert np.isfinite(board[["first", "last", "gain"]].to_numpy()).all()
