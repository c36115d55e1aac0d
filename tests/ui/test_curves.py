"""What travels to the browser for curves: their numbers once, NaN where missing, and what the browser needs to draw them."""

import json
import math

import numpy as np
import pandas as pd
from drawn_panels import of_payload

from board.figures.curves import CurvePanel, CurveSeries, Healthy, step_panel
from board.figures.metric_panel import PanelLine, metric_curves
from board.ui.components.curves import Card, CurvesPayload, Texts, build

STATS = pd.DataFrame(
    {"mean": [1.0, math.nan, 3.0], "std": [0.5, math.nan, math.inf], "count": [2, 0, 2]}, index=pd.Index([0, 1, 5], name="step")
)


def panel(name: str = "policy", **choices: object) -> CurvePanel:
    """A panel of one curve."""
    return step_panel([CurveSeries(name, STATS, "#12908a")], title="T", unit="reward", **choices)  # type: ignore[arg-type]


def payload(*panels: CurvePanel) -> CurvesPayload:
    """The panels on a page of the steps 0 to 9."""
    return build([Card(str(at), one) for at, one in enumerate(panels)], span=(0, 9))


def test_numbers_are_those_of_the_panel() -> None:
    """Line, band and count as they are; what is not there, or not finite, is NaN."""
    (sent,) = of_payload(payload(panel(band="std")))

    curve = sent.curves["policy"]
    assert curve["steps"].tolist() == [0, 1, 5]
    np.testing.assert_array_equal(curve["values"], [1, math.nan, 3])
    np.testing.assert_array_equal(curve["low"], [0.5, math.nan, math.nan])
    np.testing.assert_array_equal(curve["high"], [1.5, math.nan, math.nan])
    assert (sent.sent["title"], sent.sent["unit"], sent.sent["drawn"]) == ("T", "reward", "mean ± std")


def test_equal_arrays_travel_once() -> None:
    """Steps that panels share are among the numbers once, and so is a curve that two of them draw."""
    one, two = payload(panel()), payload(panel(), panel())

    assert two.data["numbers"].num_rows == one.data["numbers"].num_rows
    assert len(of_payload(two)) == 2


def test_the_rest_is_json() -> None:
    """Nothing but the table of numbers is what JSON cannot hold, NaN among it, and nothing in the table is null."""
    healthy = Healthy(0.0, None, (3, math.nan))
    line = PanelLine("rollouts", np.array([0, 3]), np.array([0.5, math.nan]), logged=False)
    made = payload(metric_curves([line], "kl", healthy=healthy))

    assert json.loads(json.dumps(made.data["meta"], allow_nan=False))["cards"][0]["departure"] is None
    assert made.data["numbers"].column(0).null_count == 0


def test_the_page_reaches_over_all_its_curves() -> None:
    """A curve of a tracker that goes further than the run makes the axis longer for all panels."""
    line = PanelLine("wandb", np.array([3, 40]), np.array([0.5, 1.0]), logged=True)

    assert payload(panel()).data["meta"]["span"] == [0, 9]
    assert payload(panel(), metric_curves([line], "kl")).data["meta"]["span"] == [0, 40]


def test_another_number_is_another_stamp() -> None:
    """The browser draws anew what has another stamp, and nothing else."""
    first, again = payload(panel()), payload(panel())
    smoothed, said = payload(panel(smoothing=0.5)), build([Card("0", panel(), Texts(gloss="x"))], span=(0, 9))

    stamps = [one.data["meta"]["stamp"] for one in (first, again, smoothed, said)]
    assert stamps[0] == stamps[1]
    assert len(set(stamps)) == 3


def test_lines_of_trackers_lie_below_and_are_dashed() -> None:
    """The board's own comes last, so that it is drawn over the others."""
    lines = [
        PanelLine("rollouts", np.array([0, 1]), np.array([1.0, 2.0]), logged=False),
        PanelLine("wandb", np.array([0, 1]), np.array([1.0, 2.0]), logged=True),
    ]
    (sent,) = of_payload(payload(metric_curves(lines, "reward")))

    assert [(one["name"], bool(one["dash"])) for one in sent.sent["curves"]] == [("wandb", True), ("rollouts", False)]


def test_no_panel_is_no_number() -> None:
    """A page without curves has an empty table."""
    assert payload().data["numbers"].num_rows == 0
    assert payload().keys == ()
