"""What is wrong as it is, from the first step on: numbers that are judged by their level over the whole run, a look for each kind.

`kinds.toml` says what their level is a fault from which on, and in which words. A look goes from a context and that threshold to the rollouts
that show it, and a sentence; the engine dates what was seen by all of them.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.advantage_audit import LOGGED
from board.analysis.rollouts.logprob_lags import FAR, PAIRS, UNFILLED
from board.analysis.rollouts.reward_parts import is_penalty, reward_parts
from board.findings.answers import cut_off, paid
from board.findings.checks.contract import Severity
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, declared
from board.findings.spreading import first_rows, percent, share_since
from board.metrics.formulas import BoolArray, Float64Array
from board.runs.loading.sampling import evenly
from board.text.counting import plural
from board.text.display import on_one_line
from board.text.format_number import fmt

LEAST_ROWS: Final = 16
"""With fewer rollouts the level of a whole run says nothing."""
_CHANCE: Final = 1e-3
_AS_EXPECTED: Final = 0.1
"""Shares of equal groups no farther apart than that are the same: prompts are not equally hard."""
NEARLY_ALL: Final = 0.9
_NAMED: Final = 5
_SAMPLE: Final = 2_000
"""So many prompts are read."""
_SHOWN: Final = 50
_READ: Final = 200
_SURE: Final = 1e-3
_SHORT: Final = 20
"""Responses of so few characters are read to see whether any is more than white space."""

_ZEROS: Final = {
    **dict.fromkeys(LOGGED, "nothing is learned from rewards that differ"),
    "kl_k3_mean": "the policy is its reference",
    "value_mean": "the critic predicts nothing",
}
"""Numbers that are 0 in no sound run of some steps, and what it means where they are."""
_LEAST_STEPS: Final = 5

NEMO: Final = 0.05
"""Mean e^|Δ| less 1 from which on NeMo-RL says that engine and trainer are not one."""

_LEAST_VISITS: Final = 6
"""So many rollouts of a prompt, all of them paid, tell that it is always paid."""
_LEAST_WRONG: Final = 3
"""Of these so many without the answer, or so many different answers."""

_BEGIN: Final = r"<s>|<bos>|<BOS>|\[(?:BOS|CLS|gMASK)\]|<[|｜][^<>|｜\s]{1,60}[|｜]>"
_OPENER: Final = (
    r"(?:<\|im_start\|>\w*|<start_of_turn>\w*|<\|start_header_id\|>\w*<\|end_header_id\|>|\[INST\]|"
    r"<[|｜](?:[Uu]ser|[Aa]ssistant|[Ss]ystem)[|｜]>|### ?(?:Human|User|Instruction|Assistant):)\s*"
)
_BEGINS_TWICE: Final = re.compile(rf"\s*({_BEGIN})\s*\1")
_OPENS_TWICE: Final = re.compile(rf"{_OPENER}(?:<s>|<bos>|<\|begin_of_text\|>)?{_OPENER}")
"""Two turns that begin with nothing between them are one template in another."""
_LEAST_HALF: Final = 12


@dataclass(frozen=True)
class Seen:
    """What a look saw."""

    marks: BoolArray
    """(rows,) the rollouts that show it; their steps are its dates."""
    effect: str
    measured: float
    """What is compared with the row's threshold."""
    severity: Severity | None = None
    """Where it is another than the row's."""
    by: Float64Array | None = None
    """(rows,) how clearly each shows it."""
    tokens: Sequence[tuple[int, int]] = ()


Look = Seen | CannotTell | None


