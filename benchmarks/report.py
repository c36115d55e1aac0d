"""What the parts found, kept as JSON; the report of it as Markdown, and its place in README.md: between two markers, what stands around
them is left alone."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.parts import PARTS
from benchmarks.plan import Plan
from benchmarks.sections import Section, from_json, markdown, summary, to_json

START: Final = "<!-- results: written by `python benchmarks` -->"
END: Final = "<!-- /results -->"


@dataclass(frozen=True)
class MeasuredPart:
    """What a part found, and of when and on what that is: date, commit, machine, versions, plan, load before and after, minutes."""

    about: dict[str, Any]
    sections: tuple[Section, ...]


def read(path: Path) -> dict[str, MeasuredPart]:
    """The parts that the file holds, by name; none where there is no file. Those that the benchmark no longer has are left out."""
    if not path.exists():
        return {}
    parts = json.loads(path.read_text(encoding="utf-8"))["parts"]
    return {
        name: MeasuredPart(part["about"], tuple(from_json(section) for section in part["sections"]))
        for name, part in parts.items()
        if name in PARTS
    }


def write(parts: Mapping[str, MeasuredPart], path: Path) -> None:
    """Write what `read` reads, in the order of PARTS."""
    held = {
        name: {"about": parts[name].about, "sections": [to_json(section) for section in parts[name].sections]}
        for name in PARTS
        if name in parts
    }
    path.write_text(json.dumps({"parts": held}, indent=1) + "\n", encoding="utf-8")


def whole(parts: Mapping[str, MeasuredPart]) -> str:
    """Every goal, then the parts in their order, each with when and on what it was measured."""
    blocks = ["## Goals", summary(section for part in parts.values() for section in part.sections)]
    for name, title in PARTS.items():
        if name in parts:
            part = parts[name]
            blocks += [f"## {title}", _about(part.about), *(markdown(section) for section in part.sections)]
    return "\n\n".join(blocks)


def _about(about: dict[str, Any]) -> str:
    machine = about["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    before, after = about["load"]
    return "\n".join(
        [
            f"- Measured: {about['date']}, commit {about['commit']}, in {about['minutes']} minutes",
            f"- Load average before: {before}; after: {after}",
            f"- Plan: {_differences(about['plan']) or 'as the command has it'}",
            f"- Machine: {machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}",
            f"- Versions: {versions}",
        ]
    )


def _differences(plan: Mapping[str, Any]) -> str:
    """What of a plan is not as the command has it without options."""
    default = json.loads(json.dumps(asdict(Plan())))
    other = {name: value for name, value in json.loads(json.dumps(plan)).items() if value != default.get(name)}
    return ", ".join(f"{name} {value}" for name, value in other.items())


def between_markers(text: str, report: str) -> str:
    """The text with the report in the place of the one before. Raises ValueError when it does not have each marker once, in order."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end or text.count(START) != 1 or text.count(END) != 1:
        raise ValueError(f"The text must have {START} and then {END}, each once.")
    return f"{before}{START}\n\n{report}\n\n{END}{after}"
