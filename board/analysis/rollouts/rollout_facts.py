"""Facts of one rollout, a line each: numbers, group, prompt, ground truth, its row; and the condition for those like it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from board.analysis.rollouts.selection import numeric_columns, of_step
from board.runs.cache.rollout import Rollout
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run
from board.schema import IDS, heading, unit
from board.sql.identifiers import column, literal
from board.text.counting import plural
from board.text.display import shorten
from board.text.format_number import fmt, with_all_digits
from board.text.system_prompts import Hiding, without_system_prompt

LINE_CHARS: Final = 400
"""A folded line holds the beginning of a text; more fits on no screen."""

SHOWN_CHARS: Final = 20_000
"""So much of a text is sent along with the tokens; all of it is on the Responses page."""

MOST_MEMBERS: Final = 100
"""Rollouts of a group that are listed."""

_LEADING: Final = ("reward", "valid_reward", "advantage_mean", "response_length")
_GROUP: Final = ("group", "group_id")


@dataclass(frozen=True)
class Particular:
    """One line: its name, what is shown next to it while it is folded, and what it unfolds to."""

    name: str
    line: str
    """Without line ends."""
    text: str
    note: str = ""


def particulars(run: Run, rollout: Rollout, hiding: Hiding | None = None) -> list[Particular]:
    """What the row has of it, in the order of the screen; `hiding` as in a View: how its system prompt is hidden."""
    prompt, cut = without_system_prompt(rollout["prompt"] or "", hiding)
    row = run.frame.loc[[rollout.key]].iloc[0]
    found = [
        _numbers(row, numeric_columns(run.frame)),
        _group(run, rollout, row),
        _text("prompt", None if rollout["prompt"] is None else prompt, "system prompt hidden" if cut else ""),
        _text("ground truth", rollout["ground_truth"]),
        _place(row, rollout),
    ]
    return [one for one in found if one is not None]


def _numbers(row: "pd.Series[Any]", names: Iterable[str]) -> Particular | None:
    """The rewards, the advantage and the length on the line; every number of the row beneath."""
    numbers = {name: float(row[name]) for name in names if name not in _GROUP and pd.notna(row[name])}
    if not numbers:
        return None
    leading = [name for name in _LEADING if name in numbers]
    ordered = [*leading, *(name for name in numbers if name not in leading)]
    named = "reward" in numbers
    parts = [f"{heading(name)} {fmt(numbers[name])}" for name in (leading or ordered[:4])]
    line = " · ".join(parts).removeprefix("reward " if named else "")
    text = "\n".join(f"{heading(name)}: {with_all_digits(numbers[name], unit(name))}" for name in ordered)
    return Particular("reward" if named else "numbers", line, text, plural(len(numbers), "number"))


def _group(run: Run, rollout: Rollout, row: "pd.Series[Any]") -> Particular | None:
    """How many were sampled with it, and where its reward stands among theirs; each of them beneath."""
    if pd.isna(row.get("group")):
        return None
    step = of_step(run.frame, rollout.step)
    members = step[step["group"] == row["group"]]
    own = row.get("group_id")
    parts = [str(own) if pd.notna(own) else f"number {fmt(row['group'])} of the step", plural(len(members), "rollout")]
    rewards = members["reward"].dropna() if "reward" in members.columns else pd.Series(dtype=float)
    if len(rewards):
        parts.append(f"reward {fmt(rewards.min())} to {fmt(rewards.max())}, mean {fmt(float(rewards.mean()))}")
    if pd.notna(row.get("reward")):
        parts.append(f"this one number {1 + int((rewards > row['reward']).sum())} of {len(rewards)}")
    listed = members.loc[members.index[:MOST_MEMBERS], [name for name in _LEADING if name in members.columns]]
    keys = listed.index.to_numpy()
    lines = [
        _member(numbers, source, key == rollout.key)
        for key, numbers, source in zip(keys.tolist(), listed.to_dict("records"), run.sources(keys), strict=True)
    ]
    if len(members) > len(listed):
        lines.append(f"and {len(members) - len(listed):,} more")
    return Particular("group", " · ".join(parts), "\n".join(lines))


def _member(numbers: Mapping[Any, float], source: str, this: bool) -> str:
    shown = [f"{heading(name)} {fmt(number)}" for name, number in numbers.items() if pd.notna(number)]
    return " · ".join([source, *shown, *(["this one"] if this else [])])


def _text(name: str, text: str | None, note: str = "") -> Particular | None:
    if text is None:
        return None
    shown = shorten(text, SHOWN_CHARS)
    notes = [note, f"the first {len(shown):,} of" if len(shown) < len(text) else ""]
    length = plural(len(text), "character")
    noted = " · ".join(filter(None, notes))
    gap = " " if noted.endswith(" of") else " · " if noted else ""
    return Particular(name, _one_line(shown) or "(empty)", shown, noted + gap + length)


def _one_line(text: str) -> str:
    return shorten(text, LINE_CHARS).replace("\r\n", "\n").replace("\r", "\n").replace("\n", " ↵ ")


def _place(row: "pd.Series[Any]", rollout: Rollout) -> Particular:
    """The step and the row's place in its shard; the trainer's own names of it beneath."""
    ids = {name: row[name] for name in IDS if name in row.index and pd.notna(row[name])}
    own = [f"{name} {value}" for name, value in ids.items() if name not in _GROUP]
    line = {"line": rollout.line} if rollout.line else {"byte": rollout.offset}
    whole = {"step": rollout.step, "shard": rollout.shard, **line, **ids}
    text = "\n".join(f"{name}: {value}" for name, value in whole.items())
    return Particular("row", _one_line(" · ".join([f"step {rollout.step}", rollout.source, *own])), text)


def conditions_of_alike(run: Run, key: int) -> dict[str, str]:
    """What the rollout with that key shares with others → the condition in SQL that they satisfy; the words are the board's own.

    The rollout is one of the run's frame. What it lacks, or no other rollout could share, is left out.
    """
    row = run.frame.loc[[key]]
    prompt = int(run.prompt_keys[run.frame.index.get_loc(key)])
    step = f"step = {int(row['step'].iloc[0])}"
    found = {"its step": step}
    if prompt != NO_PROMPT:
        found["its prompt"] = f"prompt_key = {prompt}"
    if "group" in row.columns and pd.notna(row["group"].iloc[0]):
        found["its group"] = f"{step} AND {column('group')} = {int(row['group'].iloc[0])}"
    for name in (name for name in IDS if name in row.columns and pd.notna(row[name].iloc[0])):
        found[f"its {heading(name)}"] = f"{column(name)} = {literal(str(row[name].iloc[0]))}"
    return found
