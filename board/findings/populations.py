"""By whom a step's numbers are made: steps of other rollouts than their neighbours, rows that are turns, rollouts that failed and count.

A table of what each step is made of, and the kinds of finding that are looked for in it. A mean is as good as what is in it.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.steps.failed_rollouts import failed, failure_reasons
from board.findings.checks.completeness import named
from board.findings.checks.contract import Severity
from board.findings.context import Context
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, declared
from board.findings.spreading import judged, percent
from board.text.counting import plural
from board.text.format_number import fmt

_LEAST_STEPS: Final = 4
_CERTAIN: Final = 50.0
"""Strength of what is counted: there is no noise to beat."""
_ALIKE: Final = 0.8
"""Such a share of steps, groups or prompts that agree is a rule."""
_SEEN: Final = 0.05
"""So few of an evaluation's prompts may be prompts of training, too."""

_TELLING: Final = ("again", "lacks", "alone")
"""What tells that rollouts are of an evaluation, not merely of another make-up; it counts twice."""
_BY: Final = ("data_source", "status", "shard", "rank")
"""What else says by whom a rollout is made."""
_NUMBERS: Final = {
    "rows": "{} rollouts, not {}",
    "response_chars": "responses of {} characters, not {}",
    "num_turns": "responses of {} turns, not {}",
}
_TRAINED: Final = re.compile(r"advantages?(?:_mean)?|(?:\w+_)?logprob_mean")
"""Numbers that a rollout has because it is trained on."""

_EPISODE: Final = re.compile(
    r"(?:rollout|episode|traj|trajectory|session|conversation|dialogue|sample|sequence)(?:_?(?:id|uid|uuid|idx|index|key))?", re.I
)
_TURN: Final = re.compile(
    r"(?:turn|round|hop|message|action|env_step|episode_step|step_in_episode|turn_step)(?:_?(?:id|idx|index|no|num|number))?",
    re.I,
)


def make_up(context: Context) -> pd.DataFrame:
    """What each rollout is among, and by whom it is made; (rows,) rows.

    `size` is that of its group, or of its prompt's rollouts in its step where it has none; `again` is said where another step has the same
    prompts in groups of that size, `lacks` of numbers that training gives.
    """
    numbers = pd.DataFrame({name: context.number(name) for name in ("reward", *_NUMBERS)})
    table = numbers.assign(**{name: _said(context, name).to_numpy() for name in _BY if context.has(name)})
    table = table.assign(step=context.steps.row, rows=context.steps.sizes[context.steps.row], prompt=context.prompts)
    among = np.where(context.group_rows >= 0, context.group_rows, -1 - context.clusters.of_rows)
    table["size"] = table.groupby(among)["step"].transform("size")
    draws = pd.Series(np.random.default_rng(0).random(len(table))[pd.factorize(table["prompt"])[0]])
    sums = draws.groupby([table["step"], table["size"]]).transform("mean").round(12)  # equal ones are of the same prompts
    often = (table.groupby(sums)["step"].transform("nunique") > 1) & (table.groupby("step")["prompt"].nunique().median() > 2)
    table = table.assign(again=np.where(often, "the same each time", ""), lacks="")
    for name in filter(_TRAINED.fullmatch, sorted(context.fields.intersection(map(str, context.frame.columns)))):
        table["lacks"] = np.where(np.isnan(context.number(name)), f"without {name}", table["lacks"])
    return table


def _divisions(table: pd.DataFrame, limits: Limits) -> Iterator[NDArray[np.bool_]]:
    """(rows,) rollouts that may be of another make-up, each time by another sign, where they are a share of their step."""
    marks, half = [table["again"] != "", table["lacks"] != ""], table["step"].nunique() / 2
    for name in table.columns.intersection(["size", *_BY]):
        shares = table.groupby("step")[name].value_counts(normalize=True, dropna=False)
        usual = shares[shares >= limits["share"]].groupby(level=1, dropna=False).size().loc[lambda steps: steps >= half].index
        marks.append(~table[name].isin(usual) & bool(len(usual)))
    for one in marks:
        yield (one & (one.groupby(table["step"]).transform("mean") >= limits["share"])).to_numpy()


def _apart(mine: pd.DataFrame, others: pd.DataFrame, limits: Limits) -> dict[str, str]:
    """What distinguishes rollouts from others, in words by name; first what shows that they are the evaluation."""
    said = {"alone": ""} if mine["size"].median() == 1 < others["size"].median() else {}
    for name in mine.columns.intersection([*_TELLING, *_BY], sort=False):
        shares, rest = (of[name].value_counts(normalize=True, dropna=False) for of in (mine, others))
        if (most := shares.index[0]) != "" and shares.iloc[0] >= _ALIKE and rest.get(most, 0) <= _SEEN:
            said[name] = f"{name} {most}, not {rest.index[0]}" if name in _BY else most
    for name, words in _NUMBERS.items():
        one, other = float(mine[name].median()), float(others[name].median())
        said |= {} if _are_near(one, other, limits["factor"]) else {name: words.format(fmt(one), fmt(other))}
    return said


