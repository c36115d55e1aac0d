"""The same text, or the same final answer, to the same prompt gets different rewards: a verifier that contradicts itself."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.outbreaks import beyond, outbreak
from board.metrics.formulas import Float64Array
from board.text.counting import plural
from board.text.format_number import fmt

_LEAST_TWINS: Final = 20
"""From fewer rollouts that have an equal nothing is told."""
_ROUNDING: Final = 1e-6
"""Rewards of equal texts differ where they are farther apart than this share of the range of rewards."""
_OPPOSITE: Final = 0.5
"""Rewards of equal answers do where they are this share of it apart: a penalty on length or form is less than half of what is paid."""
_FEW_VALUES: Final = 12
_BETWEEN: Final = 0.2
"""Share of rewards in the middle half of their range from which on they are degrees: an even spread has half of them there."""
_BY_LENGTH: Final = 0.5
"""Correlation of reward and length among equal answers from which on the length is what is paid for."""


@dataclass(frozen=True)
class Twins:
    """Rollouts with equals in their group. Arrays of (rows,)."""

    has: NDArray[np.bool_]
    """Has an equal, and a reward."""
    first: NDArray[np.bool_]
    """Is the first of its equals."""
    contradicted: NDArray[np.bool_]
    """Its equals do not all have about its reward."""
    off: Float64Array
    """Distance of its reward from the median of its equals', its own included; 0 where it has none."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    rewards = dossier.number("reward")
    known = rewards[np.isfinite(rewards)]
    if not len(known):
        return CannotTell("no rollout has a reward")
    low, high = np.quantile(known, (0.02, 0.98))
    extent = float(high - low) or float(np.ptp(known))
    groups = _of_one_prompt(dossier)
    texts = twins(groups, dossier.number("response_digest"), rewards, _ROUNDING * extent)
    answers = twins(groups, dossier.number("answer_digest"), rewards, _OPPOSITE * extent)
    enough = [(what, some) for what, some in (("text", texts), ("final answer", answers)) if some.has.sum() >= _LEAST_TWINS]
    if not enough:
        return CannotTell(f"fewer than {_LEAST_TWINS} rollouts have an equal response or final answer in their group")
    judge_is_sure = texts.has.sum() >= _LEAST_TWINS and texts.contradicted.sum() < limits["text"] * texts.has.sum()
    if judge_is_sure or not is_verdict(known, low, extent) or _is_paid_by_length(dossier, answers, rewards):
        # the same text is always paid the same, longer ones more, or all by degrees: what differs between equal answers is paid for by rule
        enough = [(what, some) for what, some in enough if what == "text"]
    found = [_found(dossier, what, some, limits) for what, some in enough]
    return max((one for one in found if one is not None), key=lambda one: one.strength, default=None)


def is_verdict(rewards: Float64Array, low: float, extent: float) -> bool:
    """Whether (n,) rewards are verdicts, with something added or not, rather than the degrees of a reward model: few values, or two ends."""
    if not extent > 0:
        return False
    place = (rewards - low) / extent
    between = float(((place > 0.25) & (place < 0.75)).mean())
    return len(np.unique(np.round(place, 3))) <= _FEW_VALUES or between <= _BETWEEN


def _of_one_prompt(dossier: Dossier) -> NDArray[np.int64]:
    """(rows,) equal numbers are rollouts of one prompt in one step."""
    prompts = np.unique(dossier.prompts, return_inverse=True)[1].ravel()
    return dossier.steps.row * (int(prompts.max(initial=0)) + 1) + prompts


def twins(groups: NDArray[np.int64], digests: Float64Array, rewards: Float64Array, tolerance: float) -> Twins:
    """Which of (n,) rollouts have an equal digest in their group, and which of those are contradicted by more than `tolerance`."""
    has, first, contradicted = (np.zeros(len(groups), np.bool_) for _ in range(3))
    off = np.zeros(len(groups))
    scored = np.flatnonzero(np.isfinite(digests) & np.isfinite(rewards))
    order = scored[np.lexsort([rewards[scored], digests[scored], groups[scored]])]
    g, d, r = groups[order], digests[order], rewards[order]
    firsts = np.flatnonzero(np.concatenate([[True], (g[1:] != g[:-1]) | (d[1:] != d[:-1])])) if len(order) else order
    sizes = np.diff(np.append(firsts, len(order)))
    apart = (sizes > 1) & (r[firsts + sizes - 1] - r[firsts] > tolerance)
    median = (r[firsts + (sizes - 1) // 2] + r[firsts + sizes // 2]) / 2
    has[order], contradicted[order] = np.repeat(sizes > 1, sizes), np.repeat(apart, sizes)
    off[order] = np.abs(r - np.repeat(median, sizes))
    first[order[firsts[sizes > 1]]] = True
    return Twins(has, first, contradicted, off)


def _is_paid_by_length(dossier: Dossier, answers: Twins, rewards: Float64Array) -> bool:
    """Whether, among contradicted equal answers, reward goes with length inside groups."""
    length = dossier.number("response_length")
    length = np.where(np.isfinite(length), length, dossier.number("response_chars"))
    marked = answers.contradicted & np.isfinite(length)
    x, y = (dossier.within_groups(np.where(marked, one, np.nan)) for one in (length, rewards))
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < _LEAST_TWINS or not (x[both].any() and y[both].any()):
        return False
    return bool(abs(np.corrcoef(x[both], y[both])[0, 1]) > _BY_LENGTH)


def _found(dossier: Dossier, what: str, some: Twins, limits: Limits) -> Found | None:
    limit = "text" if what == "text" else "answer"
    begun = outbreak(dossier.steps, some.contradicted, some.has, usual=limits[limit] / 2)
    if begun is None or begun.share < limits[limit]:
        return None
    since = dossier.since(begun.at)
    # equals are one case: a single one that is paid otherwise contradicts them all
    sets, wrong = (int((some.first & since & one).sum()) for one in (some.has, some.contradicted))
    z, marks = beyond(wrong, sets, max(limits[limit] / 2, begun.before)), some.contradicted & since
    if z < limits["z"]:
        return None
    # of two that contradict each other either may be wrong; of more, the odd one out
    odd = np.where(some.off > 0, some.off, -1.0)
    effect = f"from step {begun.step} on {fmt(100 * begun.share)} % of the rollouts that have the same {what} as another of their group "
    effect += f"({plural(begun.count, 'rollout')}){dossier.ranks_told(marks)} are rewarded differently from it"
    return Found(effect, begun.step, begun.last_step, limit, begun.share, z, dossier.clearest(marks & (odd > 0), odd))


KIND: Final = declared("verifier_noise", _look)
