"""What no sound run has at all: rows of an earlier step again, arrays read a token late, a verifier that contradicts itself.

`board.findings.spreading` finds from which step on there are such rollouts, and how far beyond chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.logprob_lags import PAIRS, column
from board.analysis.stats.length_attribution import correlation
from board.findings.answers import lengths
from board.findings.checks.contract import Severity
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Limits, declared
from board.findings.spreading import beyond, judged, outbreak
from board.metrics.formulas import Float64Array
from board.schema import title
from board.text.counting import plural
from board.text.format_number import fmt

_LEAST_TOKENS: Final = 8
"""Equal logprobs of so many tokens are no chance, unless the policy stood still and sampled nothing."""
_LEAST_CHARS: Final = 60
"""Shorter texts are written twice."""
_LEAST_PAIRS: Final = 100
"""Pairs of rollouts of one prompt and step that tell how often two responses are equal."""
_PRIOR: Final = 0.2
"""Equal pairs that there might have been where none was."""


def _look_for_stale(context: Context, limits: Limits) -> Answer:
    arrays, texts = context.number("array_digest"), context.number("response_digest")
    long_arrays = np.isfinite(arrays) & (context.number("response_length") >= _LEAST_TOKENS)
    long_texts = np.isfinite(texts) & (context.number("response_chars") >= _LEAST_CHARS)
    candidates = [
        ("text and logprobs" if np.isfinite(texts).any() else "logprobs", long_arrays, arrays),
        ("text", long_texts, texts),
    ]
    if not any(known.any() for _, known, _ in candidates):
        return CannotTell(f"no response has {_LEAST_TOKENS} tokens with logprobs, or {_LEAST_CHARS} characters")
    found = (_again(context, what, known, digests, limits) for what, known, digests in candidates if known.any())
    return next((one for one in found if one is not None), None)


def _again(context: Context, what: str, known: NDArray[np.bool_], digests: Float64Array, limits: Limits) -> Found | None:
    age = ages(context.steps.row, context.prompts, np.where(known, digests, np.nan))
    marks = age > 0
    begun = judged(context, marks, known, limits)
    if begun is None:
        return None
    strength = min(begun.z, _beyond_chance(context, np.where(known, digests, np.nan), marks, by_text=what == "text"))
    if strength < limits["z"]:
        return None
    marks &= context.since(begun.at)
    effect = f"from step {begun.step} on {fmt(100 * begun.share)} % of the rollouts ({plural(begun.count, 'rollout')})"
    effect += f"{context.in_rank(marks)} are those of an earlier step again, the same in {what}; typically of "
    effect += f"{plural(round(float(np.median(age[marks]))), 'step')} before"
    severity: Severity | None = "note" if begun.at <= 1 else None
    return replace(begun, z=strength).found(effect, context.clearest(marks), severity=severity)


def ages(step: NDArray[np.int64], prompts: NDArray[np.int64], digests: Float64Array) -> NDArray[np.int64]:
    """How many steps ago an equal rollout of the same prompt was there last, 0 where there was none before. All (n,); NaN equals nothing."""
    known, found = np.isfinite(digests), np.zeros(len(step), np.int64)
    table = pd.DataFrame({"prompt": prompts, "digest": digests, "step": step})[known]
    visits = table.drop_duplicates().sort_values("step")
    visits = visits.assign(age=visits.groupby(["prompt", "digest"])["step"].diff().fillna(0))
    found[known] = table.merge(visits, "left")["age"]
    return found


def _beyond_chance(context: Context, digests: Float64Array, marks: NDArray[np.bool_], *, by_text: bool) -> float:
    """How far the repeats go beyond those that chance makes, in standard errors: equals of one prompt in one step tell how often it does."""
    known = np.isfinite(digests)
    within = _pairs(context.prompts[known], context.steps.row[known])
    equal = _pairs(context.prompts[known], context.steps.row[known], digests[known])
    across = _pairs(context.prompts[known]) - within
    if by_text and within < _LEAST_PAIRS:
        return 0.0  # without groups it is unknown how often a policy says the same twice: greedy decoding always does
    expected = across * (equal + (_PRIOR if by_text else 0.0)) / (within + 1)
    return float((marks.sum() - expected) / np.sqrt(expected + 1))


def _pairs(*columns: NDArray[np.generic]) -> float:
    """How many pairs of rows are equal in every column."""
    sizes = pd.DataFrame(np.stack(columns, axis=1)).value_counts().to_numpy(np.float64)
    return float((sizes * (sizes - 1) / 2).sum())


_LEAST_APART: Final = 0.1
"""Nats: arrays that are nearer to each other are not misaligned, whatever a neighbour does."""
_SHOWN: Final = 20
"""So many rollouts have a token shown."""


def _look_for_shifts(context: Context, limits: Limits) -> Answer:
    lags = {pair: _lag(context, pair, limits["ratio"]) for pair in PAIRS}
    known = np.any([np.isfinite(lag) for lag in lags.values()], axis=0)
    if not known.any():
        return CannotTell(f"no rollout has two arrays of logprobs of {_LEAST_TOKENS} tokens")
    shifted = {pair: np.nan_to_num(lag) != 0 for pair, lag in lags.items()}
    marks = np.any(list(shifted.values()), axis=0)
    begun = judged(context, marks, known, limits)
    if begun is None:
        return None
    marks &= context.since(begun.at)
    pairs = sorted(PAIRS, key=lambda pair: -int((shifted[pair] & marks).sum()))
    most = pairs[0]
    late = "late" if np.nansum(lags[most][marks]) > 0 else "early"
    ours, theirs = (title(name) for name in PAIRS[most])
    apart = context.number(column(most, 0))
    keys = context.clearest(marks & shifted[most], apart)
    effect = f"from step {begun.step} on {theirs} agrees with {ours} best when read a token {late}, in {fmt(100 * begun.share)} % of the "
    effect += f"rollouts ({plural(begun.count, 'rollout')}){context.in_rank(marks)}: as they are, they are "
    nearest = np.fmin(*(context.number(column(most, lag)) for lag in (-1, 1)))
    effect += (
        f"{fmt(float(np.nanmean(apart[marks])))} nats per token apart, and {fmt(float(np.nanmean(nearest[marks])))} when read so"
    )
    return begun.found(effect, keys, tokens=_tokens(context, keys[:_SHOWN], *PAIRS[most]))


def _lag(context: Context, pair: str, ratio: float) -> Float64Array:
    """The lag at which a pair's arrays are much nearer to each other than as they are, 0 where they are not, NaN where it is unknown."""
    own, before, after = (context.number(column(pair, lag)) for lag in (0, -1, 1))
    known = np.isfinite(own) & (context.number("response_length") >= _LEAST_TOKENS)
    nearest = np.fmin(before, after)
    shifted = known & (own > _LEAST_APART) & (nearest < ratio * own)
    return np.where(known, np.where(shifted, np.where(after <= before, 1.0, -1.0), 0.0), np.nan)


