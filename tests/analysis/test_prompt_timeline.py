"""board.analysis.prompts.prompt_timeline: the points of one prompt, and which of very many are drawn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.prompts.prompt_timeline import timeline, usual_pair
from board.errors import FieldMissing

NAN = float("nan")
NONE = np.zeros(0, np.int64)


def rows(steps: list[int], **columns: list[float]) -> pd.DataFrame:
    """Rows of a prompt, whose keys are 100, 101 and so on."""
    return pd.DataFrame({"step": steps, **columns}, index=np.arange(100, 100 + len(steps)))


def test_every_rollout_with_a_number_is_a_point() -> None:
    """With the number of its visit, its colour and its size; means and the highest are over all finite numbers of a visit."""
    frame = rows([3, 3, 3, 9, 12], reward=[1.0, 0.0, float("inf"), 0.5, NAN], kl=[0.1, NAN, 0.3, 0.4, 0.5])
    drawn = timeline(frame, "reward", "kl", "response_length", NONE)

    assert drawn.keys.tolist() == [100, 101, 103]
    assert drawn.visit.tolist() == [0, 0, 1]
    assert drawn.steps.tolist() == [3, 9, 12]
    assert drawn.counts.tolist() == [3, 1, 1]
    assert drawn.means.tolist() == pytest.approx([0.5, 0.5, NAN], nan_ok=True)
    assert drawn.highest.tolist() == pytest.approx([1.0, 0.5, NAN], nan_ok=True)
    assert drawn.color.tolist() == pytest.approx([0.1, NAN, 0.4], nan_ok=True)
    assert np.isnan(drawn.size).all()
    assert drawn.total == 3
    with pytest.raises(FieldMissing, match="needs kl_k3_mean"):
        timeline(frame, "kl_k3_mean", None, None, NONE)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 1.0, 2.0, NAN])), min_size=1, max_size=60).map(sorted),
    st.sets(st.integers(100, 159)),
)
def test_thinning_loses_no_extreme_and_nothing_asked_for(given: list[tuple[int, float]], always: set[int]) -> None:
    """Of each visit the least and the greatest number are drawn, and what is always to be drawn; no more than there is room for otherwise."""
    frame = rows([step for step, _ in given], reward=[reward for _, reward in given])
    drawn = timeline(frame, "reward", None, None, np.array(sorted(always), np.int64), most=20)

    known = frame.dropna()
    points = pd.Series(drawn.height, drawn.steps[drawn.visit])
    expected = known.groupby("step")["reward"].agg(["min", "max"])
    assert points.groupby(level=0).agg(["min", "max"]).to_numpy().tolist() == expected.to_numpy().tolist()
    assert always & set(known.index) <= set(drawn.keys.tolist())
    assert len(drawn.keys) <= max(20, 2 * 6 + len(always))
    assert drawn.keys.tolist() == sorted(set(drawn.keys.tolist()))
    assert drawn.total == len(known) >= len(drawn.keys) >= min(len(known), 20)


def test_very_many_visits_keep_the_extremes_of_neighbours() -> None:
    """Of 100,000 visits of one rollout some thousand points are drawn, the greatest and the least of all among them."""
    heights = np.random.default_rng(0).normal(size=100_000)
    drawn = timeline(rows(list(range(100_000)), reward=heights.tolist()), "reward", None, None, NONE)

    assert len(drawn.keys) <= 3_000
    assert drawn.total == len(drawn.means) == 100_000
    assert {float(heights.max()), float(heights.min())} <= set(drawn.height.tolist())


ENDS: dict[str, tuple[pd.DataFrame, tuple[int, int] | None]] = {
    "the best of the first and of the last visit": (rows([1, 1, 2, 3, 3], reward=[0.0, 1.0, 9.0, 0.5, 0.25]), (101, 103)),
    "the first of equals": (rows([1, 1, 2, 2], reward=[1.0, 1.0, 0.0, 0.0]), (100, 102)),
    "visits without a reward left out": (rows([1, 2, 3, 4], reward=[NAN, 1.0, 2.0, NAN]), (101, 102)),
    "one visit": (rows([1, 1, 1], reward=[0.5, 1.0, 0.0]), (102, 101)),
    "one visit of equals": (rows([1, 1, 1], reward=[0.5, 0.5, 0.5]), (100, 101)),
    "one rollout": (rows([1], reward=[0.5]), None),
    "no reward": (rows([1, 2], reward=[NAN, NAN]), None),
    "no column": (rows([1, 2]), None),
}


@pytest.mark.parametrize(("frame", "expected"), ENDS.values(), ids=ENDS)
def test_what_is_compared_unasked(frame: pd.DataFrame, expected: tuple[int, int] | None) -> None:
    """The best rollout of the first visit and that of the last; of one visit the worst and the best."""
    assert usual_pair(frame, "reward") == expected
