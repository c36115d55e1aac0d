"""board.analysis.prompts.cohorts: which prompts were learned, forgotten, flipping, always or never solved, and which lose."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.prompts.cohorts import COHORTS, NONE, CohortRule, by_step, cohorts, judged, losing_by_step

NAN = float("nan")

REWARDS = st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])
RUNS = st.dictionaries(st.integers(1, 6), st.dictionaries(st.integers(0, 9), st.tuples(REWARDS, REWARDS), max_size=8), max_size=5)
RULES = st.builds(CohortRule, st.sampled_from([0.0, 0.5, 1.0]), st.integers(1, 3), st.integers(1, 3), st.integers(3, 4))


def visited(prompts: dict[int, dict[int, tuple[float, float]]]) -> pd.DataFrame:
    """Visits of prompts: their key → step → mean reward and mean gap."""
    rows = [(key, step, *numbers) for key, steps in prompts.items() for step, numbers in sorted(steps.items())]
    return pd.DataFrame(rows, columns=["prompt", "step", "reward", "gap"]).astype({"prompt": np.int64, "step": np.int64})


def of(rewards: list[float], gaps: list[float] | None = None) -> pd.DataFrame:
    """Visits of one prompt at steps 0, 1, 2 and so on."""
    return visited({7: {at: (reward, gaps[at] if gaps else NAN) for at, reward in enumerate(rewards)}})


def slow_cohort(rewards: list[float], rule: CohortRule) -> str | None:
    """The rule as it is written on the screen, for one prompt's mean rewards in order."""
    solved = [one >= rule.solved for one in rewards if one == one]
    if len(solved) < 2:
        return None
    if all(solved):
        return "always"
    if not any(solved):
        return "never"
    ends = min(rule.ends, len(solved) // 2)
    first, last = solved[:ends], solved[-ends:]
    if not any(first) and all(last):
        return "learned"
    return "forgotten" if all(first) and not any(last) else "flipping"


def slow_losing(gaps: list[float], rule: CohortRule) -> bool:
    """Below the reference in enough of the last visits."""
    return sum(one < 0 for one in [one for one in gaps if one == one][-rule.of :]) >= rule.lost


CASES: dict[str, tuple[list[float], int, str | None]] = {
    "one visit": ([1.0], 1, None),
    "one visit with a reward": ([NAN, 1.0, NAN], 1, None),
    "always": ([0.5, 1.0, 0.5], 2, "always"),
    "never": ([0.0, 0.4], 1, "never"),
    "learned": ([0.0, 0.0, 1.0, 1.0], 2, "learned"),
    "learned by halves": ([0.0, 1.0], 5, "learned"),
    "forgotten": ([1.0, 0.0], 1, "forgotten"),
    "flipping": ([0.0, 1.0, 0.0], 1, "flipping"),
    "solved at last alone": ([0.0, 0.0, 0.0, 1.0], 2, "flipping"),
    "the same, looking at one end": ([0.0, 0.0, 0.0, 1.0], 1, "learned"),
    "visits without a reward do not count": ([NAN, 0.0, NAN, 1.0], 3, "learned"),
}


@pytest.mark.parametrize(("rewards", "ends", "cohort"), CASES.values(), ids=CASES)
def test_a_prompt_is_of_the_cohort_that_the_rule_says(rewards: list[float], ends: int, cohort: str | None) -> None:
    """As the page writes the rule; before its second visit a prompt is of none."""
    rule = CohortRule(0.5, ends, 3, 5)
    found = cohorts(of(rewards), rule)["cohort"].tolist()

    assert found == [NONE if cohort is None else COHORTS.index(cohort)]
    assert slow_cohort(rewards, rule) == cohort


@given(RUNS, RULES)
def test_counts_by_step_are_those_of_prompts_judged_one_by_one(
    prompts: dict[int, dict[int, tuple[float, float]]], rule: CohortRule
) -> None:
    """After each step every prompt is what its visits up to there say; the last step's counts are those of `cohorts`."""
    frame = visited(prompts)
    steps = np.arange(10)
    counted, lost = by_step(frame, rule, steps), losing_by_step(frame, rule, steps)

    for step in steps.tolist():
        so_far = [[numbers for at, numbers in sorted(own.items()) if at <= step] for own in prompts.values()]
        found = [slow_cohort([reward for reward, _ in own], rule) for own in so_far]
        assert counted[list(COHORTS)].to_numpy()[step].tolist() == [found.count(name) for name in COHORTS]
        compared = [[gap for _, gap in own if gap == gap] for own in so_far]
        assert lost.to_numpy()[step].tolist() == [sum(slow_losing(own, rule) for own in compared), sum(map(bool, compared))]
    last = cohorts(frame, rule)
    assert np.bincount(last["cohort"] + 1, minlength=6)[1:].tolist() == counted.iloc[-1].tolist()
    assert last["losing"].sum() == lost["losing"].iloc[-1]
    assert sorted(last.index) == sorted(key for key, own in prompts.items() if own)


def test_without_a_threshold_no_prompt_is_of_a_cohort() -> None:
    """What is solved nobody has said."""
    visited = of([0.0, 5.0, 9.0])
    assert (cohorts(visited, CohortRule(NAN, 2, 3, 5))["cohort"] == NONE).all()


def test_nothing_is_judged_of_nothing() -> None:
    """Without a visit there is no prompt, and every count is zero."""
    frame, rule = visited({}), CohortRule(0.5, 1, 1, 1)

    assert judged(frame).empty
    assert cohorts(frame, rule).empty
    assert by_step(frame, rule, np.arange(3)).to_numpy().sum() == losing_by_step(frame, rule, np.arange(3)).to_numpy().sum() == 0
