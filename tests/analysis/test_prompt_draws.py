"""Which prompts of two runs are drawn how often."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.stats.bootstrap import MOST_UNITS, RESAMPLES, PromptDraws

PROMPTS = st.lists(st.integers(-1, 6), min_size=1, max_size=20)


def draws(a: list[int], b: list[int]) -> PromptDraws:
    """Of prompts by these keys, where -1 is none."""
    return PromptDraws(np.array(a, np.int64), np.array(b, np.int64), -1)


@given(PROMPTS, PROMPTS)
def test_whole_prompts_are_drawn_of_both_runs_at_once(a: list[int], b: list[int]) -> None:
    """Rollouts of one prompt are of one block, in both runs; one without a prompt is of its own; each kind is drawn as often as it is there."""
    found = draws(a, b)

    both = [*zip(a, found.a.tolist(), strict=True), *zip(b, found.b.tolist(), strict=True)]
    named = {(prompt, block) for prompt, block in both if prompt != -1}
    alone = [block for prompt, block in both if prompt == -1]
    assert len(named) == len({*a, *b} - {-1}) == len({block for _, block in named})
    assert len({*alone} | {block for _, block in named}) == len(named) + len(alone) == found.weights.shape[1]
    shared = ({*a} & {*b}) - {-1}
    assert found.shared == len(shared)
    assert found.prompts == tuple(len({*one} - {-1}) + one.count(-1) for one in (a, b))
    of_shared = sorted({block for prompt, block in named if prompt in shared})
    assert (found.weights[:, of_shared].sum(axis=1) == len(of_shared)).all()
    assert (found.weights.sum(axis=1) == found.weights.shape[1]).all()


def test_of_very_many_prompts_blocks_are_drawn() -> None:
    """They hold nearly as many prompts each, and every prompt is in one."""
    count = 3 * MOST_UNITS + 10
    found = draws([*range(count)], [*range(count // 2, 2 * count)])

    assert found.weights.shape == (RESAMPLES, 3 * MOST_UNITS)
    held = np.bincount(found.a, minlength=3 * MOST_UNITS)
    assert set(held[held > 0].tolist()) <= {1, 2, 3, 4}
    assert found.tell


def test_one_prompt_tells_no_interval() -> None:
    """Neither does an empty run."""
    assert not draws([1, 1], [1, 2]).tell
    assert not draws([], [1, 2]).tell
