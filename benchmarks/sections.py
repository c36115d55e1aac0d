"""What a part of the benchmark hands over: titled tables of figures, and how they are written as JSON and as Markdown."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.goals import GOALS, verdict


@dataclass(frozen=True)
class Figure:
    """A median of so many rounds with the least and the greatest of them; `goal` is a key of GOALS."""

    value: float
    low: float
    high: float
    rounds: int
    unit: str
    goal: str | None = None


def figure(values: Sequence[float], unit: str, goal: str | None = None) -> Figure:
    """The median of what the rounds gave. Raises StatisticsError when there was no round."""
    return Figure(statistics.median(values), min(values), max(values), len(values), unit, goal)


def ratio(over: Sequence[float], under: Sequence[float], goal: str | None = None) -> Figure:
    """The median of the ratios within each round: on a shared machine they say more than the ratio of two medians."""
    return figure([a / b for a, b in zip(over, under, strict=True)], "×", goal)


Cell = str | Figure


@dataclass(frozen=True)
class Section:
    """One table of one part; `failure` says why figures are missing, and then there may be no rows."""

    part: str
    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    note: str = ""
    failure: str = ""
    seconds: float = 0.0


def to_json(section: Section) -> dict[str, Any]:
    """Plain data."""
    return asdict(section)


def from_json(written: dict[str, Any]) -> Section:
    """The section that `to_json` wrote."""
    rows = tuple(tuple(Figure(**cell) if isinstance(cell, dict) else str(cell) for cell in row) for row in written["rows"])
    return replace(Section(**written), columns=tuple(written["columns"]), rows=rows)


def markdown(section: Section) -> str:
    """The section as a heading, its note, a failure if there was one, and the table."""
    blocks = [f"### {section.title}", section.note, f"**Failed:** {section.failure}" if section.failure else "", _table(section)]
    return "\n\n".join(block for block in blocks if block)


def _table(section: Section) -> str:
    if not section.rows:
        return ""
    sides = ["---:" if any(isinstance(row[at], Figure) for row in section.rows) else "---" for at in range(len(section.columns))]
    lines = [section.columns, sides, *([shown(cell) for cell in row] for row in section.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(cell: Cell) -> str:
    """A cell as Markdown: the median, the range of the rounds, and the goal with met or not met."""
    if isinstance(cell, str):
        return cell.replace("|", "\\|").replace("\n", " ")
    text = number(cell.value)
    if number(cell.low) != number(cell.high):
        text += f" ({number(cell.low)}–{number(cell.high)})"
    if cell.goal:
        goal = GOALS[cell.goal]
        text += f", goal {goal}: **{verdict(goal, cell.value)}**"
    return text


def number(value: float) -> str:
    """Three significant digits, whole from a hundred on."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def summary(sections: Iterable[Section]) -> str:
    """Every goal with its figures; one that nothing measured says so. Of several figures the one furthest from the goal decides."""
    found: dict[str, list[tuple[str, Figure]]] = {key: [] for key in GOALS}
    for section in sections:
        for row in section.rows:
            for cell in row:
                if isinstance(cell, Figure) and cell.goal:
                    found[cell.goal].append((f"{section.title}, {row[0]}", cell))
    lines = ["| goal | limit | worst figure | where | |", "|---|---:|---:|---|---|"]
    for key, figures in found.items():
        goal = GOALS[key]
        if not figures:
            lines.append(f"| {goal.words} | {goal} | | | not measured |")
            continue
        where, worst = (min if goal.at_least else max)(figures, key=lambda named: named[1].value)
        said = verdict(goal, worst.value)
        lines.append(f"| {goal.words} | {goal} | {number(worst.value)} {goal.unit} | {shown(where)} | **{said}** |")
    return "\n".join(lines)
