"""The numbers that are watched for leaving their level in the direction that harms: reward, parts, sources, evaluations, length, KL, ...

Declared rows; how they are looked at is in `board.findings.watched_numbers`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from board.analysis.rollouts.reward_parts import is_penalty, reward_parts
from board.analysis.stats.length_attribution import correlation
from board.findings.answers import correctness, lengths
from board.findings.checks.contract import Severity
from board.findings.context import Context
from board.findings.kinds.turning import HARMLESS, entropy_of, has_twin, kl_of
from board.findings.watched_numbers import Left, Watch, Watched, as_kind
from board.metrics.formulas import Float64Array
from board.text.format_number import fmt


def _reward(context: Context) -> Iterator[Watched]:
    values = context.number("reward")
    yield Watched("the reward", context, values, context.prompt_for_prompt(values))


def _parts(context: Context) -> Iterator[Watched]:
    for name in (one for one in reward_parts(context.frame) if not is_penalty(one)):
        values = context.number(name)
        yield Watched(f"`{name}`", context, values, context.prompt_for_prompt(values))


def _sources(context: Context) -> Iterator[Watched]:
    for name in ("data_source", "rank"):
        for called, marks in context.named(name):
            values = np.where(marks, context.number("reward"), np.nan)
            yield Watched(f"the reward of {called}", context, values, context.prompt_for_prompt(values))


def _evaluations(context: Context) -> Iterator[Watched]:
    held = context.evaluation
    if held is None:
        return
    rewards = held.number("reward")
    yield Watched("the reward of the evaluation", held, rewards, held.prompt_for_prompt(rewards))
    for one in _sources(held):
        yield replace(one, name=f"the evaluation's {one.name.removeprefix('the ')}")


def _calls(context: Context) -> Iterator[Watched]:
    """As the rows count them, else as texts show them; of an agent without either its turns."""
    for name in ("tool_calls", "num_tool_calls", "n_calls", "num_turns", "n_turns"):
        if np.nanmax(values := context.number(name), initial=0.0) > 0:
            counted = "turns" if "turns" in name else "tool calls"
            yield Watched(f"the number of {counted} per response", context, values, context.like_for_like(values))
            return


def _length(context: Context) -> Iterator[Watched]:
    held, unit = lengths(context)
    values = np.log(np.maximum(held, 1.0))
    yield Watched(f"the mean length in {unit}", context, values, context.like_for_like(values), held)


def _twins(context: Context) -> Iterator[Watched]:
    twins = has_twin(context.group_rows, context.number("response_digest"))
    if np.isfinite(twins).any():
        yield Watched("the share of responses with an equal in their group", context, twins, context.like_for_like(twins))


def _flat(context: Context) -> Iterator[Watched]:
    """1 for a group of several rewards that are all equal, 0 for another, in the row of its first rollout."""
    grouped = context.grouped
    if grouped is None or not (grouped.groups["scored"] > 1).any():
        return
    equal = np.where(grouped.groups["scored"] > 1, grouped.groups["flat"].to_numpy(np.float64), np.nan)
    values = np.full(len(context.frame), np.nan)
    values[context.rows_of(grouped.keys)[grouped.starts[:-1]]] = equal
    yield Watched("the share of groups whose rewards are all equal", context, values, context.prompt_for_prompt(values))


def _solved(context: Context, left: Left) -> tuple[float, float]:
    """The share of its groups of equal rewards that are solved always, and of those by which these have grown."""
    equal, rewards = left.curve.values, context.number("reward")
    always = (equal == 1) & (rewards > (np.nanmin(rewards) + np.nanmax(rewards)) / 2)
    before = np.isfinite(equal) & ~context.since(left.how.at)
    within = np.isfinite(equal) & context.since(left.how.at) & ~context.since(left.how.end)
    all_of, solved = (float(one[within].mean() - one[before].mean()) for one in (equal == 1, always))
    return float(always[within & (equal == 1)].mean()), solved / all_of if all_of > 0 else 0.0


def _if_unsolved(context: Context, left: Left) -> Severity | None:
    return "note" if max(_solved(context, left)) >= _LEARNED else _if_it_lasts(context, left)


def _how_solved(context: Context, left: Left) -> str:
    return f"; {fmt(100 * _solved(context, left)[0])} % of these are solved always and the others never: they give no gradient"


_LEARNED: Final = 0.9
"""Where so much of them, or of their growth, is solved always, the policy has learned them: worth knowing, and no harm."""


def _entropy(context: Context) -> Iterator[Watched]:
    values = entropy_of(context)
    yield Watched("the entropy", context, values, context.like_for_like(values))


def _surprisal(context: Context) -> Iterator[Watched]:
    """The entropy; where it is not known, minus the mean logprob of the tokens that were drawn."""
    yield from _entropy(context)
    if not np.isfinite(entropy_of(context)).any():
        values = -context.number("logprob_mean")
        name = "the mean surprisal (a proxy of the entropy, which is not logged)"
        yield Watched(name, context, values, context.like_for_like(values))


def _same_texts(context: Context, left: Left) -> float:
    """How much the share of responses with an equal in their group grew."""
    return _change(context, has_twin(context.group_rows, context.number("response_digest")), left)


def _if_collapse(context: Context, left: Left) -> Severity | None:
    lost = -left.how.change / left.how.before if left.how.before > 0 else 0.0
    alike = _same_texts(context, left) >= _ALIKE
    return None if lost < _HALF and not alike else "warning" if alike or lost >= _STEEP else "note"


def _and_texts(context: Context, left: Left) -> str:
    grown = _same_texts(context, left)
    return f"; the share of responses with an equal in their group grows by {fmt(grown)}" if grown >= _ALIKE else ""


_ALIKE: Final = 0.1
"""Growth of the share of responses with an equal in their group, from which on a smaller fall of the entropy is a collapse."""
_STEEP: Final = 0.7
"""Share of the entropy that is lost, from which on it is one without equal texts."""


def _kl(context: Context) -> Iterator[Watched]:
    """Its logarithm, since it is the noisier the larger it is."""
    kl = kl_of(context)
    values = np.log(kl + HARMLESS)
    yield Watched("the KL to the reference", context, values, context.like_for_like(values), kl)


def _mismatch(context: Context) -> Iterator[Watched]:
    if "mismatch_error/mean" in context.run.moment_names:
        values = context.run.moment("mismatch_error/mean", context.keys) - 1
        values = np.minimum(np.where(np.isfinite(values), values, np.nan), _MOST_RATIO)
        yield Watched("the excess of the ratio of trainer and engine", context, values, context.like_for_like(values))


_MOST_RATIO: Final = 10.0


def _change(context: Context, values: Float64Array, left: Left) -> float:
    """How much the mean of (rows,) training values changed over a departure: its steps against as many before."""
    first, last = left.steps
    span = min(max(last - first + 1, 3), 10) if not left.how.stays else 5
    steps = context.steps.of_rows
    before = values[(steps < first) & (steps >= first - span) & np.isfinite(values)]
    after = values[(steps <= last) & (steps > last - span) & (steps >= first) & np.isfinite(values)]
    return float(after.mean() - before.mean()) if len(before) and len(after) else np.nan


def _against_the_total(context: Context, left: Left) -> str:
    change = _change(context, context.number("reward"), left)
    return f", while the total rises by {fmt(change)}" if change > 0 else ""


def _if_part(context: Context, left: Left) -> Severity | None:
    """A part that falls a little while the total rises is a trade; one that loses half of what it had is a warning."""
    lost = abs(left.how.change) / max(abs(left.how.before), 1e-12)
    return "warning" if lost >= _HALF or not _change(context, context.number("reward"), left) > 0 else "note"


_HALF: Final = 0.5


def _if_it_pays(context: Context, left: Left) -> Severity | None:
    """A warning where such ones earn more than others of their group. A large growth that stays is one unless `length_exploitation` can tell."""
    rises = left.how.change > 0
    if rises and left.how.stays and (left.how.change < _LARGE or correctness(context) is not None):
        return None
    return "warning" if _worth(context, left) * (0.5 if rises else -1) > _PAYS else "note"


_LARGE: Final = 0.5
"""Change of the logarithm of a length that stays, from which on it is reported."""
_PAYS: Final = 0.15
"""Correlation, inside groups, of length and reward from which on it pays to be short; for being long it takes twice as much."""


def _worth(context: Context, left: Left) -> float:
    since = context.since(left.how.at)
    length, reward = context.within_groups(left.curve.values), context.within_groups(context.number("reward"))
    return correlation(length[since], reward[since])


def _what_length_earns(context: Context, left: Left) -> str:
    which = "longer" if left.how.change > 0 else "shorter"
    effect = f", and {which} ones earn more than others to their prompt (correlation {_worth(context, left):.2f})"
    return effect if _if_it_pays(context, left) == "warning" else ""


def _if_it_lasts(_context: Context, left: Left) -> Severity:
    return "warning" if left.how.stays or left.how.end - left.how.at > 1 else "note"


def _which_parts(context: Context, left: Left) -> str:
    parts = [(one, _change(context, one.values, left)) for one in _parts(context)]
    fell = [f"{one.name} by {fmt(-change)}" for one, change in parts if change < -_PART * one.scale]
    return f"; of its parts {' and '.join(fell)}" if fell else ""


_PART: Final = 0.25
"""Standard deviations that a part fell by, to be named."""


ROWS: Final = (
    Watch("reward_falls", _reward, "no rollout has a reward", -1, bounded=True, severity=_if_it_lasts, more=_which_parts),
    Watch("part_falls", _parts, "no column is a part of the reward", -1, bounded=True, severity=_if_part, more=_against_the_total),
    Watch("source_falls", _sources, "there are no two data sources or ranks", -1, bounded=True, more=_against_the_total),
    Watch("evaluation_falls", _evaluations, "there is no evaluation with rewards", -1, bounded=True, more=_against_the_total),
    Watch("tool_calls_fall", _calls, "no response calls a tool", -1, alike=False),
    Watch("length_falls", _length, "no response has a length", -1, severity=_if_it_pays, more=_what_length_earns),
    Watch("length_grows", _length, "no response has a length", 1, severity=_if_it_pays, more=_what_length_earns),
    Watch("dead_prompts", _flat, "no group has several rewards", 1, alike=False, bounded=True, severity=_if_unsolved, more=_how_solved),
    Watch("equal_responses", _twins, "no group has two responses with a text", 1),
    Watch("kl_jumps", _kl, "no rollout has a KL, or log-probabilities of policy and reference", 1, within=4, own=0.0, alike=False),
    Watch("entropy_collapse", _surprisal, "no rollout has entropies or logprobs", -1, alike=False, severity=_if_collapse, more=_and_texts),
    Watch("entropy_rises", _entropy, "no rollout has entropies", 1, alike=False),
    Watch("mismatch_jumps", _mismatch, "no rollout has logprobs of the trainer and of the engine", 1, within=4, alike=False),
)  # fmt: skip
KINDS: Final = tuple(map(as_kind, ROWS))
