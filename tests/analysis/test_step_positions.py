"""Where steps lie on an axis that runs share."""

import numpy as np
import pandas as pd
import pytest

from board.analysis.steps.step_positions import Axis, positions
from board.errors import FieldMissing
from board.metrics.step_sums import Steps

FRAME = pd.DataFrame(
    {
        "step": [2, 2, 5, 5, 5, 9],
        "response_length": [10.0, 20.0, 4.0, np.nan, 8.0, np.nan],
        "timestamp_ms": [1.7e12, 1.7e12 + 2_000, 1.7e12 + 60_000, np.nan, 1.7e12 + 62_000, 1.7e12 + 31_000],
    }
)

PLACES: dict[Axis, list[float]] = {"step": [2, 5, 9], "rollouts": [2, 5, 6], "tokens": [30, 48, 48], "time": [0, 60, 60]}


@pytest.mark.parametrize("axis", PLACES)
def test_positions(axis: Axis) -> None:
    """Never falling: a length that is missing counts as its step's others, a clock that runs back stands still."""
    assert positions(FRAME, Steps(FRAME["step"].to_numpy()), axis).tolist() == PLACES[axis]


@pytest.mark.parametrize("axis", ["tokens", "time"])
def test_what_the_run_does_not_tell(axis: Axis) -> None:
    """It is said which column would be needed."""
    with pytest.raises(FieldMissing, match="This needs"):
        positions(FRAME[["step"]], Steps(FRAME["step"].to_numpy()), axis)


def test_a_clock_that_nobody_set() -> None:
    """A column without a number places no step."""
    frame = FRAME.assign(timestamp_ms=np.nan)

    assert np.isnan(positions(frame, Steps(frame["step"].to_numpy()), "time")).all()
