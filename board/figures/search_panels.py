"""What a search found, step by step: in how many rollouts, and what they earn beside the rest. Frame in, panels of curves out."""

import pandas as pd

from board.figures.curve_panel import CurvePanel
from board.figures.curves import CurveSeries, step_panel
from board.figures.theme import COLORS


def share_panel(found: pd.DataFrame) -> CurvePanel:
    """The share of rollouts with a hit, of a frame of `board.analysis.text_search.by_step`. Raises FieldMissing where there is no step."""
    stats = pd.DataFrame({"mean": found["share"] * 100, "count": found["rollouts"]})
    return step_panel(
        [CurveSeries("with it", stats, COLORS["policy"])], title="In how many rollouts does it stand?", unit="% of rollouts"
    )


def reward_panel(found: pd.DataFrame) -> CurvePanel:
    """The mean reward of rollouts with a hit, and of the rest, of the same frame. Raises FieldMissing where there is no reward."""
    with_hit = pd.DataFrame({"mean": found["with_hit"], "count": found["hits"]})
    rest = pd.DataFrame({"mean": found["without"], "count": found["rollouts"] - found["hits"]})
    series = [CurveSeries("with it", with_hit, COLORS["policy"]), CurveSeries("the rest", rest, COLORS["reference"])]
    return step_panel(series, title="Does it pay?", unit="mean reward")
