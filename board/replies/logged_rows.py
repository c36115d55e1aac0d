"""What trackers hold of a run, a row a scalar, with its curve where that is asked for. What was read in, a part of a reply out."""

from collections.abc import Sequence

import numpy as np

from board.analysis.logged_curves import Logged, Scalars
from board.replies.contract import LoggedReply, LoggedScalarReply
from board.text.path_names import shown


def logged(scalars: Scalars, curves_of: Sequence[str] = ()) -> LoggedReply | None:
    """All of it; with `curves_of` the scalars of these names or keys alone, with all their values. None where there is nothing to say."""
    if not (scalars.sources or scalars.problems):
        return None
    chosen = [one for one in scalars.logged if not curves_of or one.name in curves_of or one.key in curves_of]
    texts = {} if curves_of else {one.name: list(one.texts.values())[-1] for one in scalars.texts}
    others = [] if curves_of else list(scalars.others)
    return LoggedReply([_row(one, with_curve=bool(curves_of)) for one in chosen], texts, others, list(scalars.problems))


def _row(one: Logged, *, with_curve: bool) -> LoggedScalarReply:
    steps, values = one.curve.steps, one.curve.values
    sound = np.flatnonzero(np.isfinite(values))
    low, high = (int(sound[pick(values[sound])]) if len(sound) else None for pick in (np.argmin, np.argmax))
    return LoggedScalarReply(
        name=one.name,
        key=one.key,
        tracker=one.source.tracker,
        source=shown(one.source.path.name),
        meaning=one.metric.meaning.en if one.metric else "",
        steps=len(steps),
        first=float(values[0]),
        last=float(values[-1]),
        lowest=float("nan") if low is None else float(values[low]),
        lowest_step=None if low is None else int(steps[low]),
        highest=float("nan") if high is None else float(values[high]),
        highest_step=None if high is None else int(steps[high]),
        curve=list(zip(steps.tolist(), values.tolist(), strict=True)) if with_curve else [],
    )
