"""board.analysis.prompts.cohort_conditions: a condition in SQL holds of the rows of just the prompts that are of the cohort."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.analysis.prompts.cohort_conditions import of_cohort, of_prompts, with_text
from board.analysis.prompts.cohorts import COHORTS, LOSING, CohortRule, cohorts
from board.runs.prompt_keys import NO_PROMPT
from board.sql.chips import chip
from board.sql.query import LONGEST_QUERY

REWARDS = st.sampled_from([0.0, 0.25, 0.5, 1.0, float("nan"), float("inf")])
ROLLOUTS = st.lists(
    st.tuples(st.integers(-2, 2), st.integers(0, 5), REWARDS, st.sampled_from([-1.0, 1.0, float("nan")])), max_size=40
)
RULES = st.builds(CohortRule, st.sampled_from([0.25, 0.5]), st.integers(1, 3), st.integers(1, 2), st.integers(2, 4))


def rollouts(given: list[tuple[int, int, float, float]]) -> pd.DataFrame:
    """The table that conditions are asked of."""
    columns = ["prompt_key", "step", "reward", "reward_gap"]
    return pd.DataFrame(given, columns=columns).astype(
        {"prompt_key": np.int64, "step": np.int64, "reward": float, "reward_gap": float}
    )


def visited(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean rewards and gaps by prompt and step."""
    finite = rows.replace([np.inf, -np.inf], np.nan)
    means = finite.groupby(["prompt_key", "step"])[["reward", "reward_gap"]].mean().reset_index()
    return means.rename(columns={"prompt_key": "prompt", "reward_gap": "gap"})


def prompts(rows: pd.DataFrame, condition: str) -> set[int]:
    """Those of the rows that a condition holds of."""
    with duckdb.connect() as database:
        database.register("rollouts", rows)
        return {key for (key,) in database.execute(f"SELECT DISTINCT prompt_key FROM rollouts WHERE ({condition})").fetchall()}


@settings(deadline=None, max_examples=30)
@given(ROLLOUTS, RULES)
def test_a_condition_holds_of_the_rows_of_the_cohort(given: list[tuple[int, int, float, float]], rule: CohortRule) -> None:
    """Of each cohort's prompts, and of those that lose, by the same rule as the page's."""
    rows = rollouts(given)
    found = cohorts(visited(rows), rule)

    for number, name in enumerate(COHORTS):
        assert prompts(rows, of_cohort(name, rule)) == set(found.index[found["cohort"] == number])
    assert prompts(rows, of_cohort(LOSING, rule)) == set(found.index[found["losing"]])


def test_prompts_are_judged_within_a_condition_and_none_is_no_prompt() -> None:
    """Rows that another condition leaves out say nothing of a prompt, and rows without a prompt are of no cohort."""
    rows = rollouts([(1, 0, 0.0, 0.0), (1, 1, 1.0, 0.0), (1, 2, 0.0, 0.0), (NO_PROMPT, 0, 0.0, 0.0), (NO_PROMPT, 1, 1.0, 0.0)])
    rule = CohortRule(0.5, 1, 1, 1)

    assert prompts(rows, of_cohort("learned", rule)) == set()
    assert prompts(rows, of_cohort("learned", rule, within="step < 2 OR step > 9")) == {1}


@pytest.mark.parametrize(
    "condition",
    [of_prompts([-7]), of_prompts([1, -2]), *(of_cohort(name, CohortRule(-0.5, 2, 3, 5)) for name in (*COHORTS, LOSING))],
)
def test_a_condition_is_one_chip(condition: str) -> None:
    """A line that a filter takes as it is; it names no column but those it needs, so that no text is read for it."""
    assert chip(condition).condition == condition
    assert "*" not in condition
    assert len(condition) < min(1_000, LONGEST_QUERY)


def test_a_text_is_found_whatever_its_case_and_its_quotes() -> None:
    """Letter for letter, the signs of patterns included."""
    rows = pd.DataFrame({"prompt_key": [1, 2, 3], "prompt": ["It's 5 % Off", "it's 5 off", None]})

    assert prompts(rows, with_text("prompt", "IT'S 5 %")) == {1}
