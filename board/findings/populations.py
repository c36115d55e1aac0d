"""By whom a step's numbers are made: steps of other rollouts than their neighbours, rows that are turns, rollouts that failed and count.

A table of what each step is made of, and the kinds of finding that are looked for in it. A mean is as good as what is in it.
"""

import re
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.failed_rollouts import failed, said_of
from board.checks.completeness import named
from board.checks.contract import Severity
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.outbreaks import judged
from board.findings.spreading import percent
from board.text.counting import plural
from board.text.format_number import fmt

_LEAST_STEPS: Final = 4
_CERTAIN: Final = 50.0
"""Strength of what is counted: there is no noise to beat."""
_IN_FILTER: Final = 50
"""So many steps are named in a filter."""
_ALIKE: Final = 0.8
"""Such a share of steps, groups or prompts that agree is a rule."""
_SEEN: Final = 0.05
"""So few of an evaluation's prompts may be prompts of training, too."""

_EPISODE: Final = re.compile(
    r"(?:rollout|episode|traj|trajectory|session|conversation|dialogue|sample|sequence)(?:_?(?:id|uid|uuid|idx|index|key))?", re.I
)
_TURN: Final = re.compile(
    r"(?:turn|round|hop|message|action|env_step|episode_step|step_in_episode|turn_step)(?:_?(?:id|idx|index|no|num|number))?",
    re.I,
)


def make_up(dossier: Dossier) -> pd.DataFrame:
    """What each rollout is among: the `rows` of its step, the `size` of its prompt's group there, and the `usual` size. (rows,) rows."""
    rows, sizes = dossier.steps.sizes[dossier.steps.row], dossier.clusters.sizes[dossier.clusters.of_rows]
    table = pd.DataFrame({"step": dossier.steps.row, "rows": rows, "size": sizes, "prompt": dossier.prompts})
    return table.assign(usual=table.groupby("step")["size"].median().mode().iloc[0])


def _other_rows(table: pd.DataFrame, limits: Limits) -> NDArray[np.bool_]:
    """(rows,) those of another make-up: in groups of another size than most steps have, or of prompts that several odd steps have alone."""
    other = (table["size"] != table["usual"]).to_numpy()
    other = other & (pd.Series(other).groupby(table["step"]).transform("mean").to_numpy() >= limits["share"])
    if other.any():
        return other
    rows, sizes = table["rows"].to_numpy(), table.groupby("step")["rows"].first()
    usual = sizes.median()
    if not _are_even(sizes):
        return other
    odd = (rows >= limits["factor"] * usual) | (rows * limits["factor"] <= usual)
    batches = table[~odd].drop_duplicates(["step", "prompt"]).groupby("step")["prompt"].sum()
    if batches.nunique() < _ALIKE * len(batches):
        return other  # prompts in an order that stays: every batch comes again, the short one at its end, too
    again = odd & ~table["prompt"].isin(table["prompt"][~odd]).to_numpy()
    return again & (table[again].groupby("prompt")["step"].nunique().reindex(table["prompt"]).to_numpy() > 1)


def _look_for_others(dossier: Dossier, limits: Limits) -> Answer:
    if not dossier.is_training:
        return CannotTell("these are evaluations")
    if len(dossier.steps.numbers) < _LEAST_STEPS:
        return CannotTell(f"{plural(len(dossier.steps.numbers), 'step')} are too few to tell what a step is made of")
    table = make_up(dossier)
    marks = _other_rows(table, limits)
    odd = np.unique(table["step"].to_numpy()[marks])
    if not len(odd) or len(odd) > 0.5 * len(dossier.steps.numbers) or not _is_between(odd, len(dossier.steps.numbers)):
        return None
    signs = _signs(dossier, table, marks, limits)
    return _others(dossier, table, marks, odd, signs) if signs else None


def _is_between(odd: NDArray[np.int64], steps: int) -> bool:
    """Whether steps, by index, stand alone among others: what changes once and for good, or for a while, is a setting."""
    stretches = np.split(odd, np.flatnonzero(np.diff(odd) > 1) + 1)
    alone = all(len(one) == 1 for one in stretches)
    return odd[0] < steps - 1 and alone


