"""Draws panels of curves over steps, all of a page in one component.

`vendored/` holds uPlot, the library they are drawn with on a canvas.
"""

from board.ui.components.curves.face import choose, show
from board.ui.components.curves.payload import Card, CurveAxis, CurveMark, CurvesPayload, Texts, build

__all__ = ["Card", "CurveAxis", "CurveMark", "CurvesPayload", "Texts", "build", "choose", "show"]
