"""Curves over steps that turn where they should not: a KL runs away, a critic collapses, rollouts grow old, responses become one template."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.findings.change_points import LEAST_AFTER, LEAST_BEFORE, turn
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Limits, declared
from board.findings.departures import dated, departures
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps
from board.text.format_number import fmt

HARMLESS: Final = 0.05
"""Nats per token that are added before growth is taken as a ratio: from 0.0001 to 0.01 nothing has happened."""
MOST_KL: Final = 20.0
"""Nats per token that a rollout counts for at most: k3 of one token can be millions."""
_EDGE: Final = 0.2
"""The share of the steps whose level is taken at the end, before which a turn is the beginning of training, and that a critic has to learn."""
_LEAP: Final = 0.35
"""A KL that grows by such a share of its whole growth at one step leaps there."""
_AROUND: Final = 3
_STILL: Final = 1.5
"""A KL that grew from the first steps on runs away where it ends at so many times its level in the middle of the run."""
_KL: Final = ("kl_k3_mean", "kl", "kl (logged)", "kl_mean", "mean_kl", "approx_kl", "ref_kl")
_ENTROPIES: Final = ("entropy_mean", "entropy", "mean_entropy", "policy_entropy")
"""What tells a number of each rollout: ours, of its tokens, or what its trainer logs."""


def kl_of(context: Context) -> Float64Array:
    """(rows,) nats of KL to the reference, MOST_KL at most; NaN where they are not known."""
    return np.minimum(_first_of(context, _KL), MOST_KL)


def entropy_of(context: Context) -> Float64Array:
    """(rows,) entropies, NaN where they are not known."""
    return _first_of(context, _ENTROPIES)


def _first_of(context: Context, names: Sequence[str]) -> Float64Array:
    return next((values for name in names if np.isfinite(values := context.number(name)).any()), context.number(names[0]))


def _look_for_flight(context: Context, limits: Limits) -> Answer:
    kl = kl_of(context)
    curve = context.curve_of(context.like_for_like(kl))
    known = np.flatnonzero(np.isfinite(curve.mean))
    if len(known) < LEAST_BEFORE + LEAST_AFTER:
        return CannotTell("too few steps have a KL, or log-probabilities of policy and reference")
    level = np.maximum(curve.mean, 0.0)
    # growth is a ratio: on a logarithmic scale a KL that doubles again and again is a line
    logarithm = np.log(level + HARMLESS)
    bent = turn(
        replace(curve, mean=logarithm, error=curve.error / (level + HARMLESS))
    )  # the logarithm's errors, by the delta method
    if bent is None or bent.change <= 0 or bent.z < limits["z"]:
        return None
    end = _end(level)
    at = int(known[_leap(logarithm[known], _LEAP * bent.change) or np.searchsorted(known, bent.at)])
    before = float(np.nanmean(level[:at]))
    grown = (end + HARMLESS) / (before + HARMLESS)
    if end < limits["level"] or grown < limits["growth"] or not _runs(level[known], int(np.searchsorted(known, at)), end):
        return None
    effect = f"from step {int(curve.steps[at])} the KL to the reference grows from {fmt(before)} to {fmt(end)} nats per token"
    return Found.since(context, at, effect, "level", end, bent.z, context.clearest(context.since(at) & (kl > before), kl))


def _leap(logarithm: Float64Array, least: float) -> int:
    """Index of the step at which (k,) levels leap by `least` or more: medians of the three steps since against the three before; 0 for none.

    A line that begins to rise fits a leap with growth around it too, and begins long before.
    """
    if len(logarithm) < 2 * _AROUND:
        return 0
    medians = np.median(np.lib.stride_tricks.sliding_window_view(logarithm, _AROUND), axis=1)
    leaps = medians[_AROUND:] - medians[:-_AROUND]
    clear = np.flatnonzero(leaps >= least)
    # of the places around the leap, the one at which a single step rises most
    return int(clear[np.argmax(np.diff(logarithm)[clear + _AROUND - 1])]) + _AROUND if len(clear) else 0


def _runs(level: Float64Array, at: int, end: float) -> bool:
    """Whether a growth that begins at index `at` of (k,) levels is more than that of every beginning, which slows down."""
    middle = level[round(0.4 * len(level)) : max(round(0.6 * len(level)), round(0.4 * len(level)) + 1)]
    return at >= _EDGE * len(level) or end >= _STILL * float(middle.mean()) + HARMLESS


def _end(level: Float64Array) -> float:
    """The median of the last of (k,) levels that are known: a single step does not make the end."""
    known = level[np.isfinite(level)]
    return float(np.median(known[-max(LEAST_AFTER, round(_EDGE * len(known))) :]))


def has_twin(groups: NDArray[np.int64], digests: Float64Array) -> Float64Array:
    """(n,) 1 where another member of the group has the same digest, 0 where none has; NaN without a digest, a group, or another member."""
    known, found = (groups >= 0) & np.isfinite(digests), np.full(len(groups), np.nan)
    table = pd.DataFrame({"group": groups, "digest": digests})[known]
    members, equals = (table.groupby(by)["digest"].transform("size") for by in ("group", ["group", "digest"]))
    found[known] = np.where(members > 1, (equals > 1).astype(np.float64), np.nan)
    return found


_VERSIONS: Final = re.compile(
    r"(?:policy|weights?|model|actor|params?|parameters?|behaviou?r|sampler|generator|engine|rollout|tail|head)_?(?:versions?|steps?)",
    re.IGNORECASE,
)
"""Names under which trainers log which version of the weights sampled a rollout."""
_LAGS: Final = re.compile(r"staleness|(?:policy|version|weights?|off_?policy)_?(?:lag|age|steps_behind)", re.IGNORECASE)
"""Names under which they log how many steps old it was."""
_USUAL: Final = 0.75
_PACE: Final = (0.4, 2.5)
"""Versions that count steps go up by about one a step."""


def _look_for_age(context: Context, limits: Limits) -> Answer:
    lag = lag_of(context)
    if lag is None:
        return CannotTell("no rollout says which version of the weights sampled it, or it does not count steps")
    curve = context.curve_of(lag)
    # of steps that are logged now and then most of the way to the next is usual
    apart = float(np.median(np.diff(curve.steps, prepend=curve.steps[0] - 1)))
    left = departures(curve, 1, max(limits["growth"], _USUAL * apart), clear=limits["z"])
    # a batch that is late once is no queue that fills
    grown = max((one for one in left if one.stays or one.end - one.at > 1), key=lambda one: one.z, default=None)
    at, end = (grown.at, grown.end) if grown else (0, len(curve.steps))
    within = context.since(at) & ~context.since(end) & np.isfinite(lag)
    before, after = float(np.mean(lag[~context.since(at) & np.isfinite(lag)])) if at else 0.0, float(np.mean(lag[within]))
    if grown is None and after < limits["level"]:
        return None
    first, last = (int(curve.steps[step]) for step in (at, end - 1))
    until, than = "" if end == len(curve.steps) else f" to {last}", f", before {fmt(before)}" if grown else ""
    effect = f"from step {first}{until} rollouts are {fmt(after)} steps old on average{than}"
    crossed, measured = ("growth", after - before) if grown else ("level", after)
    shown = context.clearest(within & (lag > (before + limits["growth"] / 2 if grown else limits["level"] / 2)), lag)
    return Found(effect, first, last, crossed, measured, grown.z if grown else after / limits["level"], shown)


def lag_of(context: Context) -> Float64Array | None:
    """(rows,) how many steps old each rollout is; None where nothing says it."""
    texts = set(context.run.text_columns).difference(context.frame.columns)
    for name in sorted([*map(str, context.frame.columns), *texts]):
        values = context.number(name)
        if name in texts and _VERSIONS.fullmatch(name):  # "17", or "step-17"
            values = context.run.texts(name, context.keys).to_pandas().str.extract(r"(\d{1,9})$")[0].to_numpy(np.float64)
        if not np.isfinite(values).any():
            continue
        if _LAGS.fullmatch(name):
            return values
        if _VERSIONS.fullmatch(name) and counts_steps(context.steps, values):
            behind = context.steps.of_rows - values
            return behind - min(0.0, float(np.nanmin(behind)))
    return None


def counts_steps(steps: Steps, versions: Float64Array) -> bool:
    """Whether (n,) versions go up with the steps, by about one for each: a version of something else does not."""
    newest = np.nan_to_num(steps.max(versions), nan=-np.inf)
    # weights that are sent no more stay at their last version
    moved = np.isfinite(newest) & (np.arange(len(newest)) <= newest.argmax())
    if moved.sum() < LEAST_BEFORE + LEAST_AFTER:
        return False
    pace = float(np.polyfit(steps.numbers[moved].astype(np.float64), newest[moved], 1)[0])
    return _PACE[0] <= pace <= _PACE[1]


_SUMS: Final = {"logged returns": ("value_error", "valued_return"), "rewards to go": ("value_error_mc", "valued_return_mc")}
"""What values are held against, and the token sums of the error and of what is to be predicted.