def _are_near(one: float, other: float, factor: float) -> bool:
    return not max(one, other) >= factor * max(min(one, other), 1e-9)


def _look_for_others(context: Context, limits: Limits) -> Answer:
    if len(context.steps.numbers) < _LEAST_STEPS:
        return CannotTell(f"{plural(len(context.steps.numbers), 'step')} are too few to tell what a step is made of")
    table, lost = make_up(context), failed(context.run)
    for marks in _divisions(table, limits):
        apart = marks.any() and table["prompt"][marks].isin(table["prompt"][~marks]).mean() <= _SEEN
        if apart and not marks.all() and lost[marks].mean() < 0.5 and (found := _others(context, table, marks, limits)):
            return found
    return None


def _others(context: Context, table: pd.DataFrame, marks: NDArray[np.bool_], limits: Limits) -> Found | None:
    """What is said of rollouts, (rows,), whose prompts are theirs alone; nothing where they may be training under another setting."""
    steps, own = table["step"], table.assign(rows=table.groupby([table["step"], marks])["step"].transform("size"))
    mine, others, few = own[marks], own[~marks], len(context.steps.numbers) / 3
    (odd, said), (rest, other) = (
        (np.unique(one["step"]), _apart(one, of, limits)) for one, of in ((mine, others), (others, mine))
    )
    tells, tell = ((len(of.keys() & _TELLING), len(at) <= few) for of, at in ((said, odd), (other, rest)))
    whole = not np.isin(odd, rest).any()
    if whole and tell > tells:
        return _others(context, table, ~marks, limits)
    size, sizes = mine["size"].median(), [f", not {of:g}" for of in [others["size"].median()] if of != mine["size"].median()]
    is_even = (mine["size"] == size).mean() >= _ALIKE and mine["rows"].max() <= limits["factor"] * mine["rows"].min()
    stretches = [np.split(of, np.flatnonzero(np.diff(of) > 1) + 1) for of in ((odd, rest) if whole else (odd,))]
    longest, strides = min(max(map(len, some)) for some in stretches), np.unique(np.diff(odd))
    alone, regular = longest == 1 and odd[0] < steps.max(), len(strides) == 1 and strides[0] > 2
    # a batch that is there twice, or lacks a rank, has other groups of as many prompts
    prompts, usual = (of.groupby("step")["prompt"].nunique().median() for of in (mine, others))
    is_sized = bool(sizes) and not _are_near(prompts, usual, 1.1)
    signs = tells[0] + len(said) + len(sizes) + is_sized + alone + regular * min(2, len(odd) - 2)
    # what changes once and for good, or for a while, is a setting
    if not is_even or longest > 2 or signs < limits["signs"] or not (is_sized or said.keys() - {"rows"}):
        return None
    at, among = tuple(context.steps.numbers[odd].tolist()), "are" if whole else "have among their rollouts"
    effect = f"{plural(len(at), 'step')} ({named(list(at))}) {among} {mine['rows'].median():g} rollouts of {prompts:g} prompts "
    effect += f"that no other step has, in groups of {size:g}{''.join(sizes)} ({'; '.join(filter(None, said.values()))}): "
    effect += (
        "probably an evaluation, on which nothing is trained" if tells > tell else "nothing tells which of the two are trained on"
    )
    means = [float(of["reward"].mean()) for of in (mine, others)]
    effect += f"; their mean reward is {fmt(means[0])}, that of the others {fmt(means[1])}" if np.isfinite(means).all() else ""
    effect += f"; the filter step NOT IN ({', '.join(map(str, at))}) leaves them out" if tells > tell and whole else ""
    shown = context.keys[mine.groupby("step").cumcount().sort_values(kind="stable").index]  # one of each step first
    share, title = len(mine) / steps.isin(odd).sum(), "" if tells > tell else "Steps of another make-up"
    return Found(effect, at[0], at[-1], "share", share, _CERTAIN, shown, title=title, at_steps=at)


def _look_for_turns(context: Context, limits: Limits) -> Answer:
    names = [name for name in (*context.frame.columns, *context.run.text_columns) if _EPISODE.fullmatch(str(name))]
    found = {str(name): pd.factorize(_said(context, name).astype(object))[0] for name in names}
    if not any((codes >= 0).any() for codes in found.values()):
        return CannotTell("no rollout names its episode")
    turn = next((context.number(name) for name in context.frame.columns if _TURN.fullmatch(str(name))), None)
    rows = {"turn": 0.0 if turn is None else turn, "step": context.steps.row, "group": context.group_rows}
    for name, codes in found.items():
        # an episode's name may be one of the run, of its step, or of its group alone
        for within in (context.group_rows, context.steps.row):
            table = pd.DataFrame({"within": within, "name": codes, "reward": context.number("reward"), **rows})
            table = table[codes >= 0].sort_values("turn", kind="stable")
            episodes = table.groupby(["step", "within", "name"], sort=False, observed=True)
            many = len(table) and (episodes.size() > 1).mean() >= limits["share"]
            if many and _are_turns(episodes, name, has_turns=turn is not None):
                return _found_turns(context, table, name, limits)
    return None