def _signs(dossier: Dossier, table: pd.DataFrame, marks: NDArray[np.bool_], limits: Limits) -> list[str]:
    """What tells the marked rollouts of others apart; nothing where their prompts are those of others, or they differ among themselves."""
    mine, others = table[marks], table[~marks]
    counts, usual = mine.groupby("step").size(), others.groupby("step").size()
    even = (mine["size"] == mine["size"].median()).mean() >= _ALIKE and counts.max() <= limits["factor"] * counts.min()
    again = mine.groupby("prompt")["step"].nunique() > 1
    if not even or again.index.isin(others["prompt"]).mean() > _SEEN:
        return []
    if again.mean() >= _ALIKE:
        signs = ["the same each time"]
    else:
        prompts = [of.groupby("step")["prompt"].nunique().median() for of in (mine, others)]
        if (mine["size"] == mine["usual"]).all() or _are_near(prompts[0], prompts[1], 1.1):
            return []  # a batch of another size, or one that lacks a rank or is there twice
        signs = []
    if not _are_near(counts.median(), usual.median(), limits["factor"]) and _are_even(usual):
        signs.append(f"{counts.median():g} rollouts, not {usual.median():g}")
    chars = dossier.number("response_chars")
    lengths = [float(np.median(of)) for one in (marks, ~marks) if len(of := chars[one & np.isfinite(chars)])]
    if len(lengths) > 1 and not _are_near(lengths[0], lengths[1], limits["factor"]):
        signs.append(f"responses of {fmt(lengths[0])} characters, not {fmt(lengths[1])}")
    return signs


def _are_even(sizes: "pd.Series[int]") -> bool:
    """Whether most steps are of one size."""
    return bool((abs(sizes / sizes.median() - 1) <= 0.1).mean() > 0.5)


def _are_near(one: float, other: float, factor: float) -> bool:
    return max(one, other) < factor * max(min(one, other), 1e-9)


def _others(dossier: Dossier, table: pd.DataFrame, marks: NDArray[np.bool_], odd: NDArray[np.int64], signs: list[str]) -> Found:
    mine, steps = table[marks], dossier.steps.numbers[odd]
    rows, prompts = mine.groupby("step").size().median(), mine.groupby("step")["prompt"].nunique().median()
    whole = marks.sum() == np.isin(table["step"], odd).sum()
    rewards = dossier.number("reward")
    means = [float(np.mean(of)) for one in (marks, ~marks) if len(of := rewards[one & np.isfinite(rewards)])]
    told = f"; their mean reward is {fmt(means[0])}, that of the others {fmt(means[1])}" if len(means) > 1 else ""
    if whole and len(odd) <= _IN_FILTER:
        told += f"; the filter step NOT IN ({', '.join(map(str, steps.tolist()))}) leaves them out"
    effect = (
        f"{plural(len(odd), 'step')} ({named(steps)}) {'are' if whole else 'have among their rollouts'} {rows:g} rollouts of "
    )
    effect += (
        f"{prompts:g} prompts that no other step has, in groups of {mine['size'].median():g}, not {mine['usual'].iloc[0]:g} "
    )
    effect += f"({'; '.join(signs)}): probably an evaluation, on which nothing is trained{told}"
    share = float(marks.sum() / np.isin(table["step"], odd).sum())
    by = np.asarray(-table.groupby("step").cumcount(), np.float64)  # one of each step first
    return Found(effect, int(steps[0]), int(steps[-1]), "share", share, _CERTAIN, dossier.clearest(marks, by))


def _look_for_turns(dossier: Dossier, limits: Limits) -> Answer:
    found = [(name, values) for name in _names(dossier, _EPISODE) if (values := _values(dossier, name)) is not None]
    if not found:
        return CannotTell("no rollout names its episode")
    turn = next((dossier.number(name) for name in dossier.frame.columns if _TURN.fullmatch(str(name))), None)
    for name, values in found:
        # an episode's name may be one of the run, of its step, or of its group alone
        for within in (dossier.group_rows, dossier.steps.row):
            table = pd.DataFrame(
                {"within": within, "name": values, "turn": 0.0 if turn is None else turn, "step": dossier.steps.row}
            )
            table = table.assign(row=np.arange(len(values)), reward=dossier.number("reward"), group=dossier.group_rows)
            table = table[table["name"].notna()].sort_values(["turn", "row"])
            episodes = table.groupby(["step", "within", "name"], sort=False, observed=True)
            many = len(table) and (episodes.size() > 1).mean() >= limits["share"]
            if many and _are_turns(episodes, name, has_turns=turn is not None):
                return _found_turns(dossier, table, name, limits)
    return None


def _names(dossier: Dossier, pattern: re.Pattern[str]) -> list[str]:
    return [name for name in dict.fromkeys([*dossier.frame.columns, *dossier.run.text_columns]) if pattern.fullmatch(str(name))]


