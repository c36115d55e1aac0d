"""The report as Markdown, and its place in README.md: between two markers, what stands around them is left alone."""

from collections.abc import Sequence
from typing import Any, Final

from benchmarks.parts import PARTS
from benchmarks.sections import Section, markdown, summary

START: Final = "<!-- results: written by `python benchmarks` -->"
END: Final = "<!-- /results -->"


def whole(about: dict[str, Any], sections: Sequence[Section]) -> str:
    """When and on what it was measured, every goal, then the parts in their order."""
    blocks = [_about(about), "## Goals", summary(sections)]
    for name, title in PARTS.items():
        own = [section for section in sections if section.part == name]
        if own:
            blocks += [f"## {title}", *(markdown(section) for section in own)]
    return "\n\n".join(blocks)


def _about(about: dict[str, Any]) -> str:
    machine = about["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return "\n".join(
        [
            f"- Measured: {about['date']}, in {about['minutes']} minutes",
            f"- Machine: {machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}",
            f"- Load average before: {about['load_before']}; after: {about['load_after']}",
            f"- Versions: {versions}",
            f"- Plan: {', '.join(f'{name} {value}' for name, value in about['plan'].items())}",
        ]
    )


def between_markers(text: str, report: str) -> str:
    """The text with the report in the place of the one before. Raises ValueError when it does not have each marker once, in order."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end or text.count(START) != 1 or text.count(END) != 1:
        raise ValueError(f"The text must have {START} and then {END}, each once.")
    return f"{before}{START}\n\n{report}\n\n{END}{after}"
