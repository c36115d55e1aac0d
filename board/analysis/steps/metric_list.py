"""The metrics of a run, from its rollouts and from logs, as panels; and missing ones.

Values and scalars in, panels out: named, in families, searched, with the first departure from the healthy range. Computes no metric and
draws nothing.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board import schema
from board.analysis.steps.healthy_range import Departure, first_departure
from board.analysis.steps.logged_curves import Logged, filled
from board.analysis.steps.step_metrics.own_means import made_of
from board.analysis.texts.measured_columns import declared as declared_column
from board.analysis.texts.measured_columns import family
from board.metrics import declared
from board.metrics.declared.contract import FAMILIES, Metric, Words
from board.metrics.formulas import Float64Array
from board.text.display import shorten, visible
from board.text.path_names import shown

Origin = Literal["all", "rollouts", "tracker"]

UNKNOWN: Final = "unknown"
"""Family of logged scalars that the catalogue does not know."""

HEADINGS: Final[Mapping[str, Words]] = {
    "reward": Words("Reward", "奖励"),
    "groups": Words("Groups", "分组"),
    "kl": Words("KL to the reference", "与参考策略的 KL"),
    "policy": Words("Policy", "策略"),
    "update": Words("Update", "更新"),
    "critic": Words("Critic", "价值模型"),
    "advantage": Words("Advantages and returns", "优势与回报"),
    "length": Words("Length", "长度"),
    "text": Words("Text", "文本"),
    "mismatch": Words("Training against inference", "训练与推理的偏差"),
    "evaluation": Words("Evaluation", "评估"),
    "loss": Words("Loss", "损失"),
    "optimiser": Words("Optimiser", "优化器"),
    "counts": Words("Counts", "计数"),
    "time": Words("Time", "时间"),
    "memory": Words("Memory", "内存与显存"),
    "system": Words("System", "系统"),
    "other": Words("Other", "其他"),
    UNKNOWN: Words("Logged by the trainer", "训练器记录的其他标量"),
}
"""Family → its heading."""

SECTIONS: Final[Mapping[str, Words]] = {
    "pinned": Words("Pinned", "已固定"),
    "departed": Words("Left the healthy range", "超出正常范围"),
    "keys": Words("One of each family", "每类一项"),
    "lacks": Words("Rollouts of this run do not give", "本次运行的 rollout 未能给出"),
    "trainer": Words("Logged by the trainer only", "仅由训练器记录"),
    "texts": Words("Texts that the trainer logged", "训练器记录的文本"),
    "others": Words("Logged and not shown", "已记录但未显示"),
}
"""Section that is no family → its heading."""

INTRODUCTIONS: Final[Mapping[str, Words]] = {
    "mismatch": Words(
        "How far the inference engine that sampled the tokens and the trainer that learns from them disagree on their logprobs. "
        "Far apart, the update is off-policy without saying so.",
        "采样 token 的推理引擎与用其学习的训练器，二者的 logprob 相差多少。相差很大时，更新实际上已是离策略的，却没有任何提示。",
    ),
    "critic": Words(
        "Whether the critic's values predict what the rollouts then return: explained variance near 1 is good, below 0 is worse than "
        "a constant; bias and error say in which direction and by how much.",
        "价值模型的估计能否预测 rollout 之后的实际回报：解释方差接近 1 为好，低于 0 还不如常数；偏差与误差说明偏向哪边、差多少。",
    ),
}
"""Family → a line on what its panels show together."""

MOST_LETTERS: Final = 60
"""A name on the screen is cut in the middle beyond it."""

_UNWRITABLE: Final = re.compile("[\ud800-\udfff]")
"""Halves of characters, which no encoding has."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One metric of a run, by step."""

    key: str
    name: str
    """In the dialect, else as the trainer logged it or the board calls it: may be text of a run."""
    family: str
    metric: Metric | None
    own: "pd.Series[float] | None"
    """From rollouts: index step; None where they do not give it."""
    logged: tuple[Logged, ...] = ()
    unfiltered: "pd.Series[float] | None" = None
    """As `own`, of all rollouts, where `own` is of those that a filter leaves."""
    compared: Mapping[str, "pd.Series[float]"] = field(default_factory=dict)
    """Further curves of rollouts to compare `own` with, by what they are called."""

    @cached_property
    def departure(self) -> "Departure | None":
        """Where the values from rollouts first leave the healthy range, or those logged where there are no others."""
        if self.metric is None:
            return None
        if self.own is not None:
            return first_departure(self.metric.reading, *points(self.own))
        found = [first_departure(self.metric.reading, one.curve.steps, one.curve.values) for one in self.logged]
        return min((one for one in found if one is not None), key=lambda one: one.step, default=None)

    @cached_property
    def broken(self) -> "Departure | None":
        """The first step whose logged value is NaN or infinite, and how many steps' are; None where all are numbers.

        From rollouts NaN is a step without a value; a trainer that logs it had one.
        """
        found = [
            (one.curve.steps[bad], one.curve.values[bad]) for one in self.logged if (bad := ~np.isfinite(one.curve.values)).any()
        ]
        if not found:
            return None
        steps, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        first = int(np.argmin(steps))
        return Departure(int(steps[first]), float(values[first]), len(np.unique(steps)))

    @property
    def left(self) -> "Departure | None":
        """Where the metric first left what is healthy: its range, or the numbers."""
        found = [one for one in (self.broken, self.departure) if one is not None]
        return min(found, key=lambda one: one.step, default=None)

    @property
    def ranged(self) -> bool:
        """Whether there is a healthy range to leave; what became NaN or infinite has left it, bounds or not."""
        return self.broken is not None or (self.metric is not None and self.metric.reading.ranged)


