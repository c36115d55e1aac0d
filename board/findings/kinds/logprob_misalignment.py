"""Logprobs are shifted against the tokens and the other arrays, from a step on or in one rank."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.logprob_lags import PAIRS, column
from board.findings.contract import Answer, CannotTell, Limits
from board.findings.declared import declared
from board.findings.dossier import Dossier
from board.findings.outbreaks import judged
from board.metrics.formulas import Float64Array
from board.schema import title
from board.text.counting import plural
from board.text.format_number import fmt

_LEAST_TOKENS: Final = 8
_LEAST_APART: Final = 0.1
"""Nats: arrays that are nearer to each other are not misaligned, whatever a neighbour does."""
_SHOWN: Final = 20
"""So many rollouts have a token shown."""


def _look(dossier: Dossier, limits: Limits) -> Answer:
    lags = {pair: _lag(dossier, pair, limits["ratio"]) for pair in PAIRS}
    known = np.any([np.isfinite(lag) for lag in lags.values()], axis=0)
    if not known.any():
        return CannotTell(f"no rollout has two arrays of logprobs of {_LEAST_TOKENS} tokens")
    shifted = {pair: np.nan_to_num(lag) != 0 for pair, lag in lags.items()}
    marks = np.any(list(shifted.values()), axis=0)
    begun = judged(dossier, marks, known, limits)
    if begun is None:
        return None
    marks &= dossier.since(begun.at)
    pairs = sorted(PAIRS, key=lambda pair: -int((shifted[pair] & marks).sum()))
    most = pairs[0]
    late = "late" if np.nansum(lags[most][marks]) > 0 else "early"
    ours, theirs = (title(name) for name in PAIRS[most])
    apart = dossier.number(column(most, 0))
    keys = dossier.clearest(marks & shifted[most], apart)
    effect = f"from step {begun.step} on {theirs} agrees with {ours} best when read a token {late}, in {fmt(100 * begun.share)} % of the "
    effect += f"rollouts ({plural(begun.count, 'rollout')}){dossier.ranks_told(marks)}: {_gap(dossier, most, marks)}"
    return begun.found(effect, keys, tokens=_tokens(dossier, keys[:_SHOWN], *PAIRS[most]))


def _lag(dossier: Dossier, pair: str, ratio: float) -> Float64Array:
    """The lag at which a pair's arrays are much nearer to each other than as they are, 0 where they are not, NaN where it cannot be told."""
    own, before, after = (dossier.number(column(pair, lag)) for lag in (0, -1, 1))
    known = np.isfinite(own) & (dossier.number("response_length") >= _LEAST_TOKENS)
    nearest = np.fmin(before, after)
    shifted = known & (own > _LEAST_APART) & (nearest < ratio * own)
    return np.where(known, np.where(shifted, np.where(after <= before, 1.0, -1.0), 0.0), np.nan)


def _gap(dossier: Dossier, pair: str, marks: NDArray[np.bool_]) -> str:
    own = float(np.nanmean(dossier.number(column(pair, 0))[marks]))
    nearest = np.fmin(*(dossier.number(column(pair, lag)) for lag in (-1, 1)))
    return f"as they are, they are {fmt(own)} nats per token apart, and {fmt(float(np.nanmean(nearest[marks])))} when read so"


def _tokens(dossier: Dossier, keys: NDArray[np.int64], ours: str, theirs: str) -> Sequence[tuple[int, int]]:
    """Of each of some rollouts the token at which the arrays are farthest apart."""
    found = []
    for key in keys.tolist():
        x, y = (dossier.run.numbers_of(key, name) for name in (ours, theirs))
        if x is not None and y is not None:
            apart = np.abs(x - y)
            found.append((key, int(np.where(np.isfinite(apart), apart, -1).argmax())))
    return found


KIND: Final = declared("logprob_misalignment", _look)