def signal(context: Context, least: float) -> Look:
    """Groups, or without groups steps, whose rewards are all equal: all of them, or `least` of them from the first steps on."""
    rewards = context.number("reward")
    known, group = np.isfinite(rewards), context.group_rows
    grouped = bool((np.bincount(group[known & (group >= 0)], minlength=1) > 1).any())
    unit = pd.Series(group if grouped else context.steps.row)
    table = pd.DataFrame({"unit": unit, "reward": rewards, "early": first_rows(context)})[known & (unit >= 0).to_numpy()]
    found = table.groupby("unit").agg(n=("reward", "size"), low=("reward", "min"), high=("reward", "max"), early=("early", "all"))
    found = found[found["n"] > 1]
    if found["n"].sum() < LEAST_ROWS or len(found) < 3:
        return CannotTell(f"fewer than {LEAST_ROWS} rollouts can be compared by their rewards")
    values, counts = np.unique(table["reward"], return_counts=True)
    shares = counts / counts.sum()
    expected = float(np.power(shares, found[["n"]].to_numpy()).sum(1).mean()) if len(values) < LEAST_ROWS else 0.0
    flat = found["low"] == found["high"]
    marks, what = known & unit.isin(found.index[flat]).to_numpy(), "group" if grouped else "step"
    if flat.all() and (len(values) == 1 or expected ** len(found) < _CHANCE):
        level = f" (the reward is {fmt(float(values[0]))} in all {len(table):,} rollouts)" if len(values) == 1 else ""
        effect = f"no {what} of {len(found):,} has two different rewards in the whole run{level}: nothing can be learned"
        return Seen(marks, f"from the first step on {effect}{_cause(context, marks)}", 1.0)
    if some := _flat_beginning(context, rewards, known) or _flat_members(context, rewards, known):
        return some
    early = flat[found["early"]]  # of few groups the share is what it is by chance, too
    if not grouped or flat.mean() < least or not early.mean() >= least - 2 * np.sqrt(least * (1 - least) / max(1, len(early))):
        return None
    learned = float((found["high"][flat] == values[-1]).mean()) >= NEARLY_ALL
    rate = f" and a success rate of {fmt(float(shares[-1]), 2)}" if len(values) == 2 else ""
    effect = f"{percent(float(flat.mean()))} of {len(found):,} groups have equal rewards and give no gradient; "
    effect += f"with {fmt(float(found['n'].median()))} samples{rate} {percent(expected)} are to be expected"
    minor, cause = learned or float(flat.mean()) - expected < _AS_EXPECTED, _cause(context, marks)
    return Seen(marks, effect + cause, float(flat.mean()), "note" if minor and not cause else None)


def _flat_beginning(context: Context, rewards: Float64Array, known: BoolArray) -> Seen | None:
    """The first steps, whose rewards are all equal, where those of the next three steps differ at once."""
    row, value, cluster = context.steps.row, rewards[known][0], context.clusters.of_rows
    end = int(row[known & (rewards != value)].min())
    marks, later = known & (row < end), known & (row >= end) & (row < end + 3)
    alike = pd.Series(rewards == value)[later].groupby(cluster[later]).all().mean()
    if marks.sum() < LEAST_ROWS or alike ** len(np.unique(cluster[marks])) >= _CHANCE:
        return None
    effect = f"the reward is {fmt(float(value))} in all {int(marks.sum()):,} rollouts before step {context.steps.numbers[end]}, where at once "
    effect += (
        f"{percent(float((rewards[later] != value).mean()))} are others: equal rewards teach nothing, so the scoring changed"
    )
    return Seen(marks, effect, 1.0, "warning")


def _flat_members(context: Context, rewards: Float64Array, known: BoolArray) -> Seen | None:
    """A data source or rank whose rewards are all equal, where the ground truth, or chance, says that they should not be."""
    present, best = context.number("answer_present"), float(rewards[known].max())
    for of_rank, (called, of) in ((name == "rank", one) for name in ("data_source", "rank") for one in context.named(name)):
        mine, others = known & of, rewards[known & ~of]
        if mine.sum() < 2 * LEAST_ROWS or np.ptp(rewards[mine]) > 0 or len(np.unique(others)) < 2:
            continue
        value = float(rewards[mine][0])
        wrong = int((present[mine] == float(value < best)).sum())
        chance = float((others == value).mean()) ** len(np.unique(context.clusters.of_rows[mine]))
        if wrong >= _LEAST_WRONG or (of_rank and chance < _CHANCE):
            effect = f"the reward is {fmt(value)} in all {int(mine.sum()):,} rollouts of {called}, and differs in others"
            has = f"; {wrong:,} of them have {'the' if value < best else 'no'} answer" if wrong else ""
            return Seen(mine, effect + has, 1.0, "warning")
    return None


def _cause(context: Context, marks: BoolArray) -> str:
    """What nearly all of the marked responses are, where that is a cause."""
    cut, empty = cut_off(context)[marks], _empty(context)[marks]
    if empty.mean() >= NEARLY_ALL:
        return f"; {percent(float(empty.mean()))} of their responses are empty"
    if np.isfinite(cut).any() and np.nanmean(cut) >= NEARLY_ALL:
        tokens = np.unique(context.number("response_length")[marks][cut == 1])
        limit = f"{tokens[0]:,.0f} tokens" if len(tokens) == 1 and np.isfinite(tokens[0]) else "the limit of length"
        return f"; {percent(float(np.nanmean(cut)))} of their responses are cut off at {limit}, which is the likely cause"
    return ""


