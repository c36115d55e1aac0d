"""Means of many numbers of two runs, and how far they lie apart."""

import numpy as np
import pandas as pd
import pytest

from board.analysis.compare.run_shift import MEANS, mean_differences
from board.analysis.stats.bootstrap import PromptDraws
from board.analysis.steps.distribution_shift import PromptValues, shift


def drawn(prompts_a: list[int], prompts_b: list[int]) -> PromptDraws:
    """Of prompts by these keys."""
    return PromptDraws(np.array(prompts_a, np.int64), np.array(prompts_b, np.int64), -1)


def test_means_and_intervals_are_those_of_one_number() -> None:
    """Each column by itself as `distribution_shift` has it; the largest effect first, whatever the units."""
    rng = np.random.default_rng(0)
    prompts = [at // 4 for at in range(80)]
    draws = drawn(prompts, prompts)
    a, b = (pd.DataFrame({"small": rng.normal(at, 1, 80), "large": rng.normal(1_000 * at, 9_000, 80)}) for at in range(2))

    found = mean_differences(a, b, ["large", "small"], draws).set_index("number")

    assert found.index.tolist() == ["small", "large"]
    for name in ("small", "large"):
        keys = np.array(prompts, np.int64)
        expected = shift(PromptValues(a[name].to_numpy(), keys), PromptValues(b[name].to_numpy(), keys), -1).mean
        row = found.loc[name]
        assert [row["difference"], row["low"], row["high"]] == pytest.approx([expected.value, expected.low, expected.high])
        spread = np.sqrt((a[name].var(ddof=0) + b[name].var(ddof=0)) / 2)
        assert row["effect"] == pytest.approx(row["difference"] / spread)


@pytest.mark.filterwarnings("error")
def test_what_is_missing() -> None:
    """A number that either lacks has no row; rollouts without it are not counted; of one prompt, or of what never varies, less is told."""
    a = pd.DataFrame(
        {"some": [1.0, np.nan, 3.0], "one": [1.0, np.nan, np.nan], "same": [2.0] * 3, "lacking": [np.nan] * 3, "x": 0}
    )
    b = pd.DataFrame({"some": [2.0, 5.0, np.inf], "one": [1.0, 2.0, 3.0], "same": [2.0] * 3, "lacking": [1.0] * 3})

    found = mean_differences(a, b, ["some", "one", "same", "lacking", "x", "y"], drawn([0, 1, 2], [0, 1, 2]))
    by_number = found.set_index("number").to_dict("index")

    assert [*found.columns] == list(MEANS)
    assert {*by_number} == {"one", "same", "some"}
    assert [by_number["some"][name] for name in ("a", "b", "rollouts_a", "rollouts_b")] == [2, 3.5, 2, 2]
    assert np.isnan(by_number["one"]["low"])
    assert (by_number["same"]["difference"], by_number["same"]["low"]) == (0, 0)
    assert np.isnan(by_number["same"]["effect"])
    assert mean_differences(a, b, ["y"], drawn([0, 1, 2], [0, 1, 2])).empty
