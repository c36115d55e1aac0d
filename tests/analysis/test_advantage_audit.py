"""board.analysis.rollouts.advantage_audit: which rule a run follows, and which of its rollouts do not."""

import math

import numpy as np
import pandas as pd
import pytest

from board.analysis.rollouts import groups
from board.analysis.rollouts.advantage_audit import MOST_LISTED, audit
from board.errors import FieldMissing


def frame(column: str = "advantage", steps: int = 3) -> pd.DataFrame:
    """Steps of three groups of four whose advantages are R − μ; keys are not places."""
    rng = np.random.default_rng(1)
    rewards = rng.normal(size=(steps * 3, 4))
    made = pd.DataFrame(
        {
            "step": np.repeat(np.arange(steps), 12),
            "group": np.tile(np.repeat([1.0, 2.0, 3.0], 4), steps),
            "reward": rewards.ravel(),
            column: (rewards - rewards.mean(axis=1, keepdims=True)).ravel(),
        }
    )
    return made.set_index(pd.Index(1_000 - np.arange(len(made))))


@pytest.mark.parametrize("column", ["advantage", "advantage_mean"])
def test_the_rule_that_is_followed(column: str) -> None:
    """It is named with all its rollouts fitting, whether a row has one advantage or one per token."""
    given = frame(column)
    found = audit(given, groups.find(given))
    assert (found.column, found.followed) == (column, "Dr. GRPO")
    nearest = found.rules.iloc[0]
    assert (nearest["rows"], nearest["fitting"]) == (36, 1.0)
    assert nearest["r_squared"] == pytest.approx(1)
    assert found.misfits[found.misfits["rule"] == "Dr. GRPO"].empty


def test_rollouts_that_do_not_fit_lead_to_their_group() -> None:
    """Each is named with its key, its group, what was logged and what the rule says, the largest error first."""
    given = frame()
    given["advantage"] += np.where(given.index == 990, 3.0, 0.0) - np.where(given.index == 980, 5.0, 0.0)
    found = audit(given, groups.find(given))
    assert found.followed is None  # two of 36 are more than one in twenty
    of_rule = found.misfits[found.misfits["rule"] == "Dr. GRPO"]
    assert of_rule["key"].tolist() == [980, 990]
    assert of_rule["error"].tolist() == pytest.approx([-5.0, 3.0])
    assert (of_rule["expected"] + of_rule["error"]).tolist() == pytest.approx(of_rule["logged"].tolist())
    for one in of_rule.to_dict("records"):
        row = given.loc[[one["key"]]].iloc[0]
        assert (row["step"], row["group"], row["reward"]) == (one["step"], one["group"], one["reward"])


def test_many_misfits_are_bounded() -> None:
    """No more than MOST_LISTED are listed for a rule."""
    given = frame(steps=100).assign(advantage=7.0)
    misfits = audit(given, groups.find(given)).misfits
    assert misfits["rule"].value_counts().max() == MOST_LISTED
    errors = misfits.loc[misfits["rule"] == "RLOO", "error"].abs()
    every = 7.0 - 4 / 3 * (given["reward"] - given.groupby(["step", "group"])["reward"].transform("mean"))
    assert errors.tolist() == pytest.approx(every.abs().nlargest(MOST_LISTED).tolist())


LACKING = {
    "no advantages": frame().drop(columns="advantage"),
    "advantages as text": frame().assign(advantage="x"),
    "no rewards": frame().drop(columns="reward"),
    "never both": frame().assign(advantage=math.nan),
}


@pytest.mark.parametrize("given", LACKING.values(), ids=LACKING)
def test_what_is_missing_is_said(given: pd.DataFrame) -> None:
    """Without rewards and advantages there is nothing to compare."""
    with pytest.raises(FieldMissing):
        audit(given, groups.find(given))
