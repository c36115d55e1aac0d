"""board.figures.search_panels: shares and rewards of hits by step, and under a filter those of all rollouts beside them."""

import numpy as np
import pandas as pd
import pytest

from board.errors import FieldMissing
from board.figures.search_panels import reward_panel, share_panel

FOUND = pd.DataFrame(
    {"rollouts": [4, 2], "hits": [1, 2], "share": [0.25, 1.0], "with_hit": [3.0, 1.0], "without": [0.5, np.nan]},
    index=pd.Index([0, 5], name="step"),
)


def test_hits_in_percent_and_what_they_earn() -> None:
    """The share of rollouts with a hit, and the mean reward of these and of the rest, where a step has any."""
    (share,) = share_panel(FOUND).curves
    with_it, rest = reward_panel(FOUND).curves

    assert (share.line.tolist(), share.count.tolist()) == ([25.0, 100.0], [4, 2])
    assert with_it.line.tolist() == [3.0, 1.0]
    assert rest.line.tolist() == pytest.approx([0.5, np.nan], nan_ok=True)
    assert rest.count.tolist() == [3, 0]


def test_all_rollouts_are_dashed() -> None:
    """Under a filter each line has its own of all rollouts."""
    share, every = share_panel(FOUND, FOUND * 2).curves
    rewards = reward_panel(FOUND, FOUND).curves

    assert (every.name, every.dash, every.line[0], share.dash) == ("with it, all", "dash", 50.0, "solid")
    assert [(curve.name, curve.dash) for curve in rewards] == [
        ("with it", "solid"),
        ("the rest", "solid"),
        ("with it, all", "dash"),
        ("the rest, all", "dash"),
    ]


def test_without_a_reward_there_is_no_panel_of_it() -> None:
    """Where no rollout has a reward the panel says so."""
    with pytest.raises(FieldMissing):
        reward_panel(FOUND.assign(with_hit=np.nan, without=np.nan))