Logged returns come first; but those of GAE follow the values themselves, so that rewards to go can show what they hide."""
_OUTCOME: Final = "rewards of their responses"
"""What mean values are held against where there are neither: a scale of its own tells nothing there, so that only a fall does."""
_LEAST_ROWS: Final = 48
_LEAST_STEPS: Final = 6
_VARIES: Final = 1e-4
"""Share of the returns' squares that must be variance within steps: what is left of rounding, or of a small KL penalty, cannot be explained."""


def squares(steps: Steps, count: Float64Array, mean: Float64Array, m2: Float64Array) -> Float64Array:
    """(n,) sums of squares around the mean of each one's step, from count, mean and squares around its own mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        of_step = steps.mean(count * mean) / steps.mean(np.where(np.isfinite(mean), count, np.nan))
    return m2 + count * np.square(mean - of_step[steps.row])


def _look_for_a_blind_critic(context: Context, limits: Limits) -> Answer:
    held = [name for name, (error, _) in _SUMS.items() if f"{error}/m2" in context.run.moment_names]
    if not held and np.isfinite(context.number("value_mean") + context.number("reward")).any():
        held = [_OUTCOME]
    if not held:
        return CannotTell("no rollout has values with returns or rewards")
    answers = [_held_against(context, name, limits) for name in held]
    found = [answer for answer in answers if isinstance(answer, Found)]
    return found[0] if found else answers[0]


def _held_against(context: Context, held: str, limits: Limits) -> Answer:
    sums = [_sums(context, held, name) for name in _SUMS.get(held, ("error", "total"))]
    error, total = (squares(context.steps, *one) for one in sums)
    known = np.isfinite(error) & np.isfinite(total)
    if known.sum() < _LEAST_ROWS or len(np.unique(context.steps.row[known])) < _LEAST_STEPS:
        return CannotTell(f"fewer than {_LEAST_ROWS} rollouts, or than {_LEAST_STEPS} steps, have values and returns")
    scale = float(np.mean(total[known]))
    count, mean, m2 = sums[1]
    if not scale > _VARIES * float(np.mean((m2 + count * np.square(mean))[known])):
        return CannotTell("the returns of a step hardly vary, so that there is nothing to explain")
    # above 0 where the critic is worse than a constant; unlike a ratio, steps with little to explain weigh little. An error that explodes is
    # dated where it begins, not where it is largest
    more = np.arcsinh((error - total) / scale)
    curve = context.curve_of(more)
    shift = turn(curve)
    turned = shift is not None and shift.change > 0 and shift.z >= limits["z"]
    # values of a critic that begins untrained say nothing yet: without a turn the beginning is left out
    at = dated(curve, shift) if shift is not None and turned else round(_EDGE * len(curve.steps))
    since = context.since(at) & known
    worse = more[since]
    strength = float(worse.mean() / (worse.std() / np.sqrt(len(worse)))) if len(worse) > 1 and worse.std() > 0 else 0.0
    before, after = (1 - float(error[of].sum()) / (float(total[of].sum()) or np.nan) for of in (known & ~since, since))
    if not after < limits["explained"] or strength < limits["z"] or (turned and not before > after):
        return None
    if held == _OUTCOME and not (turned and before > 0):
        return None
    first, shown = int(curve.steps[at]), context.clearest(since & (error > total), error)
    fell = f"from step {first} the explained variance falls from {fmt(before)} to {fmt(after)}"
    effect = fell if turned else f"the explained variance from step {first} on is {fmt(after)}"
    effect += f": values predict the {held} worse than a constant would"
    strength = max(strength, shift.z if shift is not None and turned else 0.0)
    return Found.since(context, at, effect, "explained", after, strength, shown)


def _sums(context: Context, held: str, name: str) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Count, mean and squares around the mean of an error, or of what is to be predicted, by rollout: (rows,) each."""
    if held != _OUTCOME:
        count, mean, m2 = (context.run.moment(f"{name}/{one}", context.keys) for one in ("count", "mean", "m2"))
        return count, mean, m2
    values, rewards = context.number("value_mean"), context.number("reward")
    targets = rewards - values if name == "error" else np.where(np.isfinite(values), rewards, np.nan)
    return np.ones(len(targets)), targets, np.zeros(len(targets))


