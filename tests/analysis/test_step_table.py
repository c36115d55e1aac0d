"""The table of steps: what is in it, its order, and how sure the mean reward is."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rows import row, token_row, write_run

from board import open_run
from board.analysis.steps.highlights import Highlight
from board.analysis.steps.step_metrics import per_step_values
from board.analysis.steps.step_table import explained, head, ordered, page_of, reward_intervals, rows, shown_keys

VALUES = pd.DataFrame({"reward/mean": [2.0, np.nan, 1.0, 2.0]}, index=pd.Index([-5, 0, 7, 2**62], name="step"))

ORDERS: dict[str, tuple[str, bool, list[int]]] = {
    "as they come": ("step", False, [-5, 0, 7, 2**62]),
    "newest first": ("step", True, [2**62, 7, 0, -5]),
    "by a number": ("reward/mean", False, [7, -5, 2**62, 0]),
    "largest first": ("reward/mean", True, [-5, 2**62, 7, 0]),
    "by what is not there": ("kl/k3_mean", False, [-5, 0, 7, 2**62]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_order(name: str) -> None:
    """Missing numbers come last either way, equal ones in the order of steps."""
    by, descending, expected = ORDERS[name]

    assert ordered(VALUES, by, descending=descending).tolist() == expected


def test_the_page_of_a_step() -> None:
    """Pages count from one; a step that is not there is on the first."""
    order = np.array([9, 8, 7, 6, 5])

    assert [page_of(order, step, 2) for step in (9, 7, 5, 1)] == [1, 2, 3, 1]


def test_a_run_shows_what_it_has(tmp_path: Path) -> None:
    """What no rollout has is no column; characters stand for tokens only where there are none."""
    whole = open_run(write_run(tmp_path / "whole", {"a.jsonl": [token_row(0)]}))
    texts = open_run(write_run(tmp_path / "texts", {"a.jsonl": [row(0)]}))

    assert shown_keys(whole) == ["counts/rollouts", "reward/mean", "length/mean", "kl/k3_mean"]
    assert shown_keys(texts) == ["counts/rollouts", "length/chars_mean"]


def test_rows_of_a_page(tmp_path: Path) -> None:
    """A page has its steps in the table's order, their numbers, intervals over prompts, and what stands out, warnings first."""
    rewards = {3: [0.0, 1.0, 4.0], 1: [1.0, 1.0, 1.0], 8: [5.0]}
    run = open_run(
        write_run(
            tmp_path / "run",
            {
                "a.jsonl": [
                    row(step, prompt=f"p{at}", reward=one) for step, some in rewards.items() for at, one in enumerate(some)
                ]
            },
        )
    )
    values = per_step_values(run, ["reward/mean"])
    marks = [Highlight(8, "highest at step 8"), Highlight(8, "broken at step 8", "warning"), Highlight(99, "elsewhere")]

    found = rows(run, values, ordered(values, "reward/mean", descending=True), 1, 2, marks)
    behind = rows(run, values, ordered(values, "reward/mean", descending=True), 2, 2, marks)

    assert found.steps.tolist() == [8, 3]
    assert behind.steps.tolist() == [1]
    assert found.seen == ["broken at step 8; highest at step 8", ""]
    assert found.values["reward/mean"].tolist() == [5.0, 5 / 3]
    assert np.isnan(found.low[0])
    assert 0 <= found.low[1] < 5 / 3 < found.high[1] <= 4
    assert (behind.low[0], behind.high[0]) == (1.0, 1.0)


def test_an_interval_is_the_same_on_any_page(tmp_path: Path) -> None:
    """Sorted or not, alone or among others, a step has one interval; a run without rewards has none."""
    numbers = np.random.default_rng(1).normal(size=60)
    lines = [row(at % 5, prompt=f"p{at % 15}", reward=float(one)) for at, one in enumerate(numbers)]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": lines}))
    bare = open_run(write_run(tmp_path / "bare", {"a.jsonl": [row(0), row(1)]}))

    low, _ = reward_intervals(run, np.array([4, 1, 3]))

    assert [reward_intervals(run, np.array([step]))[0][0] for step in (4, 1, 3)] == low.tolist()
    assert np.isnan(reward_intervals(bare, np.array([1, 0]))).all()


def test_heads_say_what_a_column_is() -> None:
    """A usual metric has a short head and its formula; what the catalogue does not know its key alone."""
    assert head("groups/zero_std_share") == "zero-variance groups"
    assert (head("column/own/mean"), explained("column/own/mean")) == ("column/own/mean", "")
    assert "mean" in explained("reward/mean")