def constant_parts(context: Context, least: float) -> Look:
    """Numbers that are the same in every row, where `least` of the rows with a reward have them: parts of the reward, and zeros of _ZEROS."""
    rewards, found, worst = np.isfinite(context.number("reward")), list[str](), False
    parts = reward_parts(context.frame)
    if not (names := [*parts, *(name for name in _ZEROS if context.has(name))]):
        return CannotTell("no number of the rows is a part of the reward, an advantage, a KL or a value")
    for name in names:
        values = context.number(name)
        known = values[np.isfinite(values) & rewards]
        if len(known) < max(LEAST_ROWS, least * rewards.sum()) or np.ptp(known) > 0:
            continue
        differ = len(context.steps.numbers) >= _LEAST_STEPS and np.ptp(context.number("reward")[rewards]) > 0
        if name in parts or (known[0] == 0 and differ):
            found.append(
                f"{name} is {fmt(float(known[0]))} in all {plural(len(known), 'rollout')}: {_ZEROS.get(name, 'it teaches nothing')}"
            )
            worst = worst or name in LOGGED or (name in parts and known[0] <= 0 and not is_penalty(name))
    return Seen(rewards, f"from the first step on {'; '.join(found)}", 1.0, None if worst else "note") if found else None


def paid_whatever(context: Context, least: float) -> Look:
    """Prompts whose rollouts earn the better reward since some step, though some lack the answer, or each ends in another one.

    Up to half of the prompts of such answers; and more wrong ones in a row than chance pays, by what those of the other prompts earn then.
    """
    rewards, present, answers = (context.number(name) for name in ("reward", "answer_present", "answer_digest"))
    known, with_truth = np.isfinite(rewards), bool(np.isfinite(present).any())
    earns = paid(context) if with_truth else None
    if earns is None and len(np.unique(rewards[known])) == 2:
        earns = rewards
    stated = np.isfinite(present if with_truth else answers)
    if earns is None or (known & stated).sum() < LEAST_ROWS:
        return CannotTell("rewards are not of the ground truth, or of final answers, or there are none")
    good, step = earns == np.nanmax(earns), context.steps.row
    frame = {"prompt": context.prompts, "step": step, "good": good, "stated": stated, "answer": answers}
    table = pd.DataFrame(frame | {"wrong": (present == 0) if with_truth else stated, "bad": np.where(good, -1, step)})[known]
    last_bad = table.groupby("prompt")["bad"].transform("max")
    # what is paid at last may have been learned, where no ground truth tells
    table = table.assign(since=table["step"] > (last_bad if with_truth else last_bad.where(last_bad < 0, np.inf)))

    def various(by: Any) -> Any:
        found = by.agg(n=("good", "size"), stated=("stated", "mean"), answers=("answer", "nunique"), wrong=("wrong", "sum"))
        # one wrong answer that is always paid is the right one, written in another way
        others = (found["answers"] >= _LEAST_WRONG) | (with_truth & (found["answers"] == 0))
        return found[others & (found["n"] >= _LEAST_VISITS) & (found["stated"] > NEARLY_ALL) & (found["wrong"] >= _LEAST_WRONG)]

    prompts, odd = table["prompt"].nunique(), various(table.groupby("prompt"))
    always = various(table[table["since"]].groupby("prompt"))
    mine = table[table["since"] & table["wrong"] & table["prompt"].isin(always.index)]
    then = table[table["wrong"] & ~table["since"] & (table["step"] >= mine["step"].min())]
    chance = (then["good"].sum() + 1) / (len(then) + 2)
    always = always[chance ** always["wrong"] * max(len(odd), 1) < _CHANCE]
    # where that is the rule rewards are not of final answers
    if len(always) < least or len(always) > len(odd) / 2:
        return None
    first = mine.groupby("prompt")["step"].min().reindex(context.prompts).to_numpy()
    marks = known & np.isin(context.prompts, always.index) & (step >= first)
    shown = np.flatnonzero(~pd.Series(context.prompts).where(marks).duplicated().to_numpy() & marks)
    ids = context.frame.get("prompt_id")
    names = _prompt_names(context, shown) if ids is None else ids.iloc[shown].astype(str).tolist()
    listed = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
    wrong = f", {int(always['wrong'].sum()):,} of them without the answer" if with_truth else ""
    effect = f"{plural(len(always), 'prompt')} of {prompts:,} are paid whatever is answered: {listed} ({int(marks.sum()):,} rollouts{wrong})"
    since = context.steps.of_rows[marks].min()
    when = f"from step {since} on " if since > context.steps.numbers[0] else ""
    effect = f"{_source_paid(context, marks, known, good)}{when}{effect}"
    return Seen(marks, effect, float(len(always)), by=(present == 0).astype(np.float64))


