"""What a notebook says of a run or a rollout: one line, or a small table in HTML, in which text of a run can only be read."""

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from board.runs.load_report import NAMED
from board.text.counting import plural
from board.text.display import shorten
from board.text.format_number import fmt
from board.text.path_names import encodable

if TYPE_CHECKING:
    from board.runs.rollout import Rollout
    from board.runs.run import Run

LONGEST: Final = 2_000
"""Code points of one fact; a longer one is cut, as a cell is to be glanced at."""

_CELL: Final = '<td style="text-align: left"><pre style="margin: 0; white-space: pre-wrap">'


def run_line(run: "Run") -> str:
    """`Run('tiny', 128 rollouts, 4 steps, 0 problems)`."""
    counted = [(len(run.frame), "rollout"), (len(run.steps), "step"), (run.report.counts.total(), "problem")]
    return _line("Run", run.name, [plural(count, noun) for count, noun in counted])


def run_table(run: "Run") -> str:
    """What there is to look at, and the first problems, as HTML."""
    report, steps = run.report, run.steps
    problems = [f"{report.refused:,} refused, {report.flagged:,} flagged", *map(str, report.problems[:NAMED])]
    facts = {
        "rollouts": f"{len(run.frame):,}",
        "steps": f"{len(steps):,}: {steps[0]:,} to {steps[-1]:,}" if len(steps) else "0",
        "texts": ", ".join(run.text_columns),
        "token metrics": ", ".join(run.token_metrics),
        "problems": "\n".join(problems) if report.counts.total() else "0",
    }
    return _table(f"Run {run.address}", facts)


def rollout_line(rollout: "Rollout") -> str:
    """`Rollout('rank_0.jsonl:7', step 3, 12 tokens, reward 0.500)`."""
    numbers = [f"step {rollout.step}", plural(len(rollout.counts), "token"), f"reward {fmt(rollout.reward)}"]
    return _line("Rollout", rollout.source, numbers)


def rollout_table(rollout: "Rollout") -> str:
    """Its numbers and its texts, as HTML."""
    numbers = {"step": f"{rollout.step:,}", "tokens": f"{len(rollout.counts):,}", "reward": fmt(rollout.reward)}
    return _table(f"Rollout {rollout.source}", numbers | rollout.texts)


def _line(kind: str, name: str, facts: Iterable[str]) -> str:
    """Control characters of the name are written out."""
    return f"{kind}({', '.join([repr(name), *facts])})"


def _table(title: str, facts: Mapping[str, str]) -> str:
    """A row for each fact. All is escaped, and stands in `<pre>`, where notebooks look for no formulas either."""
    rows = "".join(f"<tr>{_CELL}{_safe(name)}</pre></td>{_CELL}{_safe(fact)}</pre></td></tr>" for name, fact in facts.items())
    return f"<table><caption><pre>{_safe(title)}</pre></caption><tbody>{rows}</tbody></table>"


def _safe(text: str) -> str:
    cut = shorten(text, LONGEST)
    return html.escape(encodable(cut if cut == text else f"{cut}…"))
