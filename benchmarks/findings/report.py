"""The measurements as Markdown, and their place in README.md. Knows the goals and measures nothing."""

from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.findings.cases import CLEAN, Plan
from benchmarks.findings.scoring import FALSE, FIRST, Score, Summary, summarised

START: Final = "<!-- results: written by `python -m benchmarks.findings` -->"
END: Final = "<!-- /results -->"

GOAL: Final = "medium"
"""The strength that the goals are of."""

FOUND: Final = 0.9
PRECISION: Final = 0.8
ACCUSATIONS: Final = 0.5


def whole(scores: Sequence[Score], plan: Plan, about: str) -> str:
    """What was measured and with what result."""
    side = "held-out seeds" if plan.held_out else "tuning seeds"
    said = f"{about}. {plan.seeds} {side}, strength {', '.join(plan.strengths)}, {' and '.join(plan.shapes)}, {plan.steps} steps."
    said += " Thoughts are words at random." if plan.salad else ""
    planted = [one for one in scores if one.kind not in CLEAN]
    clean = [one for one in scores if one.kind in CLEAN]
    blocks = [said]
    if planted and len(plan.strengths) > 1 and GOAL in plan.strengths:
        goal = [one for one in planted if one.strength == GOAL]
        blocks += [f"At {GOAL} strength, which the goals are of:", planted_table(goal), _missed(goal), strengths_table(planted)]
    elif planted:
        blocks += [planted_table(planted), _missed(planted)]
    if clean:
        blocks += [clean_table(clean), _blamed(clean)]
    return "\n\n".join(block for block in [*blocks, _times(scores), _failures(scores)] if block)


def planted_table(scores: Sequence[Score]) -> str:
    """A line for each kind and one for all; what misses its goal is bold."""
    names = ("kind", "runs", f"among the first {FIRST}", "or as a sign", "rows right", "tokens right", "onset off by, steps")
    head = f"| {' | '.join(names)} |\n|---|--:|--:|--:|--:|--:|--:|"
    summaries = summarised(scores)
    reached = sum(one.found_or_sign >= FOUND for one in summaries)
    precise = [one for one in summaries if one.precision is not None]
    right = sum((one.precision or 0) >= PRECISION for one in precise)
    last = f"| kinds that reach the goal | | | {reached} of {len(summaries)} | {right} of {len(precise)} | | |"
    return "\n".join([head, *map(_planted_row, summaries), last])


def strengths_table(scores: Sequence[Score]) -> str:
    """How often each kind is among the first, or a sign of one of them, by strength: a line for each kind and one for all."""
    strengths = list(dict.fromkeys(one.strength for one in scores))
    head = f"| found by strength | {' | '.join(strengths)} |\n|---|{'--:|' * len(strengths)}"
    kinds = list(dict.fromkeys(one.kind for one in scores))
    rows = [f"| `{kind}` | {_by_strength([one for one in scores if one.kind == kind], strengths)} |" for kind in kinds]
    return "\n".join([head, *rows, f"| all | {_by_strength(scores, strengths)} |"])


def _by_strength(scores: Sequence[Score], strengths: Sequence[str]) -> str:
    found = [[score.found_or_sign for score in scores if score.strength == one] for one in strengths]
    return " | ".join(f"{sum(one) / len(one):.2f}" for one in found)


def _planted_row(one: Summary) -> str:
    cells = [
        f"`{one.kind}`",
        str(one.runs),
        _number(one.found, lambda value: value >= FOUND),
        _number(one.found_or_sign, lambda value: value >= FOUND),
        _number(one.precision, lambda value: value >= PRECISION),
        _number(one.token_precision, lambda value: value >= PRECISION),
        _number(one.onset_error, lambda value: True),
    ]
    return f"| {' | '.join(cells)} |"


def _number(value: float | None, reached: Callable[[float], bool]) -> str:
    if value is None:
        return ""
    text = f"{value:.2f}"
    return text if reached(value) else f"**{text}**"


def clean_table(scores: Sequence[Score]) -> str:
    """A line for each sort of run without a plant."""
    head = "| runs without a plant | runs | warnings and errors per run | notes per run |\n|---|--:|--:|--:|"
    rows = []
    for one in summarised(scores):
        own = [score for score in scores if score.kind == one.kind]
        notes = sum(len(score.said) for score in own) / len(own) - one.accusations
        accused = _number(one.accusations, lambda value: value <= ACCUSATIONS)
        rows.append(f"| {one.kind} | {one.runs} | {accused} | {notes:.2f} |")
    return "\n".join([head, *rows])


def _missed(scores: Sequence[Score]) -> str:
    lines = [
        f"- `{one.kind}` seed {one.seed} {one.strength} {one.shape}: "
        + (", ".join(f"{said.kind}@{said.first_step}" for said in one.said[: FIRST + 1]) or "nothing was found")
        for one in scores
        if not one.found_or_sign
    ]
    return "Missed, and what was said first instead:\n\n" + "\n".join(lines) if lines else ""


def _blamed(scores: Sequence[Score]) -> str:
    lines = [
        f"- {one.kind} seed {one.seed}: {', '.join(f'`{said.kind}` ({said.severity})@{said.first_step}: {said.effect}' for said in accused)}"
        for one in scores
        if (accused := [said for said in one.said if said.severity in FALSE])
    ]
    return "Blamed without a cause:\n\n" + "\n".join(lines) if lines else ""


def _times(scores: Sequence[Score]) -> str:
    seconds = sorted(one.seconds for one in scores if not one.failure)
    return f"Time per run: median {seconds[len(seconds) // 2]:.1f} s, longest {seconds[-1]:.1f} s." if seconds else ""


def _failures(scores: Sequence[Score]) -> str:
    lines = [f"- {one.kind} seed {one.seed}: {one.failure}" for one in scores if one.failure]
    return "**Failed:**\n\n" + "\n".join(lines) if lines else ""


def between_markers(text: str, report: str) -> str:
    """The text with the report in the place of the one before. Raises ValueError when it does not have each marker once, in order."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end or text.count(START) != 1 or text.count(END) != 1:
        raise ValueError(f"The text must have {START} and then {END}, each once.")
    return f"{before}{START}\n\n{report}\n\n{END}{after}"
