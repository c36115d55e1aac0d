"""The comparison of two runs as text for the terminal, as JSON and as a table."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from board.analysis.compare.compared_run import ComparedRun
from board.analysis.compare.paired_prompts import BY_STEP
from board.analysis.compare.run_pair import RunPair
from board.analysis.prompts.prompt_list import text_column
from board.analysis.stats.bootstrap import COVERAGE
from board.text.counting import plural
from board.text.display import shorten
from board.text.format_number import MISSING, fmt, signed
from board.text.terminal import on_one_line, printable

VERSION: Final = 1
"""Of the JSON."""

_STEPS: Final = 12
_PROMPTS: Final = 5
_SETTINGS: Final = 40
_LETTERS: Final = 80
"""So much of each is printed in the terminal; JSON has all of it, but for the prompts."""

Settings = Mapping[str, Mapping[str, Any]]


def as_json(pair: RunPair, names: tuple[str, str], settings: Settings, notes: Sequence[str]) -> str:
    """One object as docs/cli.md has it, in ASCII; `settings` are those that differ, `notes` sentences about them."""
    shape = {
        "version": VERSION,
        "runs": [_run(side, name) for side, name in zip((pair.a, pair.b), names, strict=True)],
        "metric": pair.metric,
        "paired": {
            "prompts": pair.total.prompts,
            "unpaired": dict(zip("ab", pair.unpaired, strict=True)),
            **{name: getattr(pair.total, name) for name in ("difference", "low", "high")},
            "level": COVERAGE,
            **{name: getattr(pair.total, name) for name in ("win", "tie", "loss")},
        },
        "by_step": pair.by_step.to_dict("records"),
        "settings": _in_json(settings, str),
        "notes": [*pair.notes, *notes],
    }
    return json.dumps(_in_json(shape), indent=2, allow_nan=False)


def _run(side: ComparedRun, name: str) -> dict[str, Any]:
    """What of a run was compared: its last mean of a step, and the highest."""
    means = side.by_step
    return {
        "run": name,
        "split": side.split,
        "rollouts": len(side.run.frame),
        "steps": len(side.run.steps),
        "last": float(means.iloc[-1]) if len(means) else None,
        "highest": float(means.max()) if len(means) else None,
    }


def _in_json(value: Any, missing: Callable[[float], str | None] = lambda _: None) -> Any:
    """A value as JSON can hold it: what is not finite is null, or what `missing` makes of it."""
    if isinstance(value, Mapping):
        return {str(key): _in_json(one, missing) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(one, missing) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return missing(value) if isinstance(value, float) and not math.isfinite(value) else value


def as_table(pair: RunPair, names: tuple[str, str], notes: Sequence[str] = ()) -> pd.DataFrame:
    """The differences, each row with what was compared: first over all pairs, then of each step, whose `step` is not missing.

    `unpaired_a` and `unpaired_b` are prompts of either run that are in no pair at all, and stand with `win`, `tie`, `loss` and `pairs` in the
    first row alone; so do the `notes`, those of the pair and these, a line each.
    """
    total = pair.total
    whole = {name: getattr(total, name) for name in ("difference", "low", "high", "prompts", "pairs", "win", "tie", "loss")}
    first = whole | {f"unpaired_{side}": count for side, count in zip("ab", pair.unpaired, strict=True)}
    constants = {"run_a": names[0], "run_b": names[1], "split_a": pair.a.split, "split_b": pair.b.split}
    constants |= {"metric": pair.metric, "visits": pair.visits, "level": str(COVERAGE)}
    rows = pd.DataFrame([first, *pair.by_step.to_dict("records")])
    whole_numbers = {name: "Int64" for name in rows.columns if name not in ("difference", "low", "high")}
    rows = rows.astype(whole_numbers)
    if "step" not in rows.columns:
        rows["step"] = pd.array([pd.NA] * len(rows), dtype="Int64")
    columns = ["step", *(name for name in first), "notes"]
    rows["notes"] = ["\n".join([*pair.notes, *notes]), *[""] * (len(rows) - 1)]
    return pd.concat([pd.DataFrame(constants, index=rows.index), rows[columns]], axis="columns")


def as_text(pair: RunPair, names: tuple[str, str], settings: Settings, notes: Sequence[str]) -> str:
    """The comparison in paragraphs, with the prompts that differ most."""
    sides = zip("AB", (pair.a, pair.b), names, strict=True)
    blocks = [
        "\n".join(_side(letter, side, name, pair.metric) for letter, side, name in sides),
        _difference(pair),
        _steps(pair),
        _prompts(pair),
        _settings(settings),
        "\n".join(["Notes:", *(f"  {on_one_line(note)}" for note in (*pair.notes, *notes))]) if pair.notes or notes else "",
    ]
    return printable("\n\n".join(block for block in blocks if block))


def _side(letter: str, side: ComparedRun, name: str, metric: str) -> str:
    summary = _run(side, name)
    counted = f"{plural(summary['rollouts'], 'rollout')} of {side.split} in {plural(summary['steps'], 'step')}"
    return f"{letter}  {on_one_line(name)}: {counted}; {metric} of the last step {fmt(summary['last'])}, highest {fmt(summary['highest'])}"


def _difference(pair: RunPair) -> str:
    total = pair.total
    won = f"B above A on {total.win:,}, equal on {total.tie:,}, below on {total.loss:,}"
    seen = "at the same step" if pair.visits == "same step" else "at its last step in either run"
    return "\n".join(
        [
            f"{pair.metric}, B minus A, on {plural(total.prompts, 'prompt')} that both saw {seen}:",
            f"  difference  {_interval(total.difference, total.low, total.high)}",
            f"  prompts     {'not counted: the runs may be on different scales' if pair.has_scales_apart else won}",
            f"  unpaired    {plural(pair.unpaired[0], 'prompt')} of A, {pair.unpaired[1]:,} of B",
        ]
    )


def _interval(difference: float, low: float, high: float) -> str:
    return f"{signed(difference):>8}  {COVERAGE:.0%} interval {signed(low)} to {signed(high)}"


def _steps(pair: RunPair) -> str:
    if pair.by_step.empty:
        return ""
    chosen = np.unique(np.linspace(0, len(pair.by_step) - 1, _STEPS).round().astype(int))
    shown = pair.by_step.iloc[chosen]
    some = "" if len(shown) == len(pair.by_step) else f", {len(shown)} of {len(pair.by_step):,}"
    rows = [
        f"  {step:>8}  {_interval(difference, low, high)}  {plural(prompts, 'prompt')}"
        for step, difference, low, high, prompts in zip(*(shown[name].tolist() for name in BY_STEP), strict=True)
    ]
    return "\n".join([f"By step{some}:", *rows])


def _prompts(pair: RunPair) -> str:
    most: list[Any] = [*pair.prompts[pair.prompts["difference"] != 0].iloc[:_PROMPTS].itertuples()]
    rows = [f"  {signed(row.difference):>8}  {fmt(row.mean_a)} to {fmt(row.mean_b)}  {_text(pair, row)}" for row in most]
    return "\n".join(["Prompts that differ most:", *rows]) if rows else ""


def _text(pair: RunPair, row: Any) -> str:
    """How the prompt begins, as A has it, and the steps at which both runs sampled it."""
    run, key = pair.a.run, int(row.rollout_a)
    column = text_column(run)
    text = run.texts(column, [key]).to_pylist()[0] if column else None
    step = f"step {row.step_a}" if row.step_a == row.step_b else f"steps {row.step_a} and {row.step_b}"
    return f"{step}: {shorten(on_one_line(text or MISSING), _LETTERS)}"


def _settings(settings: Settings) -> str:
    if not settings:
        return ""
    rows = [
        f"  {on_one_line(name)}: {_value(sides, 'a')} | {_value(sides, 'b')}" for name, sides in [*settings.items()][:_SETTINGS]
    ]
    more = [f"  and {len(settings) - _SETTINGS:,} more"] if len(settings) > _SETTINGS else []
    return "\n".join(["Settings that differ, A | B:", *rows, *more])


def _value(sides: Mapping[str, Any], side: str) -> str:
    """A setting's value verbatim; that it is not set there."""
    return (
        shorten(on_one_line(json.dumps(_in_json(sides[side], str), ensure_ascii=False)), _LETTERS)
        if side in sides
        else "(not set)"
    )