def _values(dossier: Dossier, name: str) -> "pd.Series[Any] | None":
    """(rows,) what names an episode, as numbers that are equal where it is; missing where a rollout has none."""
    of = dossier.frame[name] if name in dossier.frame.columns else pd.Series(dossier.run.texts(name, dossier.keys).to_pandas())
    codes = pd.Series(pd.factorize(of.astype(object).to_numpy())[0])
    return codes.where(codes >= 0) if (codes >= 0).any() else None


def _are_turns(episodes: Any, name: str, *, has_turns: bool) -> bool:
    """Whether rows of one name are turns: each of another number, or all of one reward and not as many of each name as of others."""
    sizes = episodes.size()
    several = sizes[sizes > 1].index
    if has_turns:
        return bool((episodes["turn"].nunique() == sizes).loc[several].mean() >= 0.95)
    alike = (episodes["reward"].nunique() <= 1).loc[several].mean() >= 0.95
    return bool(alike and sizes.nunique() > 1 and not name.startswith(("sample", "sequence")))


def _found_turns(dossier: Dossier, table: pd.DataFrame, name: str, limits: Limits) -> Found:
    of_episode = table.groupby(["step", "within", "name"], sort=False, observed=True)
    by, first = of_episode["reward"], int(dossier.steps.numbers[0])
    rewards = by.last().where((by.nunique() <= 1) | np.isclose(by.sum(), by.last()), by.sum(min_count=1))
    rows, right, spread = float(table["reward"].mean()), float(rewards.mean()), float(rewards.std(ddof=0))
    off = abs(rows - right) / spread if spread > 0 else 0.0
    of_step = rewards.index.get_level_values("step")
    grouped = table[table["group"] >= 0].groupby("group")
    sizes, members = grouped.size(), of_episode.first().query("group >= 0").groupby("group").size()
    told = [f"the {len(table):,} rows are turns of {len(rewards):,} episodes ({name})"]
    if np.isfinite(right):
        of_first = ", ".join(fmt(float(of[at == 0].mean())) for of, at in ((table["reward"], table["step"]), (rewards, of_step)))
        told.append(f"the mean reward is {fmt(rows)} over rows and {fmt(right)} over episodes (at step {first}: {of_first})")
    if len(sizes):
        between = f"{sizes.min():,} to {sizes.max():,}" if sizes.min() < sizes.max() else f"{sizes.max():,}"
        told.append(f"groups have {between} rows and {members.median():g} episodes, and pass@k counts every turn as a sample")
    shown = dossier.clearest(np.isin(np.arange(len(dossier.keys)), table["row"]))
    severity: Severity | None = "error" if off > limits["off"] else None
    return Found.since(dossier, 0, "; ".join(told), "off", off, _CERTAIN, shown, severity=severity)


def _look_for_failed(dossier: Dossier, limits: Limits) -> Answer:
    rewards = dossier.number("reward")
    known, marks = np.isfinite(rewards), failed(dossier.run)
    counted, others = known & marks, rewards[known & ~marks]
    if not counted.any():
        return None if known.any() else CannotTell("no rollout has a reward")
    value = float(np.median(rewards[counted]))
    empty = marks & (dossier.number("response_chars") == 0)
    in_words = len(np.unique(others)) == 1 and value not in others and empty.sum() < 0.5 * marks.sum()
    begun = judged(dossier, counted, known, limits, usual=0.01)
    if begun is None or in_words or (rewards[counted] == value).mean() < _ALIKE or (len(others) and value > others.mean()):
        return None
    since = dossier.since(begun.at)
    count, of = int((counted & since).sum()), int((known & since).sum())
    of_them = (known & since, known & since & ~marks, known & ~since)
    means = [float(rewards[one].mean()) if one.any() else np.nan for one in of_them]
    before = f", before {fmt(means[2])}" if np.isfinite(means[2]) else ""
    effect = f"from step {begun.step} on {percent(count / of)} of the rollouts ({count:,} of {of:,}) failed "
    effect += f"({', '.join([*said_of(dossier.run, marks & since), f'{(empty & since).sum():,} empty'])})"
    effect += (
        f" and count with a reward of {fmt(value)}: the mean reward is {fmt(means[0])}{before}, without them {fmt(means[1])}"
    )
    return begun.found(effect, dossier.clearest(counted & since))


KINDS: Final[tuple[Kind, ...]] = (
    declared("other_make_up", _look_for_others),
    declared("rows_are_turns", _look_for_turns),
    declared("failed_as_zero", _look_for_failed),
)
"""What is looked for."""
