"""Where metrics first leave their healthy range."""

import numpy as np
import pandas as pd
import pytest

from board.analysis.steps.highlights import range_departures


def by_step(**values: list[float]) -> pd.DataFrame:
    """Values by step from 10 on; two underscores stand for the slash of a key."""
    frame = pd.DataFrame({key.replace("__", "/"): column for key, column in values.items()})
    return frame.set_axis(pd.Index(range(10, 10 + len(frame)), name="step"))


DEPARTURES: dict[str, tuple[pd.DataFrame, list[tuple[int, str]]]] = {
    "above, at two steps": (
        by_step(groups__zero_std_share=[0.1, 0.6, 0.2, 0.75]),
        [(11, "groups/zero_std_share is 0.600 at step 11, 0.500 at most is healthy, as in 1 other step")],
    ),
    "below": (by_step(mismatch__ess=[0.9, 0.2]), [(11, "mismatch/ess is 0.200 at step 11, 0.300 at least is healthy")]),
    "either side": (by_step(mismatch__kl=[-0.5]), [(10, "mismatch/kl is -0.500 at step 10, -0.100 to 0.100 is healthy")]),
    "two, in the order of steps": (
        by_step(mismatch__ess=[0.9, 0.2], groups__zero_std_share=[0.8, 0.1]),
        [
            (10, "groups/zero_std_share is 0.800 at step 10, 0.500 at most is healthy"),
            (11, "mismatch/ess is 0.200 at step 11, 0.300 at least is healthy"),
        ],
    ),
    "at the bound": (by_step(groups__zero_std_share=[0.5]), []),
    "nothing known": (by_step(groups__zero_std_share=[np.nan]), []),
    "below 0 for long, each value within the range": (
        by_step(kl__k1_sum_mean=[0.2] + [-0.5] * 12),
        [(11, "kl/k1_sum_mean is -0.500 at step 11, below 0 for 12 steps in a row or more, as in 11 other steps")],
    ),
    "below 0 for a while": (by_step(kl__k1_sum_mean=[-0.5] * 11 + [0.1] + [-0.5] * 11), []),
    "below 0 for long, with gaps": (
        by_step(kl__k1_mean=[-0.5, np.nan] * 12),
        [(10, "kl/k1_mean is -0.500 at step 10, below 0 for 12 steps in a row or more, as in 11 other steps")],
    ),
    "at a bound that is outside": (
        by_step(update__ratio_mean=[1.0, 2.0, 0.1]),
        [(11, "update/ratio_mean is 2 at step 11, between 0.100 and 2 is healthy, as in 1 other step")],
    ),
    "within bounds that are outside": (by_step(update__ratio_mean=[1.999, 0.101]), []),
    "0 from a step on": (
        by_step(update__objective_clip_share=[0.1, 0.0, 0.2, *[0.0] * 5]),
        [
            (
                13,
                "update/objective_clip_share is 0 at step 13, exactly 0 from here to the end, after values above 0, as in 4 other steps",
            )
        ],
    ),
    "0 at all steps": (by_step(update__objective_clip_share=[0.0] * 20), []),
    "0 for a while": (by_step(update__objective_clip_share=[0.1, *[0.0] * 9, 0.1]), []),
    "a loss that spikes": (
        by_step(loss__value=[0.4, 0.5, 0.3, 0.4, 0.5, 0.4, 9.0, 0.4]),
        [(16, "loss/value is 9 at step 16, more than 5 times the median of the steps before")],
    ),
    "a loss that falls, and is noisy": (by_step(loss__value=[9.0, 5.0, 3.0, 2.0, 1.0, 0.2, 0.9, 0.1, 0.4, 0.3, 0.9]), []),
    "a loss that is large at first": (by_step(loss__value=[90.0, 0.5, 0.3, 0.4, 0.5, 0.4]), []),
    "no range": (by_step(reward__mean=[-1e9]), []),
    "no metric of the catalogue": (by_step(column__own__mean=[1e9]), []),
    "no step": (by_step(groups__zero_std_share=[]), []),
}


@pytest.mark.parametrize("name", DEPARTURES)
def test_departures(name: str) -> None:
    """The first step at which a metric is not healthy is named with its value, the bound, and how many more there are."""
    values, expected = DEPARTURES[name]

    found = range_departures(values)

    assert [(one.step, one.text) for one in found] == expected
    assert {one.kind for one in found} <= {"warning"}
