"""Where marked rollouts begin: by hand-made runs, and against a slow search."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.findings.spreading import CLEAR, outbreak
from board.metrics.step_sums import Steps


def _steps(sizes: list[int]) -> Steps:
    return Steps(np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize(
    ("marked", "at", "share"),
    [
        ([0, 0, 0, 4, 5, 4], 3, 13 / 24),
        ([3, 2, 3, 3, 2, 3], 0, 16 / 48),
        ([1, 0, 0, 8, 8, 8], 3, 1.0),
        ([0, 1, 0, 8, 8, 8], 1, 25 / 40),
        ([0, 0, 0, 8, 8, 0], 3, 1.0),
        ([8, 8, 0, 0, 0, 0], 0, 1.0),
    ],
    ids=["from a step on", "always", "after an odd one", "that grows", "that ends", "at the start alone"],
)
def test_the_first_step_is_where_the_share_begins_to_be_larger(marked: list[int], at: int, share: float) -> None:
    """Six steps of eight rollouts, of which so many are marked."""
    marks = np.concatenate([np.arange(8) < count for count in marked])
    found = outbreak(_steps([8] * 6), marks, np.ones(48, bool))
    assert found is not None
    assert found.at == at
    assert found.share == pytest.approx(share)
    assert found.z > 4.5


def test_few_marks_are_no_outbreak() -> None:
    """Two of a thousand are what is usual, and none is nothing."""
    marks = np.zeros(1000, bool)
    assert outbreak(_steps([100] * 10), marks, ~marks) is None
    marks[[500, 900]] = True
    found = outbreak(_steps([100] * 10), marks, np.ones(1000, bool))
    assert found is not None
    assert found.z == 0


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8))
def test_it_divides_the_run_as_a_slow_search_does(told: list[tuple[int, int]]) -> None:
    """Every place tried, with binomial likelihoods written out."""
    told = [(min(k, n), n) for k, n in told]
    steps = Steps(np.repeat(np.arange(len(told)), [max(1, n) for _, n in told]))
    marks = np.concatenate([np.arange(max(1, n)) < k for k, n in told])
    known = np.concatenate([np.arange(max(1, n)) < n for _, n in told])
    found = outbreak(steps, marks, known)

    def likelihood(some: list[tuple[int, int]]) -> float:
        k, n = sum(one for one, _ in some), sum(one for _, one in some)
        return sum(count * math.log(count / n) for count in (k, n - k) if count)

    def share(some: list[tuple[int, int]]) -> float:
        return sum(k for k, _ in some) / max(1, sum(n for _, n in some))

    if not any(k > 0 for k, _ in told):
        assert found is None
        return
    best, at = likelihood(told) + CLEAR, 0
    for cut in range(1, len(told)):
        rises = share(told[cut:]) > share(told[:cut]) and any(n > 0 for _, n in told[:cut])
        if rises and likelihood(told[:cut]) + likelihood(told[cut:]) > best + 1e-12:
            best, at = likelihood(told[:cut]) + likelihood(told[cut:]), cut
    first = next(step for step, (k, _) in enumerate(told) if k and step >= at)
    while earlier := [step for step in (first - 1, first - 2) if step >= 0 and told[step][0]]:
        first = earlier[0]
    assert found is not None
    assert found.at == first