def _source_paid(context: Context, marks: BoolArray, known: BoolArray, good: BoolArray) -> str:
    """The data source that all marked rollouts are of, where nearly all of its own are paid."""
    codes = np.unique(context.sources[marks])
    own = known & (context.sources == codes[0])
    if len(codes) > 1 or codes[0] < 0 or good[own].mean() < NEARLY_ALL:
        return ""
    name = context.frame["data_source"][own].iloc[0]
    return f"{percent(float(good[own].mean()))} of the {int(own.sum()):,} rollouts of the data source {name} earn the better reward: "


def _prompt_names(context: Context, rows: NDArray[np.int64]) -> list[str]:
    """A few words of each prompt that distinguish it from others: without the words that all begin with, such as a system prompt."""
    firsts = np.flatnonzero(~pd.Series(context.prompts).duplicated())[:_SHOWN]
    texts, others = ([one or "" for one in context.texts("prompt", some)] for some in (rows, firsts))
    shared = commonprefix([*texts, *others]) if {*texts} != {*others} else ""  # noqa: RUF071 - characters are what is compared
    begin = max(shared.rfind(mark) + 1 for mark in " \n>")
    return [on_one_line((one[begin:].partition("<|")[0] or one)[:40]) for one in texts]


def unfilled(context: Context, least: float) -> Look:
    """Logprobs that are exactly 0 where another array of the same tokens is far below."""
    counts = {one: context.number(one) for one in UNFILLED}
    known = {name: np.nansum(found) for name, found in counts.items()}
    if not any(np.isfinite(found).any() for found in counts.values()):
        return CannotTell("no rollout has two arrays of logprobs")
    worst = max(known, key=lambda name: known[name])
    if known[worst] < least:
        return None
    pair, name = UNFILLED[worst]
    other, count = next(one for one in PAIRS[pair] if one != name), np.nan_to_num(counts[worst])
    marks, total = count > 0, int(np.nansum(context.number("response_length")[np.isfinite(counts[worst])]))
    later = context.keys[context.since(int(context.steps.row[marks].min()))]
    some = [context.run.rollout(key).arrays for key in later[:: max(1, len(later) // _READ)].tolist()]
    nearly = [((one[name] < 0) & (one[name] > -_SURE) & (one[other] < -FAR)).sum() for one in some if {name, other} <= one.keys()]
    if 2 * sum(nearly) * len(later) >= len(some) * known[worst]:
        return None  # a policy that is as good as sure of others has the 0 by rounding
    places, below, names = list[tuple[int, int]](), list[float](), Counter[str]()
    for key in context.clearest(marks, count)[:_SHOWN].tolist():
        rollout = context.run.rollout(key)
        at = np.flatnonzero(rollout.counts & (rollout.arrays[name] == 0) & (rollout.arrays[other] < -FAR))
        places += [(key, int(one)) for one in at]
        below += rollout.arrays[other][at].tolist()
        names.update(repr(rollout.tokens[one]) for one in at if rollout.tokens)
    effect = f"{int(known[worst]):,} of {total:,} tokens ({percent(known[worst] / max(total, 1))}) in {plural(int(marks.sum()), 'rollout')} "
    effect += f"have {name} of exactly 0 where {other} is {fmt(float(np.mean(below)))} on average: placeholders, not drift"
    effect += f"; most often {', '.join(one for one, _ in names.most_common(3))}" if names else ""
    severity: Severity = "warning"
    if pair == "engine" and "mismatch_error/mean" in context.run.moment_names:
        tokens, without = context.number("engine_tokens"), context.number("engine_ratio")
        means = [_weighted(without, tokens), _weighted(context.run.moment("mismatch_error/mean", context.keys), tokens + count)]
        effect += f"; the mean ratio is {fmt(means[1], 4)} with them and {fmt(means[0], 4)} without"
        severity = "error" if means[1] - means[0] >= 1 else severity if means[1] - means[0] >= NEMO else "note"
    return Seen(marks, effect, float(known[worst]), severity, count, places)


def _weighted(values: Float64Array, weights: Float64Array) -> float:
    known = np.isfinite(values) & np.isfinite(weights)
    return float(np.average(values[known], weights=weights[known])) if weights[known].sum() > 0 else np.nan


def doubled(context: Context, least: float) -> Look:
    """Prompts that begin with the begin token twice, or hold their template twice, at any visit; of many some are read."""
    visits = context.clusters.of_rows
    first = np.flatnonzero(~pd.Series(visits).duplicated())
    first = first[evenly(len(first), _SAMPLE)]
    texts = context.texts("prompt", first)
    said = {
        "begin with the token that begins a text twice": [bool(text and _BEGINS_TWICE.match(text)) for text in texts],
        "hold the chat template twice": [bool(text and (_OPENS_TWICE.search(text) or _is_twice(text))) for text in texts],
    }
    odd = np.any(list(said.values()), axis=0)
    if not len(odd) or odd.mean() < least:
        return None
    marks, flaw = np.isin(visits, visits[first[odd]]), " or ".join(what for what, some in said.items() if any(some))
    return Seen(marks, f"{share_since(context, marks, np.isin(visits, visits[first]))} of the prompts {flaw}", float(odd.mean()))


def _is_twice(text: str) -> bool:
    return (half := len(text) // 2) >= _LEAST_HALF and text[:half].strip() == text[-half:].strip()


def _empty(context: Context) -> BoolArray:
    """(rows,) responses without a text but white space, or without a text and a token but the end token."""
    characters, tokens = context.number("response_chars"), context.number("response_length")
    empty: BoolArray = ~(characters > 0) & (tokens - (context.number("ended") == 1) <= 0)
    short = np.flatnonzero(characters <= _SHORT)
    empty[short] |= np.array([text is not None and not text.strip() for text in context.texts("response", short)], np.bool_)
    return empty


def empty_thoughts(context: Context, least: float) -> Look:
    """Responses that close their thought at once."""
    empty = context.number("empty_thought")
    thinking, marks = np.isfinite(empty), empty == 1
    if thinking.sum() < LEAST_ROWS:
        return CannotTell(f"fewer than {LEAST_ROWS} responses close a thought")
    share = float(marks.sum() / thinking.sum())
    effect = f"of the responses with a thought ({int(marks.sum()):,}) leave it empty"
    return Seen(marks, f"{share_since(context, marks, thinking)} {effect}", share) if share >= least else None


def empty_responses(context: Context, least: float) -> Look:
    """Responses that are empty: their share, what they earn and what is said of how they ended."""
    empty = _empty(context)
    if not empty.any() or empty.mean() < least:
        return None
    effect = f"{share_since(context, empty)} of the responses ({int(empty.sum()):,}) are empty"
    rewards = context.number("reward")
    some, others = rewards[empty & np.isfinite(rewards)], rewards[~empty & np.isfinite(rewards)]
    effect += f"; their mean reward is {fmt(float(some.mean()))}" if len(some) else ""
    effect += f", that of the others {fmt(float(others.mean()))}" if len(some) and len(others) else ""
    for name in ("status", "finish_reason", "stop_reason", "error"):
        said = Counter(text for text in context.texts(name, np.flatnonzero(empty)) if text).most_common(3)
        effect += f"; {name} is {', '.join(f'{text[:40]} ({count:,})' for text, count in said)}" if said else ""
    return Seen(empty, effect, float(empty.mean()))


def level(name: str, look: Callable[[Context, float], Look]) -> Kind:
    """A look as a kind of finding."""

    def run(context: Context, limits: Limits) -> Answer:
        seen = look(context, limits["level"])
        if seen is None or isinstance(seen, CannotTell):
            return seen
        steps = context.steps.of_rows[seen.marks]
        # of n rollouts by chance, the square root of n is the noise
        strength, shown = float(np.sqrt(seen.marks.sum())), context.clearest(seen.marks, seen.by)
        first, last = int(steps.min()), int(steps.max())
        return Found(seen.effect, first, last, "level", seen.measured, strength, shown, seen.tokens, severity=seen.severity)

    return declared(name, run)


LEVELS: Final[tuple[Kind, ...]] = (
    level("no_signal", signal),
    level("constant_part", constant_parts),
    level("paid_whatever", paid_whatever),
    level("logprobs_unfilled", unfilled),
    level("prompt_doubled", doubled),
    level("empty_responses", empty_responses),
    level("empty_thoughts", empty_thoughts),
)
"""In the order in which they run."""
