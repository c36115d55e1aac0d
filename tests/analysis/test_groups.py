"""board.analysis.rollouts.groups: against a slow reader of one group after the other, and the odd groups there are."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.rollouts import groups
from board.errors import FieldMissing

NAN = math.nan

ROWS = st.lists(
    st.tuples(
        st.sampled_from([-5, 0, 7, 2**40]),
        st.sampled_from([NAN, 1.0, 2.0, 3.0]),
        st.sampled_from([NAN, -1.0, 0.0, 0.25, 0.5, 1.0, math.inf]),
    ),
    min_size=1,
    max_size=40,
)
"""Step, number of the group, reward."""


def frame_of(rows: list[tuple[int, float, float]]) -> pd.DataFrame:
    """A frame in the order of steps, whose keys are not its places."""
    frame = pd.DataFrame(rows, columns=["step", "group", "reward"]).astype({"step": "int64"})
    return frame.set_index(pd.Index(100 - np.arange(len(frame)))).sort_values("step", kind="stable")


def slow(frame: pd.DataFrame, threshold: float, k: int) -> list[dict[str, Any]]:
    """Each group by itself."""
    found = []
    for (step, _), members in frame.dropna(subset=["group"]).groupby(["step", "group"]):
        rewards = [one for one in members["reward"] if math.isfinite(one)]
        n, right = len(rewards), sum(one >= threshold for one in rewards)
        kind = "no reward" if not n else "all right" if right == n else "mixed" if right else "all wrong"
        passed = 1 - math.comb(n - right, k) / math.comb(n, k) if n >= k else NAN
        mean = sum(rewards) / n if n else NAN
        std = math.sqrt(sum((one - mean) ** 2 for one in rewards) / n) if n else NAN
        best, worst = (max(rewards), min(rewards)) if n else (NAN, NAN)
        numbers = {"mean": mean, "std": std, "best": best, "worst": worst, "gap": best - mean, "pass_at_k": passed}
        counts = {"rollouts": len(members), "scored": n, "right": right, "flat": n > 1 and best == worst, "kind": kind}
        found.append(
            {"step": step, "group": int(members["group"].iloc[0]), **counts, **numbers, "members": members.index.tolist()}
        )
    return found


@given(ROWS, st.sampled_from([-1.0, 0.25, 0.5, 2.0]), st.integers(1, 4))
def test_groups_are_those_of_a_slow_reader(rows: list[tuple[int, float, float]], threshold: float, k: int) -> None:
    """Every group of every step has its members and its numbers; none is without members."""
    frame = frame_of(rows)
    wanted = slow(frame, threshold, k)
    if not wanted:
        with pytest.raises(FieldMissing):
            groups.find(frame)
        return

    grouped = groups.find(frame)
    found = groups.judged(grouped, threshold, k)

    assert [grouped.members(at).tolist() for at in range(len(found))] == [one.pop("members") for one in wanted]
    for name in wanted[0]:
        expected = [one[name] for one in wanted]
        given_ = found[name].tolist()
        assert given_ == (pytest.approx(expected, nan_ok=True, abs=1e-9) if isinstance(expected[0], float) else expected)
    assert [grouped.place(one["step"], one["group"]) for one in wanted] == list(range(len(wanted)))
    assert grouped.place(3, 1) is None


@given(ROWS, st.sampled_from([0.25, 0.5]))
def test_shares_and_pass_at_k_by_step(rows: list[tuple[int, float, float]], threshold: float) -> None:
    """A step's shares are of its scored groups and add up to one; its pass@k is the mean over the groups that are large enough."""
    frame = frame_of(rows)
    wanted = pd.DataFrame(slow(frame, threshold, 2))
    if wanted.empty:
        return
    grouped = groups.find(frame)

    shares, passed = groups.shares(groups.judged(grouped, threshold, 2)), groups.pass_by_step(grouped, threshold, [2])

    scored = wanted[wanted["scored"] > 0]
    assert shares.index.tolist() == sorted(scored["step"].unique())
    assert shares[["all_right", "mixed", "all_wrong"]].sum(axis=1).tolist() == pytest.approx([1.0] * len(shares))
    for step, of_step in scored.groupby("step"):
        share = shares.loc[[step]].iloc[0]
        assert share["count"] == len(of_step)
        assert share["mixed"] == pytest.approx((of_step["kind"] == "mixed").mean())
        several = of_step[of_step["scored"] > 1]["flat"]
        assert share["flat"] == (pytest.approx(several.mean()) if len(several) else pytest.approx(NAN, nan_ok=True))
    means = [of_step["pass_at_k"].mean() for _, of_step in wanted.groupby("step")]
    assert passed[2].tolist() == pytest.approx(means, nan_ok=True)


