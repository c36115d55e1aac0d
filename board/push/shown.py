"""What is shown with a step's numbers: its best, its worst and a random rollout, and what was found in the run, as rows of text.

The texts are a model's, and findings may quote them: they are to be shown as plain text.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from board.analysis.rollouts.selection import numeric_columns, of_step
from board.analysis.steps.step_stats import finite_values
from board.findings.contract import Finding
from board.metrics.formulas import DEFAULT_ESTIMATOR, kl_column
from board.runs.run import Run
from board.trackers.contract import Example

TEXT_CHARS: Final = 2_000
"""Characters of a prompt or a response that are shown at most: its beginning and its end."""

_NUMBERS: Final = {"reward": "reward", "tokens": "response_length", "KL k3": kl_column(DEFAULT_ESTIMATOR)}
"""Numbers of a rollout that are shown: heading → column of the frame."""


@dataclass(frozen=True)
class Links:
    """Addresses on a running board; none without its address."""

    board: str
    """Where the board is, without a slash at its end; empty for nowhere."""
    run: str
    """What it calls the run."""

    def to(self, page: str, **where: str | int) -> dict[str, str]:
        """The field of a row that links to a place on a page; no field without a board."""
        if not self.board:
            return {}
        return {"board": f"{self.board}/{page}?{urlencode({'run': self.run, **where})}"}


class RunExamples:
    """The rollouts of training that are shown: of each step the best, the worst and others, so many in all."""

    def __init__(self, run: Run, seed: int, links: Links, count: int = 3) -> None:
        self._run, self._seed, self._links, self._count = run, seed, links, count
        self._numeric = numeric_columns(run.frame)

    def of(self, step: int) -> list[Example]:
        """Each rollout once; none where the step has none. The same seed and step give the same ones."""
        rows = of_step(self._run.frame, step)
        numbers = {heading: finite_values(rows, column) for heading, column in _NUMBERS.items() if column in self._numeric}
        chosen = self._chosen(step, numbers.get("reward", np.full(len(rows), np.nan)))
        return [
            self._example(int(rows.index[at]), which, {heading: values[at] for heading, values in numbers.items()})
            for at, which in chosen.items()
        ]

    def _chosen(self, step: int, rewards: NDArray[np.float64]) -> dict[int, str]:
        """Places among the step's rollouts, and why each was chosen."""
        chosen: dict[int, str] = {}
        if np.isfinite(rewards).any():
            chosen[int(np.nanargmax(rewards))] = "best"
            chosen.setdefault(int(np.nanargmin(rewards)), "worst")
        left = [at for at in range(len(rewards)) if at not in chosen]
        more = min(len(left), max(0, self._count - len(chosen)))
        chosen |= dict.fromkeys(random.Random(f"{self._seed} {step}").sample(left, more), "random")
        return dict([*chosen.items()][: self._count])

    def _example(self, key: int, which: str, numbers: Mapping[str, float]) -> Example:
        rollout = self._run.rollout(key)
        shown = {heading: float(f"{value:.6g}") for heading, value in numbers.items() if math.isfinite(value)}
        response = rollout["response"] if rollout["response"] is not None else "".join(rollout.tokens or ())
        texts = {"prompt": cut(rollout["prompt"] or ""), "response": cut(response), "from": rollout.source}
        return {"which": which, **shown, **texts, **self._links.to("responses", step=rollout.step, rollout=rollout.source)}


def cut(text: str) -> str:
    """A text whole, or its beginning and its end with what is left out between them said."""
    left_out = len(text) - TEXT_CHARS
    if left_out <= 0:
        return text
    half = TEXT_CHARS // 2
    return f"{text[:half]}\n[{left_out:,} characters left out]\n{text[-half:]}"


def text(finding: Finding) -> str:
    """How bad, what, and the effect, on one line."""
    signs = f" (with {', '.join(sign.kind for sign in finding.signs)})" if finding.signs else ""
    return f"{finding.severity}: {finding.title}: {finding.effect}{signs}"


def row(finding: Finding, links: Links) -> Example:
    """A finding as a row of a tracker's table."""
    link = links.to("findings", step=finding.first_step, finding=finding.id)
    return {"finding": text(finding), "kind": finding.kind, "step": finding.first_step, **link}


def unreported(found: Sequence[Finding], last: Mapping[str, int]) -> list[Finding]:
    """Those of a kind not in `last`, or that begin after its step there, the run's last when it was reported; notes are for the board alone.

    In a run that grows the first step of a finding moves a little from look to look: that is no other finding.
    """
    return [finding for finding in found if finding.severity != "note" and finding.first_step > last.get(finding.kind, -math.inf)]


def at_steps(found: Sequence[Finding], steps: NDArray[np.int64]) -> dict[int, list[Finding]]:
    """Each at its step where that is among `steps`, else at the last of them."""
    placed: dict[int, list[Finding]] = {}
    for finding in found:
        placed.setdefault(finding.first_step if finding.first_step in steps else int(steps[-1]), []).append(finding)
    return placed