_LEAST_LOST: Final = 5
"""Responses nearest to another prompt's that tell how alike such are."""


def _look_for_a_template(context: Context, limits: Limits) -> Answer:
    found, other = context.dependence
    if not np.isfinite(found).any():
        return CannotTell("no step has responses to several prompts")
    curve = context.curve_of(context.like_for_like(found))
    shift = turn(curve, _FLOOR)
    if shift is None or shift.z < limits["z"] or -shift.change < limits["fall"]:
        return None
    since = context.since(shift.at)
    before, after = (float(np.nanmean(found[rows])) for rows in (~since, since))
    alike_before, alike = _alike_where_lost(found, other, ~since), _alike_where_lost(found, other, since)
    # short answers, or noise, name no prompt either, but are not alike
    if not alike - alike_before >= limits["alike"]:
        return None
    lost = since & (found <= 0) & (other > np.nanmean(other[~since]))
    effect = f"from step {shift.step} the nearest other response tells the prompt in {100 * max(after, 0.0):.0f} of 100 cases beyond chance, "
    effect += f"before in {100 * before:.0f}; those nearest to another prompt's are like other prompts' by {alike:.2f}, "
    effect += f"before by {alike_before:.2f}"
    # a phrase that all share makes them alike, too, but they still differ by prompt
    explains = None if after < _LOST else tuple(name for name in TEMPLATE_COLLAPSE.explains if name != "phrase_exploit")
    return Found.since(
        context, shift.at, effect, "fall", -shift.change, shift.z, context.clearest(lost, other), explains=explains
    )


def _alike_where_lost(found: Float64Array, other: Float64Array, rows: NDArray[np.bool_]) -> float:
    """How alike to other prompts' responses those of `rows` are that are nearest to one of them; of few, all of `rows` tell."""
    lost = rows & (found <= 0)
    chosen = lost if lost.sum() >= _LEAST_LOST else rows & np.isfinite(other)
    return float(np.nanmean(other[chosen])) if chosen.any() else np.nan


_FLOOR: Final = 0.03
"""Noise of the curve at the least: where every response finds its prompt, one that does not is no turn."""

_LOST: Final = 0.3
"""Share that names its prompt, below which responses are one text rather than share a phrase."""


KL_RUNAWAY: Final = declared("kl_runaway", _look_for_flight)
STALENESS: Final = declared("staleness", _look_for_age)
CRITIC_COLLAPSE: Final = declared("critic_collapse", _look_for_a_blind_critic)
TEMPLATE_COLLAPSE: Final = declared("template_collapse", _look_for_a_template)
