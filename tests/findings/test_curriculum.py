"""What is asked changes: mixes of data sources that change, and numbers freed from the mix."""

import numpy as np
import pytest

from board.findings.context import like_for_like, prompt_for_prompt
from board.metrics.step_sums import Steps


def mixed(shares: list[float], size: int = 40) -> tuple[Steps, np.ndarray]:
    """Steps whose batch has so large a share of source 1, the rest of source 0."""
    sources = [np.where(np.arange(size) < round(share * size), 1, 0) for share in shares]
    return Steps(np.repeat(np.arange(len(shares)), size)), np.concatenate(sources)


@pytest.mark.parametrize("sources", [[-1] * 8, [0] * 8])
def test_without_two_sources_there_is_no_mix(sources: list[int]) -> None:
    """Numbers of rollouts that name no source, or all the same, stay as they are."""
    steps, values = Steps(np.repeat(np.arange(4), 2)), np.arange(8.0)

    assert like_for_like(steps, np.array(sources), values).tolist() == values.tolist()


def test_a_curriculum_is_no_jump() -> None:
    """Two sources of different level, of which the harder takes over: freed from the mix the curve is flat, at the mean level."""
    steps, sources = mixed([0.1] * 6 + [0.9] * 6)
    values = np.where(sources == 1, -2.0, 5.0)
    freed = like_for_like(steps, sources, values)

    assert np.ptp(steps.mean(values)) > 5
    assert steps.mean(freed) == pytest.approx(np.full(12, values.mean()), abs=1e-3)


def test_what_turns_in_every_source_stays() -> None:
    """A jump that all sources have is still a jump of its full size, however the mix changes with it; NaN stays NaN."""
    steps, sources = mixed([0.2] * 6 + [0.8] * 6)
    values = np.where(sources == 1, -2.0, 5.0) + 3.0 * (steps.row >= 6)
    values[0] = np.nan
    curve = steps.mean(like_for_like(steps, sources, values))

    assert np.isnan(like_for_like(steps, sources, values)[0])
    assert curve[6:].mean() - curve[:6].mean() == pytest.approx(3, abs=0.02)


def test_which_prompts_a_step_has_is_no_noise_where_they_come_again() -> None:
    """Easy prompts in even steps, hard ones in odd ones, some in both: prompt for prompt nothing differs but what turns in all of them."""
    steps = np.repeat(np.arange(12), 4)
    prompts = np.concatenate([[0, 1, 2, 3] if step % 2 else [2, 3, 4, 5] for step in range(12)])
    values = prompts / 5 + (steps >= 6)
    found = prompt_for_prompt(Steps(steps), prompts, np.full(48, -1), values)
    by_step = found.reshape(12, 4).mean(axis=1)
    np.testing.assert_allclose(by_step[6:].mean() - by_step[:6].mean(), 1, atol=1e-6)
    np.testing.assert_allclose(np.ptp(by_step[:6]), 0, atol=1e-6)


def test_prompts_that_come_once_are_told_by_their_source() -> None:
    """A level for each prompt would take all that there is."""
    dice = np.random.default_rng(1)
    steps, sources, values = np.repeat(np.arange(12), 4), np.tile([0, 0, 1, 1], 12), dice.normal(size=48)
    found = prompt_for_prompt(Steps(steps), np.arange(48), sources, values)
    np.testing.assert_array_equal(found, like_for_like(Steps(steps), sources, values))
