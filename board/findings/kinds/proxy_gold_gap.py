"""The training reward rises while the validation reward of the same rollouts falls or stands: the reward is being exploited, not earned."""

from typing import Final

import numpy as np

from board.findings.change_points import LEAST_AFTER, LEAST_BEFORE
from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.kinds.length_exploitation import gain_since
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt

_EDGE: Final = 0.2
"""The share of the steps at the beginning whose rollouts tell how a reward is spread."""
_SURE: Final = 2.0
"""Standard errors beyond which a gain is one."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    proxy, gold = dossier.number("reward"), dossier.number("valid_reward")
    both = np.isfinite(proxy) & np.isfinite(gold)
    if len(np.unique(dossier.steps.row[both])) < LEAST_BEFORE + LEAST_AFTER:
        return CannotTell("too few steps have rollouts with both rewards")
    if np.array_equal(proxy[both], gold[both]):
        return None
    # both in units of the spread between rollouts at the run's beginning, so that two scales can be compared
    apart = _scored(dossier, proxy, both) - _scored(dossier, gold, both)
    gap = dossier.curve_of(dossier.like_for_like(apart))
    turn = gap.turn()
    if turn is None or turn.z < limits["z"] or turn.change < limits["gap"]:
        return None
    rose, fell = (gain_since(dossier, np.where(both, values, np.nan), turn.at) for values in (proxy, gold))
    if not (rose.z > _SURE >= fell.z):  # NaN, too, where the end or the beginning has neither
        return None
    since = dossier.since(turn.at) & both
    effect = f"from step {turn.step} the reward rises by {fmt(rose.size)} while the validation reward of the same rollouts "
    effect += f"falls by {fmt(-fell.size)}" if fell.size < 0 else f"stands (rises by {fmt(fell.size)})"
    shown = dossier.clearest(since & (apart > np.nanmedian(apart)), apart)
    return Found.since(dossier, turn.at, effect, "gap", turn.change, turn.z, shown)


def _scored(dossier: Dossier, values: Float64Array, both: np.ndarray) -> Float64Array:
    """Values in standard deviations from their mean, over the first steps' rollouts, or over all where those do not vary."""
    first = both & ~dossier.since(max(LEAST_BEFORE, round(_EDGE * len(dossier.steps.numbers))))
    held = values[first] if first.any() and values[first].std() > 0 else values[both]
    spread = float(held.std()) if len(held) else 0.0
    return np.where(both, (values - held.mean()) / (spread if spread > 0 else 1.0), np.nan)


KIND: Final = declared("proxy_gold_gap", _look)