def _said(context: Context, name: str) -> "pd.Series[Any]":
    """(rows,) what a column or a text says of each rollout."""
    return context.frame[name] if name in context.frame.columns else context.run.texts(name, context.keys).to_pandas()


def _are_turns(episodes: Any, name: str, *, has_turns: bool) -> bool:
    """Whether rows of one name are turns: each of another number, or all of one reward and not as many of each name as of others."""
    sizes = episodes.size()
    several = sizes[sizes > 1].index
    if has_turns:
        return bool((episodes["turn"].nunique() == sizes).loc[several].mean() >= 0.95)
    alike = (episodes["reward"].nunique() <= 1).loc[several].mean() >= 0.95
    return bool(alike and sizes.nunique() > 1 and not name.startswith(("sample", "sequence")))


def _found_turns(context: Context, table: pd.DataFrame, name: str, limits: Limits) -> Found:
    of_episode = table.groupby(["step", "within", "name"], sort=False, observed=True)
    by, first = of_episode["reward"], int(context.steps.numbers[0])
    rewards = by.last().where((by.nunique() <= 1) | np.isclose(by.sum(), by.last()), by.sum(min_count=1))
    rows, right, spread = float(table["reward"].mean()), float(rewards.mean()), float(rewards.std(ddof=0))
    off = abs(rows - right) / spread if spread > 0 else 0.0
    of_step = rewards.index.get_level_values("step")
    grouped = table[table["group"] >= 0].groupby("group")
    sizes, members = grouped.size(), of_episode.first().query("group >= 0").groupby("group").size()
    facts = [f"the {len(table):,} rows are turns of {len(rewards):,} episodes ({name})"]
    if np.isfinite(right):
        of_first = ", ".join(fmt(float(of[at == 0].mean())) for of, at in ((table["reward"], table["step"]), (rewards, of_step)))
        facts.append(f"the mean reward is {fmt(rows)} over rows and {fmt(right)} over episodes (at step {first}: {of_first})")
    if len(sizes):
        between = f"{sizes.min():,} to {sizes.max():,}" if sizes.min() < sizes.max() else f"{sizes.max():,}"
        facts.append(f"groups have {between} rows and {members.median():g} episodes, and pass@k counts every turn as a sample")
    shown = context.clearest(np.isin(np.arange(len(context.keys)), table.index))
    severity: Severity | None = "error" if off > limits["off"] else None
    return Found.since(context, 0, "; ".join(facts), "off", off, _CERTAIN, shown, severity=severity)


def _look_for_failed(context: Context, limits: Limits) -> Answer:
    rewards = context.number("reward")
    known, marks = np.isfinite(rewards), failed(context.run)
    counted, others = known & marks, rewards[known & ~marks]
    if not counted.any():
        return None if known.any() else CannotTell("no rollout has a reward")
    value = float(np.median(rewards[counted]))
    empty = marks & (context.number("response_chars") == 0)
    in_words = len(np.unique(others)) == 1 and value not in others and empty.sum() < 0.5 * marks.sum()
    begun = judged(context, counted, known, limits, usual=0.01)
    if begun is None or in_words or (rewards[counted] == value).mean() < _ALIKE or (len(others) and value > others.mean()):
        return None
    since = context.since(begun.at)
    count, of = int((counted & since).sum()), int((known & since).sum())
    of_them = (known & since, known & since & ~marks, known & ~since)
    means = [float(rewards[one].mean()) if one.any() else np.nan for one in of_them]
    before = f", before {fmt(means[2])}" if np.isfinite(means[2]) else ""
    effect = f"from step {begun.step} on {percent(count / of)} of the rollouts ({count:,} of {of:,}) failed "
    effect += f"({', '.join([*failure_reasons(context.run, marks & since), f'{(empty & since).sum():,} empty'])})"
    effect += (
        f" and count with a reward of {fmt(value)}: the mean reward is {fmt(means[0])}{before}, without them {fmt(means[1])}"
    )
    at = tuple(np.unique(context.steps.of_rows[counted & since]).tolist())
    return begun.found(effect, context.clearest(counted & since), at_steps=at)


KINDS: Final[tuple[Kind, ...]] = (
    declared("other_make_up", _look_for_others),
    declared("rows_are_turns", _look_for_turns),
    declared("failed_as_zero", _look_for_failed),
)
"""What is looked for."""