def _tokens(context: Context, keys: NDArray[np.int64], ours: str, theirs: str) -> Sequence[tuple[int, int]]:
    """Of each of some rollouts the token at which the arrays are farthest apart."""
    found = []
    for key in keys.tolist():
        x, y = (context.run.numbers_of(key, name) for name in (ours, theirs))
        if x is not None and y is not None:
            apart = np.abs(x - y)
            found.append((key, int(np.where(np.isfinite(apart), apart, -1).argmax())))
    return found


_LEAST_TWINS: Final = 20
"""With fewer rollouts that have an equal one the check says nothing."""
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


def _look_for_contradictions(context: Context, limits: Limits) -> Answer:
    rewards = context.number("reward")
    known = rewards[np.isfinite(rewards)]
    if not len(known):
        return CannotTell("no rollout has a reward")
    low, high = np.quantile(known, (0.02, 0.98))
    extent = float(high - low) or float(np.ptp(known))
    # equal numbers are rollouts of one prompt in one step
    groups = context.clusters.of_rows
    texts = twins(groups, context.number("response_digest"), rewards, _ROUNDING * extent)
    answers = twins(groups, context.number("answer_digest"), rewards, _OPPOSITE * extent)
    enough = [(what, some) for what, some in (("text", texts), ("final answer", answers)) if some.has.sum() >= _LEAST_TWINS]
    if not enough:
        return CannotTell(f"fewer than {_LEAST_TWINS} rollouts have an equal response or final answer in their group")
    judge_is_sure = texts.has.sum() >= _LEAST_TWINS and texts.contradicted.sum() < limits["text"] * texts.has.sum()
    if judge_is_sure or not is_verdict(known, low, extent) or _is_paid_by_length(context, answers, rewards):
        # the same text is always paid the same, longer ones more, or all by degrees: what differs between equal answers is paid for by rule
        enough = [(what, some) for what, some in enough if what == "text"]
    found = [_found_contradicted(context, what, some, limits) for what, some in enough]
    return max((one for one in found if one is not None), key=lambda one: one.strength, default=None)


