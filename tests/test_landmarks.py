"""The steps a reader is told to look at first."""

import pandas as pd
import pytest

from board.landmarks import Landmark, highest, landmarks, largest_fall, parting


def means(*values: float | None, first: int = 0) -> pd.DataFrame:
    """Per-step aggregates with these means, from step `first` on; None is a step without one."""
    return pd.DataFrame({"mean": pd.Series(values, dtype="float64", index=range(first, first + len(values)))})


FALLS = {
    "rising": (means(0, 1, 2), None),
    "one step": (means(5), None),
    "no step": (means(), None),
    "one fall": (means(0, 3, 1, 2), Landmark(2, "reward falls most: by 2 at step 2")),
    "two falls": (means(5, 4, 4, 1, first=10), Landmark(13, "reward falls most: by 3 at step 13")),
    "over a gap": (means(5, None, 1), Landmark(2, "reward falls most: by 4 at step 2")),
}


@pytest.mark.parametrize("name", FALLS)
def test_largest_fall(name: str) -> None:
    """The step after the largest fall between neighbouring steps that have a mean."""
    stats, expected = FALLS[name]

    assert largest_fall(stats, "reward") == expected


HIGHS = {
    "peak inside": (means(0.1, 0.5, 0.2), Landmark(1, "KL is highest: 0.500 at step 1")),
    "constant": (means(1, 1, 1), None),
    "nothing known": (means(None, None), None),
}


@pytest.mark.parametrize("name", HIGHS)
def test_highest(name: str) -> None:
    """The step with the highest mean, unless there is nothing to choose."""
    stats, expected = HIGHS[name]

    assert highest(stats, "KL") == expected


PARTINGS = {
    "exploited": (means(0, 1, 2, 3, 4), means(0, 1, 2, 1, 0), 2),
    "both rise": (means(0, 1, 2, 3, 4), means(0, 1, 2, 3, 4), None),
    "both fall": (means(0, 1, 2, 1, 0), means(0, 1, 2, 1, 0), None),
    "within noise": (means(0, 1, 0, 1, 0, 1.2), means(1, 2, 1, 2, 1, 1.9), None),
    "too short": (means(0, 1), means(1, 0), None),
}


@pytest.mark.parametrize("name", PARTINGS)
def test_parting(name: str) -> None:
    """The peak of the validation reward, if it then falls while the reward rises, both beyond noise."""
    proxy, gold, expected = PARTINGS[name]

    found = parting(proxy, gold)

    assert (found.step if found else None) == expected


def test_landmarks_need_their_columns() -> None:
    """Only what the run has is spoken of, the parting of reward and validation first."""
    reward, valid = means(0, 1, 2, 3, 4), means(0, 1, 2, 1, 0)

    assert landmarks({}, "kl_k3_mean") == []
    assert [found.step for found in landmarks({"reward": reward, "valid_reward": valid, "kl_k3_mean": reward}, "kl_k3_mean")] == [
        2,
        4,
    ]
