"""Panels in which runs are laid over each other."""

import numpy as np
import pandas as pd
import pytest

from board.analysis.compare.overlay_lines import OverlayLine
from board.analysis.compare.run_overlay import CURVE
from board.errors import FieldMissing
from board.figures.curves import Healthy
from board.figures.overlay_panel import BAND, NO_BAND, SEEDS, overlay_panel


def line(name: str, values: list[float], color: str = "#12908a", counted: int = 0, half: float = 0.5) -> OverlayLine:
    """A line over places 0.5, 1.5, ..."""
    value = np.array(values, np.float64)
    at = np.arange(len(values)) + 0.5
    curve = pd.DataFrame({"at": at, "step": range(len(values)), "value": value, "low": value - half, "high": value + half})
    return OverlayLine(name, color, curve[list(CURVE)], (0,), counted)


def test_each_run_is_a_line_of_its_own() -> None:
    """The first on top, at its places; what is shown is said. Lines of one colour differ in their dashes."""
    panel = overlay_panel([line("a", [1, 2]), line("b", [3, 4], "#d9730d"), line("c", [5, 6])], title="T", unit="reward")
    assert [curve.name for curve in panel.curves] == ["c", "b", "a"]
    assert panel.curves[-1].steps.tolist() == [0.5, 1.5]
    assert panel.curves[-1].low.tolist() == [0.5, 1.5]
    assert [curve.dash for curve in panel.curves] == ["dot", "solid", "solid"]
    assert (panel.drawn, panel.runs, panel.from_zero) == (BAND, True, False)


def test_bands_can_be_left_out_and_are_not_promised_without_one() -> None:
    """Of what is no mean there is none; of seeds there is one in any case."""
    bare = overlay_panel([line("a", [1, 2])], title="", band=False)
    assert np.isnan(bare.curves[0].low).all()
    assert bare.drawn == ""
    assert overlay_panel([line("a", [1, 2], half=np.nan)], title="").drawn == NO_BAND
    seeds = overlay_panel([line("a", [1, 2], counted=3)], title="", band=False, smoothing=0.5)
    assert seeds.curves[0].name == "a (3 runs)"
    assert np.isfinite(seeds.curves[0].low).all()
    assert seeds.drawn == f"{SEEDS} · smoothed 0.5"


def test_few_lines_are_shown_before_smoothing() -> None:
    """Of many the smoothed ones alone."""
    for count, told in ((3, True), (4, False)):
        panel = overlay_panel([line(f"{at}", [1, 2, 5]) for at in range(count)], title="", smoothing=0.5)
        assert [bool((one.raw != one.line).any()) for one in panel.curves] == [told] * count


def test_differences_have_zero_on_a_linear_axis() -> None:
    """And neither a healthy range nor a logarithm."""
    panel = overlay_panel([line("b", [-1, 2])], title="", baseline="a", log=True, healthy=Healthy(0.0, 1.0), notes=["", "N."])
    assert (panel.from_zero, panel.log, panel.healthy, panel.note) == (True, False, None, "N.")
    assert panel.drawn.startswith("minus a · ")
    assert panel.curves[0].line.tolist() == [-1, 2]


def test_what_is_not_above_zero_has_no_place_on_a_logarithmic_axis() -> None:
    """It is missing there."""
    (curve,) = overlay_panel([line("a", [-1, 2])], title="", log=True).curves
    assert np.isnan(curve.line[0])
    with pytest.raises(FieldMissing):
        overlay_panel([line("a", [np.nan])], title="")
    with pytest.raises(FieldMissing):
        overlay_panel([], title="")
