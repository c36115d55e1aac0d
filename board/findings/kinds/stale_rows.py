"""Rollouts of an earlier step are logged, and trained on, again."""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.checks.contract import Severity
from board.findings.contract import Answer, CannotTell, Found, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.outbreaks import Outbreak, outbreak
from board.metrics.formulas import Float64Array
from board.text.counting import plural
from board.text.format_number import fmt

_LEAST_TOKENS: Final = 8
"""Equal logprobs of so many tokens are no chance, unless the policy stood still and sampled nothing."""
_LEAST_CHARS: Final = 60
"""Shorter texts are written twice."""
_LEAST_PAIRS: Final = 100
"""Pairs of rollouts of one prompt and step that tell how often two responses are equal."""
_PRIOR: Final = 0.2
"""Equal pairs that there might have been where none was."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    arrays, texts = dossier.number("array_digest"), dossier.number("response_digest")
    long_arrays = np.isfinite(arrays) & (dossier.number("response_length") >= _LEAST_TOKENS)
    long_texts = np.isfinite(texts) & (dossier.number("response_chars") >= _LEAST_CHARS)
    told = [
        ("text and logprobs" if np.isfinite(texts).any() else "logprobs", long_arrays, arrays),
        ("text", long_texts, texts),
    ]
    if not any(known.any() for _, known, _ in told):
        return CannotTell(f"no response has {_LEAST_TOKENS} tokens with logprobs, or {_LEAST_CHARS} characters")
    found = (_again(dossier, what, known, digests, limits) for what, known, digests in told if known.any())
    return next((one for one in found if one is not None), None)


def _again(dossier: Dossier, what: str, known: NDArray[np.bool_], digests: Float64Array, limits: Limits) -> Found | None:
    age = ages(dossier.steps.row, dossier.prompts, np.where(known, digests, np.nan))
    marks = age > 0
    begun = outbreak(dossier.steps, marks, known, usual=limits["share"])
    if begun is None or begun.share < limits["share"]:
        return None
    strength = min(begun.z, _beyond_chance(dossier, np.where(known, digests, np.nan), marks, by_text=what == "text"))
    if strength < limits["z"]:
        return None
    return _found(dossier, what, marks & dossier.since(begun.at), age, begun, strength)


def ages(step: NDArray[np.int64], prompts: NDArray[np.int64], digests: Float64Array) -> NDArray[np.int64]:
    """How many steps ago an equal rollout of the same prompt was there last, 0 where there was none before. All (n,); NaN equals nothing."""
    known = np.flatnonzero(np.isfinite(digests))
    order = known[np.lexsort([step[known], digests[known], prompts[known]])]
    same = (prompts[order][1:] == prompts[order][:-1]) & (digests[order][1:] == digests[order][:-1])
    s = step[order]
    # the first of a step looks back to the one before it, its equals of the step to what that found
    firsts = np.concatenate([[True], ~same | (s[1:] != s[:-1])]) if len(order) else np.zeros(0, np.bool_)
    back = np.concatenate([[0], np.where(same, s[1:] - s[:-1], 0)]) if len(order) else s
    found = np.zeros(len(step), np.int64)
    at = np.flatnonzero(firsts)
    found[order] = back[at[np.cumsum(firsts) - 1]] if len(order) else 0
    return found


def _beyond_chance(dossier: Dossier, digests: Float64Array, marks: NDArray[np.bool_], *, by_text: bool) -> float:
    """How far the repeats go beyond those that chance makes, in standard errors: equals of one prompt in one step tell how often it does."""
    known = np.isfinite(digests)
    within = _pairs(dossier.prompts[known], dossier.steps.row[known])
    equal = _pairs(dossier.prompts[known], dossier.steps.row[known], digests[known])
    across = _pairs(dossier.prompts[known]) - within
    if by_text and within < _LEAST_PAIRS:
        return 0.0  # without groups nobody knows how often a policy says the same twice: greedy decoding always does
    expected = across * (equal + (_PRIOR if by_text else 0.0)) / (within + 1)
    return float((marks.sum() - expected) / np.sqrt(expected + 1))


def _pairs(*columns: NDArray[np.generic]) -> float:
    """How many pairs of rows are equal in every column."""
    order = np.lexsort(columns)
    changes = [column[order][1:] != column[order][:-1] for column in columns]
    ends = np.append(np.flatnonzero(np.any(changes, axis=0)), len(order) - 1) if len(order) else order
    sizes = np.diff(ends, prepend=-1).astype(np.float64)
    return float((sizes * (sizes - 1) / 2).sum())


def _found(dossier: Dossier, what: str, marks: NDArray[np.bool_], age: NDArray[np.int64], begun: Outbreak, z: float) -> Found:
    effect = f"from step {begun.step} on {fmt(100 * begun.share)} % of the rollouts ({plural(begun.count, 'rollout')})"
    effect += f"{dossier.ranks_told(marks)} are those of an earlier step again, the same in {what}; typically of "
    effect += f"{plural(round(float(np.median(age[marks]))), 'step')} before"
    severity: Severity | None = "note" if begun.at <= 1 else None
    return replace(begun, z=z).found(effect, dossier.clearest(marks), severity=severity)


KIND: Final = declared("stale_rows", _look)