def is_verdict(rewards: Float64Array, low: float, extent: float) -> bool:
    """Whether (n,) rewards are verdicts, with something added or not, rather than the degrees of a reward model: few values, or two ends."""
    if not extent > 0:
        return False
    place = (rewards - low) / extent
    between = float(((place > 0.25) & (place < 0.75)).mean())
    return len(np.unique(np.round(place, 3))) <= _FEW_VALUES or between <= _BETWEEN


def twins(groups: NDArray[np.int64], digests: Float64Array, rewards: Float64Array, tolerance: float) -> Twins:
    """Which of (n,) rollouts have an equal digest in their group, and which of those are contradicted by more than `tolerance`."""
    known, off = np.isfinite(digests) & np.isfinite(rewards), np.zeros(len(groups))
    has, first, contradicted = (np.zeros(len(groups), np.bool_) for _ in range(3))
    table = pd.DataFrame({"group": groups, "digest": digests, "reward": rewards})[known]
    equals = table.groupby(["group", "digest"])["reward"]
    several = equals.transform("size") > 1
    has[known], first[known] = several, several & (equals.cumcount() == 0)
    contradicted[known] = several & (equals.transform("max") - equals.transform("min") > tolerance)
    off[known] = (table["reward"] - equals.transform("median")).abs()
    return Twins(has, first, contradicted, off)


def _is_paid_by_length(context: Context, answers: Twins, rewards: Float64Array) -> bool:
    """Whether, among contradicted equal answers, reward goes with length inside groups."""
    length = lengths(context)[0]
    marked = answers.contradicted & np.isfinite(length)
    x, y = (context.within_groups(np.where(marked, one, np.nan)) for one in (length, rewards))
    return int(np.isfinite(x + y).sum()) >= _LEAST_TWINS and abs(correlation(x, y)) > _BY_LENGTH


def _found_contradicted(context: Context, what: str, some: Twins, limits: Limits) -> Found | None:
    limit = "text" if what == "text" else "answer"
    begun = outbreak(context.steps, some.contradicted, some.has, usual=limits[limit] / 2)
    if begun is None or begun.share < limits[limit]:
        return None
    since = context.since(begun.at)
    # equals are one case: a single one that is paid otherwise contradicts them all
    sets, wrong = (int((some.first & since & one).sum()) for one in (some.has, some.contradicted))
    z, marks = beyond(wrong, sets, max(limits[limit] / 2, begun.before)), some.contradicted & since
    if z < limits["z"]:
        return None
    # of two that contradict each other either may be wrong; of more, the odd one out
    odd = np.where(some.off > 0, some.off, -1.0)
    effect = f"from step {begun.step} on {fmt(100 * begun.share)} % of the rollouts that have the same {what} as another of their group "
    effect += f"({plural(begun.count, 'rollout')}){context.in_rank(marks)} are rewarded differently from it"
    return Found(effect, begun.step, begun.last_step, limit, begun.share, z, context.clearest(marks & (odd > 0), odd))


STALE_ROWS: Final = declared("stale_rows", _look_for_stale)
LOGPROB_MISALIGNMENT: Final = declared("logprob_misalignment", _look_for_shifts)
VERIFIER_NOISE: Final = declared("verifier_noise", _look_for_contradictions)