_SHOWN_BY: Final[Mapping[str, str]] = {
    "kl": "kl",
    "critic": "value",
    "advantage": "advantage",
    "mismatch": "mismatch",
}
"""Family → the token metric that shows its departures."""


def token_metric(metric: Metric) -> str | None:
    """Screen name of the token metric that shows a departure of the metric, where its reading sends to the tokens and there is one."""
    if metric.reading.look != "tokens":
        return None
    entropy = "entropy" if metric.family == "policy" and "entropy" in metric.key else ""
    name = entropy or _SHOWN_BY.get(metric.family, "")
    return name if name in schema.BY_TITLE else None


def short_name(name: str, most: int = MOST_LETTERS) -> str:
    """A name that may be text of a run as one short line on the screen, every character to be seen, long ones cut in the middle.

    Controls and what turns the direction of writing around stand as ⟨U+202E⟩.
    """
    seen = visible(_UNWRITABLE.sub("\ufffd", name))
    if len(seen) <= most:
        return seen or "(no name)"
    end = (most - 1) // 2
    return f"{shorten(seen, most - 1 - end)}…{seen[-end:]}"


def line_names(logged: Sequence[Logged], most: int = MOST_LETTERS // 3) -> list[str]:
    """What the curves of one panel are called: their trackers; where that is not enough their scalars too, else where they lie."""
    trackers = [one.source.tracker for one in logged]
    scalars = [f"{one.source.tracker} {short_name(one.name, most)}" for one in logged]
    places = [
        f"{one.source.tracker} {short_name(shown(f'{one.source.path.parent.name}/{one.source.path.name}'), most)}"
        for one in logged
    ]
    both = [f"{place} {short_name(one.name, most)}" for place, one in zip(places, logged, strict=True)]
    numbered = [f"{name} {number}" for number, name in enumerate(trackers, 1)]
    chosen = next((names for names in (trackers, scalars, places, both) if len({*names}) == len(names)), numbered)
    return [tracker if trackers.count(tracker) == 1 else name for tracker, name in zip(trackers, chosen, strict=True)]


def points(curve: "pd.Series[float]") -> tuple[NDArray[np.int64], Float64Array]:
    """Steps and values of a curve whose index is the step."""
    return curve.index.to_numpy(np.int64), np.asarray(curve, np.float64)


def panels(values: pd.DataFrame, logged: Sequence[Logged], dialect: str, unfiltered: pd.DataFrame | None = None) -> list[Panel]:
    """A panel for each metric that has a curve, in the order of families, in each that of the catalogue.

    `values` has a column per key of the board, index step; what was logged under the same key joins it, and the column of `unfiltered`.
    """
    by_key: dict[str, list[Logged]] = {}
    for one in logged:
        by_key.setdefault(one.key, []).append(one)
    of_all = {} if unfiltered is None else dict(unfiltered.items())
    made = [
        replace(_panel(key, values.get(key), by_key.get(key, []), dialect), unfiltered=of_all.get(key))
        for key in {**values, **by_key}
    ]
    families = [*FAMILIES, UNKNOWN]
    return sorted(made, key=lambda panel: (families.index(panel.family), _RANK.get(_template(panel), len(_RANK))))


_RANK: Final[Mapping[str, int]] = {key: at for at, key in enumerate(declared.METRICS)}


def _template(panel: Panel) -> str:
    return panel.key if panel.metric is None else panel.metric.key


def _panel(key: str, own: "pd.Series[float] | None", logged: Sequence[Logged], dialect: str) -> Panel:
    metric = logged[0].metric if logged else None
    metric = metric or declared.METRICS.get(key)
    if metric is None:
        family = _family_of(key)
        return Panel(key, logged[0].name if own is None else key, family, None, own, tuple(logged))
    return Panel(key, _name(metric, key, logged, dialect), metric.family, metric, own, tuple(logged))


def _family_of(key: str) -> str:
    """The family of what no metric of the catalogue gives: a column of the run's rollouts, or what only its trainer logged."""
    made, name = made_of(key) or ("", "")
    if made == "column":
        return family(name) or "other"
    return key.partition("/")[0] if made else UNKNOWN


def column_of(key: str) -> str:
    """The column whose mean a key is of."""
    made = made_of(key)
    return key if made is None else made[1]


def unit_of(panel: Panel) -> str:
    """The unit of a panel's numbers; empty where none is declared."""
    if panel.metric is not None:
        return panel.metric.unit
    column = declared_column(column_of(panel.key))
    return column.unit if column else ""


def _name(metric: Metric, key: str, logged: Sequence[Logged], dialect: str) -> str:
    """As the dialect calls it; where it has no name for it as it was logged, and else as the board calls it."""
    named = declared.name_of(dialect, metric.key)
    if named is None:
        return logged[0].name if logged and not metric.needs else key
    found = declared.resolve_any(logged[0].name) if logged and "{" in named else None
    return filled(named, found[2]) if found else named


def matching(listed: Iterable[Panel], query: str = "", families: Collection[str] = (), origin: Origin = "all") -> list[Panel]:
    """Panels whose name or meaning in either language holds every word of the query, of these families (all if none), of that origin."""
    words = query.casefold().split()
    return [
        panel
        for panel in listed
        if (not families or panel.family in families)
        and (origin == "all" or (panel.own is not None if origin == "rollouts" else panel.logged))
        and _holds(words, [panel.key, panel.name, *(one.name for one in panel.logged)], panel.metric, panel.family)
    ]


def _holds(words: Sequence[str], names: Sequence[str], metric: Metric | None, family: str) -> bool:
    if not words:
        return True
    meant = [*metric.meaning, *catalogue_names(metric).values()] if metric else []
    text = " ".join([*names, *meant, *HEADINGS[family]]).casefold()
    return all(word in text for word in words)


@cache
def catalogue_names(metric: Metric) -> dict[str, str]:
    """What each dialect that has a name for the metric calls it, by the dialect's title."""
    named = {dialect.title: declared.name_of(name, metric.key) for name, dialect in declared.DIALECTS.items()}
    return {title: name for title, name in named.items() if name is not None}


@dataclass(frozen=True)
class Absent:
    """A metric that a dialect names and the run has no curve of."""

    name: str
    metric: Metric
    lacks: tuple[str, ...]
    """Fields it needs that no rollout has; empty where only the trainer knows it, or no step has the numbers."""


def absent(
    listed: Iterable[Panel], dialect: str, fields: Collection[str], query: str = "", texts: Collection[str] = ()
) -> list[Absent]:
    """Metrics of the dialect without a curve, in its order; `fields` are those that the run has, `texts` the keys of its texts."""
    there = {*map(_template, listed), *texts}
    words = query.casefold().split()
    missing: dict[str, Absent] = {}
    for name, key in declared.DIALECTS[dialect].names.items():
        metric = declared.METRICS[key]
        if key in there or key in missing or not _holds(words, [name, key], metric, metric.family):
            continue
        missing[key] = Absent(name, metric, tuple(field for field in metric.needs if field not in fields))
    return list(missing.values())


def key_panel(members: Sequence[Panel]) -> Panel:
    """The one of a family to look at first: of those with a curve the first with a healthy range, else with a direction, else the first."""
    read = [(panel, panel.metric.reading) for panel in members if panel.metric is not None]
    ranged = (panel for panel, reading in read if reading.ranged)
    directed = (panel for panel, reading in read if reading.better in ("up", "down"))
    return next(ranged, None) or next(directed, None) or members[0]


def by_family(listed: Iterable[Panel]) -> dict[str, list[Panel]]:
    """Panels under their families, in the order they come."""
    found: dict[str, list[Panel]] = {}
    for panel in listed:
        found.setdefault(panel.family, []).append(panel)
    return found
