"""Prompts hold the expected answer: what is rewarded is reading, not solving."""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.text_health import answers
from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.outbreaks import beyond, outbreak
from board.findings.spreading import Spread, as_found, percent, spread
from board.metrics.formulas import Float64Array
from board.metrics.step_sums import Steps

_SAMPLE: Final = 2_000
"""So many prompts are held against another one's answer at most."""

_USUAL: Final = 0.01
"""The share of prompts that is taken to tell another one's answer by chance, where fewer do."""

_FEWEST: Final = 20
"""Fewer prompts tell nothing about what they hold by chance."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    given, told = dossier.number("answer_in_prompt"), dossier.number("answer_told")
    if not np.isfinite(given).any():
        return CannotTell("no rollout has a prompt and a ground truth short enough to look for")
    both: list[tuple[Spread, Float64Array]] = [
        (found, marks) for marks in (told, given) if (found := spread(dossier, marks, limits["rise"], limits["z"])) is not None
    ]
    if not both:
        return _told(dossier, told, limits)
    found, marks = max(both, key=lambda one: one[0].z)
    return as_found(
        found, dossier, "are to prompts that hold the expected answer", marks == 1, np.nan_to_num(told) + np.nan_to_num(given)
    )


def _told(dossier: Dossier, told: Float64Array, limits: Limits) -> Found | None:
    """A leak that makes no clear rise of a curve: it is there from the first step on, or of few prompts.

    From the step on at which more prompts tell an answer, they tell their own more often than that of another prompt of their data source.
    """
    firsts = _firsts(np.flatnonzero(np.isfinite(told)), dossier.clusters.of_rows)
    began = outbreak(Steps(dossier.steps.of_rows[firsts]), told[firsts] == 1, np.ones(len(firsts), np.bool_))
    if began is None or began.z < limits["z"]:
        return None
    since = dossier.since(int(np.searchsorted(dossier.steps.numbers, began.step)))
    rows = _firsts(np.flatnonzero(since & np.isfinite(told)), dossier.prompts)
    rows = rows[:: max(1, -(-len(rows) // _SAMPLE))]
    others = _of_others(dossier, rows)
    both = np.isfinite(others)
    if both.sum() < _FEWEST:
        return None
    own, other = float(told[rows][both].mean()), float(others[both].mean())
    share, z = own - other, beyond(own * both.sum(), float(both.sum()), max(_USUAL, other))
    if share < limits["always"] or z < limits["z"]:
        return None
    effect = (
        f"from step {began.step} on {percent(own)} of the prompts tell their own answer, and {percent(other)} another prompt's; "
    )
    effect += f"before {percent(began.before)} did"
    return Found(effect, began.step, began.last_step, "always", share, z, dossier.clearest(since & (told == 1)))


def _firsts(rows: NDArray[np.int64], of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of some rows, rising, the first of each that is one `of` (n,), such as a prompt."""
    return np.sort(rows[np.unique(of[rows], return_index=True)[1]])


def _of_others(dossier: Dossier, rows: NDArray[np.int64]) -> Float64Array:
    """(rows,) whether each of some rollouts' prompts tells the answer of the next one of its data source; NaN where that is the same."""
    prompts, truths = (np.array(dossier.texts(name, rows), object) for name in ("prompt", "ground_truth"))
    found = np.full(len(rows), np.nan)
    for source in np.unique(dossier.sources[rows]):
        own = np.flatnonzero(dossier.sources[rows] == source)
        other = truths[np.roll(own, 1)]
        texts = (pa.array(one, pa.large_string()) for one in (np.full(len(own), None), prompts[own], other))
        told = answers.measure(*texts)["answer_told"]
        found[own] = np.where(other == truths[own], np.nan, told)
    return found


KIND: Final = declared("answer_leak", _look)
