"""How well the findings of a run fit its truth; reads what the command prints and what was written, nothing else."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

FIRST: Final = 3
"""So many findings a reader looks at."""
SLACK: Final = 2
"""Logged steps by which a date may be off."""
SEVERE: Final = ("warning", "error")
Finding = dict[str, Any]
Truth = dict[str, Any]


@dataclass(frozen=True)
class Score:
    """One run."""

    case: str
    kind: str
    planted: bool
    found: bool = False
    """One of the first findings names the fault and has its dates."""
    named: bool = False
    """One of the first findings names it."""
    anywhere: bool = False
    """Any finding names it and has its dates."""
    severe: bool = False
    """The finding that counts as found is as severe as it should be."""
    right: int = 0
    """Warnings and errors about the fault or its consequences."""
    wrong: tuple[str, ...] = ()
    """All other warnings and errors."""
    missed: str = ""
    """What was said of a fault that was not found."""
    failure: str = ""

    @property
    def accusations(self) -> int:
        """Warnings and errors."""
        return self.right + len(self.wrong)


def names(finding: Finding, words: Iterable[str]) -> bool:
    """Whether a finding holds all words of one entry, `a + b`; `a|b` is one or the other."""
    text = " ".join([*(str(finding.get(key, "")) for key in ("kind", "title", "effect")), *finding.get("signs", ())]).lower()
    return any(all(any(one in text for one in word.split("|")) for word in entry.split(" + ")) for entry in words)


def dated(finding: Finding, truth: Truth) -> bool:
    """Whether first and last step are those of the fault; what grows may be told until it is all there."""
    steps = truth["steps"]
    first, last = (bisect_left(steps, finding.get(key) or 0) for key in ("first_step", "last_step"))
    begin, grown, least, end = (steps.index(truth[key]) for key in ("first", "grown", "last_least", "last"))
    return begin - SLACK <= first <= grown + SLACK and least - SLACK <= last <= end + SLACK


def overlaps(finding: Finding, truth: Truth) -> bool:
    """Whether a finding speaks of a time at which the fault is there."""
    steps = truth["steps"]
    first, last = (bisect_left(steps, finding.get(key) or 0) for key in ("first_step", "last_step"))
    return first <= steps.index(truth["last"]) + SLACK and last >= steps.index(truth["first"]) - SLACK


def score(document: dict[str, Any], truth: Truth) -> Score:
    """How a document of the command fits the truth about its run."""
    findings: list[Finding] = document["findings"]
    severe = [one for one in findings if one["severity"] in SEVERE]
    if truth["fault"] is None:
        return Score(truth["case"], truth["kind"], False, wrong=tuple(map(short, severe)))
    words = truth["words"]
    about = [one for one in severe if names(one, [*words, *truth["consequences"]]) and overlaps(one, truth)]
    hits = [one for one in findings if names(one, words) and dated(one, truth)]
    first = [one for one in findings[:FIRST] if one in hits]
    return Score(
        truth["case"],
        truth["kind"],
        True,
        found=bool(first),
        named=any(names(one, words) for one in findings[:FIRST]),
        anywhere=bool(hits),
        severe=any(truth["severity"] == "note" or one["severity"] in SEVERE for one in first),
        right=len(about),
        wrong=tuple(short(one) for one in severe if one not in about),
        missed="" if first else "; ".join(map(short, findings[:FIRST])) or "nothing",
    )


def short(finding: Finding) -> str:
    """A finding in a line."""
    effect = " ".join(str(finding["effect"]).split())[:150]
    return (
        f"{finding['severity']} `{finding['kind']}`@{finding['first_step']}..{finding['last_step']}: {finding['title']}: {effect}"
    )


def totals(scores: Sequence[Score]) -> dict[str, float | None]:
    """Recall, precision, and warnings and errors of a clean run."""
    faulty, clean = ([one for one in scores if one.planted == planted] for planted in (True, False))
    accused = sum(one.accusations for one in faulty)
    return {
        "faulty runs": len(faulty),
        "recall": _share([one.found for one in faulty]),
        "recall, severe enough": _share([one.found and one.severe for one in faulty]),
        "recall, ignoring dates": _share([one.named for one in faulty]),
        "recall, beyond the first three": _share([one.anywhere for one in faulty]),
        "precision": round(sum(one.right for one in faulty) / accused, 3) if accused else None,
        "clean runs": len(clean),
        "warnings and errors per clean run": _share([one.accusations for one in clean]),
        "clean runs without any": _share([not one.accusations for one in clean]),
        "failures": sum(bool(one.failure) for one in scores),
    }


def _share(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None


def table(scores: Sequence[Score]) -> str:
    """The scores as Markdown: totals, kind by kind, what is false, what was missed."""
    lines = ["| | |", "|---|--:|", *(f"| {name} | {'' if value is None else value} |" for name, value in totals(scores).items())]
    lines += [
        "",
        "| kind | runs | found | ignoring dates | severe enough | true positives | false positives |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for kind in dict.fromkeys(one.kind for one in scores):
        own = [one for one in scores if one.kind == kind]
        sums = [
            sum(values)
            for values in zip(
                *((one.found, one.named, one.found and one.severe, one.right, len(one.wrong)) for one in own), strict=True
            )
        ]
        cells = (
            [f"{value} of {len(own)}" if at < 3 else str(value) for at, value in enumerate(sums)]
            if own[0].planted
            else ["", "", "", "", str(sums[4])]
        )
        lines.append(f"| `{kind}` | {len(own)} | {' | '.join(cells)} |")
    blocks = {
        "False on clean runs": [f"{one.case}: {said}" for one in scores if not one.planted for said in one.wrong],
        "False on faulty runs": [f"{one.case}: {said}" for one in scores if one.planted for said in one.wrong],
        "Missed": [f"{one.case}: {one.missed}" for one in scores if one.planted and not one.found],
        "Failed": [f"{one.case}: {one.failure}" for one in scores if one.failure],
    }
    for title, items in blocks.items():
        lines += ["", f"{title}:", "", *(f"- {item}" for item in items)] if items else []
    return "\n".join(lines)
