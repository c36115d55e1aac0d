"""The steps a reader is told to look at first."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from board import open_run
from board.analysis.steps.highlights import Highlight, highest, highlights, largest_fall, parting
from board.analysis.steps.step_stats import per_step

SAMPLES = Path(__file__).parents[2] / "rollout_samples"


def means(*values: float | None, first: int = 0) -> pd.DataFrame:
    """Per-step aggregates with these means, from step `first` on; None is a step without one."""
    return pd.DataFrame({"mean": pd.Series(values, dtype="float64", index=range(first, first + len(values)))})


FALLS = {
    "rising": (means(0, 1, 2), None),
    "one step": (means(5), None),
    "no step": (means(), None),
    "one fall": (means(0, 3, 1, 2), Highlight(2, "reward falls most: by 2 at step 2")),
    "two falls": (means(5, 4, 4, 1, first=10), Highlight(13, "reward falls most: by 3 at step 13")),
    "over a gap": (means(5, None, 1), Highlight(2, "reward falls most: by 4 at step 2")),
}


@pytest.mark.parametrize("name", FALLS)
def test_largest_fall(name: str) -> None:
    """The step after the largest fall between neighbouring steps that have a mean."""
    stats, expected = FALLS[name]

    assert largest_fall(stats, "reward", "reward") == (expected and replace(expected, shown_by="reward", most=False))


HIGHS = {
    "peak inside": (means(0.1, 0.5, 0.2), Highlight(1, "KL is highest: 0.500 at step 1")),
    "constant": (means(1, 1, 1), None),
    "nothing known": (means(None, None), None),
}


@pytest.mark.parametrize("name", HIGHS)
def test_highest(name: str) -> None:
    """The step with the highest mean, unless there is nothing to choose."""
    stats, expected = HIGHS[name]

    assert highest(stats, "KL", "kl_k3_mean") == (expected and replace(expected, shown_by="kl_k3_mean"))


PARTINGS = {
    "exploited": (means(0, 1, 2, 3, 4), means(0, 1, 2, 1, 0), 3),
    "holds for long, then breaks": (means(0, 1, 2, 3, 4, 5, 6), means(2, 1.9, 1.9, 2, 1.8, 0, 0.1), 5),
    "steps that are not counted from zero": (means(0, 1, 2, 3, first=10), means(2, 2.1, 0, 0.1, first=10), 12),
    "over a gap": (means(0, 1, 2, 3, 4), means(1, 2, None, 0, 0), 3),
    "both rise": (means(0, 1, 2, 3, 4), means(0, 1, 2, 3, 4), None),
    "both fall": (means(0, 1, 2, 1, 0), means(0, 1, 2, 1, 0), None),
    "within noise": (means(0, 1, 0, 1, 0, 1.2), means(1, 2, 1, 2, 1, 1.9), None),
    "too short": (means(0, 1), means(1, 0), None),
}


@pytest.mark.parametrize("name", PARTINGS)
def test_parting(name: str) -> None:
    """The step where the validation reward breaks, if it falls after its peak while the reward rises, both beyond noise."""
    proxy, gold, expected = PARTINGS[name]

    found = parting(proxy, gold)

    assert (found.step if found else None) == expected
    assert found is None or (found.kind == "warning" and f"breaks at step {expected}" in found.text)


def test_the_bundled_run_is_broken_where_its_highlight_leads() -> None:
    """In tiny_ppo_hacked every step before the one that is linked is better than every step after it, by the validation reward's mean."""
    frame = open_run(SAMPLES / "tiny_ppo_hacked").frame
    gold = per_step(frame, "valid_reward")

    found = parting(per_step(frame, "reward"), gold)

    assert found is not None
    assert gold["mean"].loc[: found.step - 2].min() > gold["mean"].loc[found.step :].max()


def test_highlights_need_their_columns() -> None:
    """Only what the run has is spoken of, the parting of reward and validation first."""
    reward, valid = means(0, 1, 2, 3, 4), means(0, 1, 2, 1, 0)

    assert highlights({}, "kl_k3_mean") == []
    stats = {"reward": reward, "valid_reward": valid, "kl_k3_mean": reward}
    assert [found.step for found in highlights(stats, "kl_k3_mean")] == [3, 4]
