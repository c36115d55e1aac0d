"""The curve of one run's distance from another: what is drawn of a frame."""

import numpy as np
import pandas as pd

from board.figures.pair_panels import difference_panel


def test_the_difference_with_its_interval() -> None:
    """Every step has its difference, its interval and how many prompts it is of; zero is on the axis."""
    by_step = pd.DataFrame(
        {"step": [3, 7], "difference": [0.5, 1.0], "low": [np.nan, 0.5], "high": [np.nan, 1.5], "prompts": [1, 4]}
    )

    panel = difference_panel(by_step, title="How far?", unit="nats", color="#12908a")

    (curve,) = panel.curves
    assert (panel.from_zero, panel.unit, curve.steps.tolist(), curve.count.tolist()) == (True, "nats", [3, 7], [1, 4])
    np.testing.assert_array_equal([curve.line, curve.low, curve.high], [[0.5, 1.0], [np.nan, 0.5], [np.nan, 1.5]])