def test_equal_rewards_have_no_spread() -> None:
    """Rounding leaves none: a group of a thousand rewards of 0.1 is flat, its mean is 0.1 and its best no better than it."""
    frame = frame_of([(0, 1.0, 0.1)] * 1_000)
    (group,) = groups.find(frame).groups.to_dict("records")
    assert (group["flat"], group["std"], group["mean"], group["gap"]) == (True, 0.0, 0.1, 0.0)


THRESHOLDS: dict[str, tuple[list[float], float]] = {
    "0 and 1": ([0.0, 1.0, 1.0], 0.5),
    "within 0 and 1": ([0.2, 0.3], 0.5),
    "-1 and 1": ([-1.0, 1.0, NAN], 0.0),
    "wider": ([0.0, 10.0, math.inf], 5.0),
    "whose range no float holds": ([-1e308, 1.5e308], 2.5e307),
    "none": ([NAN], NAN),
}


OBVIOUS: dict[str, tuple[list[float], float]] = {
    "0 and 1": ([0.0, 1.0, NAN, 1.0], 0.5),
    "all wrong": ([0.0, 0.0], 0.5),
    "-1 and 1": ([-1.0, 1.0, math.inf], 0.0),
    "whose range no float holds": ([-1e308, 1.5e308], 2.5e307),
    "graded": ([0.0, 0.5, 1.0], NAN),
    "lengths": ([12.0, 40.0, 7.0], NAN),
    "one length": ([12.0, 12.0], NAN),
    "none": ([NAN], NAN),
}


@pytest.mark.parametrize(("rewards", "wanted"), OBVIOUS.values(), ids=OBVIOUS)
def test_two_values_tell_what_is_right(rewards: list[float], wanted: float) -> None:
    """The middle between two; of other rewards only the reader knows."""
    assert groups.obvious_threshold(np.array(rewards)) == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize(("rewards", "wanted"), THRESHOLDS.values(), ids=THRESHOLDS)
def test_usual_threshold(rewards: list[float], wanted: float) -> None:
    """A half where rewards lie within 0 and 1, else the middle between the least and the largest."""
    assert groups.usual_threshold(np.array(rewards)) == pytest.approx(wanted, nan_ok=True)


def test_listed_in_the_order_of_a_column() -> None:
    """The groups of one step, missing numbers last either way."""
    frame = frame_of([(0, 1.0, 0.0), (0, 2.0, NAN), (0, 3.0, 1.0), (1, 1.0, 9.0)])
    judged = groups.judged(groups.find(frame), 0.5, 1)
    for descending, wanted in ((True, [3, 1, 2]), (False, [1, 3, 2])):
        assert groups.in_order(judged, 0, "mean", descending=descending)["group"].tolist() == wanted


def test_run_without_rewards_has_groups_all_the_same() -> None:
    """Groups stand with their sizes; what rewards would say is missing, and so are the shares."""
    grouped = groups.find(pd.DataFrame({"step": [0, 0], "group": [1.0, 1.0]}))
    judged = groups.judged(grouped, groups.usual_threshold(grouped.rewards), 1)
    assert judged[["rollouts", "scored", "kind"]].iloc[0].tolist() == [2, 0, "no reward"]
    assert judged[["mean", "best", "pass_at_k"]].isna().all(axis=None)
    assert groups.shares(judged).empty
    assert groups.without_group(pd.DataFrame({"step": [0, 0]})) == 2
