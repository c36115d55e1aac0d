"""Tokens that the policy did not write, such as a tool's results, are trained on: the loss mask is 1 where others' is 0."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.tokens.segments import of_others
from board.findings.checks.contract import Severity
from board.findings.context import Context
from board.findings.contract import MOST_SHOWN, Answer, CannotTell, Found, Limits, declared
from board.findings.spreading import judged, outbreak, percent
from board.metrics.formulas import Float64Array
from board.runs.cache.parts import PADS
from board.runs.loading.sampling import evenly
from board.schema import TOKENS

_SAMPLE: Final = 4_000
"""Rollouts that are looked at, taken evenly from all steps."""
_LEAST_SOUND: Final = 10
"""So many rollouts that mask a part of themselves show what is masked."""
_OWN: Final = 0.98
"""Share of a token string's places that are masked, in rollouts that mask something, from which on the policy does not write it."""
_USUAL: Final = 0.2
"""Share of those rollouts that must have it, so that it is a part of the form and no rare word."""
_READ: Final = 400
"""So many rollouts are read to see whether masks are turned round."""
_NEARLY_ALL: Final = 0.9
_ENOUGH: Final = 0.5
"""Share of the usual number of such tokens that must be trained on for a rollout to be wrong."""


@dataclass(frozen=True)
class Masked:
    """Tokens of some rollouts end to end."""

    codes: NDArray[np.int64]
    """(N,) equal numbers are equal strings."""
    trained: NDArray[np.bool_]
    """(N,) loss_mask is not 0."""
    of: NDArray[np.int64]
    """(N,) which rollout each is of, from 0."""
    count: int
    """Rollouts."""

    def per_rollout(self, marks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(count,) marked tokens of each."""
        return np.bincount(self.of[marks], minlength=self.count)


def not_written(tokens: Masked) -> NDArray[np.int64]:
    """Codes of the strings that rollouts with a masked and a trained part have masked, nearly always and most of them."""
    masked, trained = tokens.per_rollout(~tokens.trained), tokens.per_rollout(tokens.trained)
    sound = (masked > 0) & (trained > 0)
    if sound.sum() < _LEAST_SOUND:
        return np.empty(0, np.int64)
    inside = sound[tokens.of]
    size = int(tokens.codes.max(initial=-1)) + 1
    places = np.bincount(tokens.codes[inside], minlength=size)
    hidden = np.bincount(tokens.codes[inside & ~tokens.trained], minlength=size)
    pairs = np.unique(np.stack([tokens.codes[inside & ~tokens.trained], tokens.of[inside & ~tokens.trained]]), axis=1)[0]
    holders = np.bincount(pairs, minlength=size)
    return np.flatnonzero((hidden >= _OWN * np.maximum(places, 1)) & (holders >= _USUAL * sound.sum())).astype(np.int64)


def wrong_tokens(tokens: Masked, foreign: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(N,) tokens of `foreign` strings that are trained on, of rollouts that train on as many as others mask."""
    here = np.isin(tokens.codes, foreign)
    masked = tokens.per_rollout(here & ~tokens.trained)
    usual = float(np.median(masked[masked > 0])) if masked.any() else 1.0
    trained = here & tokens.trained
    return trained & (tokens.per_rollout(trained) >= max(1.0, _ENOUGH * usual))[tokens.of]


@dataclass(frozen=True)
class _Sample:
    """The rollouts that are looked at, n of them, with N tokens."""

    context: Context
    limits: Limits
    rows: NDArray[np.int64]
    """(n,)"""
    texts: pa.Array
    """(n,) lists of tokens."""
    tokens: Masked

    def found(
        self, wrong: NDArray[np.bool_], of: NDArray[np.bool_], effect: str, severity: Severity | None = None, title: str = ""
    ) -> Found | None:
        """Where wrong tokens (N,) begin among the rollouts `of` (n,) of which that is known; None where there are too few."""
        context, rows, tokens = self.context, self.rows, self.tokens
        known, amount = np.zeros(len(context.keys), np.bool_), np.zeros(len(context.keys))
        known[rows[of]], amount[rows] = True, tokens.per_rollout(wrong)
        found = judged(context, amount > 0, known, self.limits)
        if found is None:
            return None
        shown = (amount > 0) & context.since(found.at)
        until = f"to {found.last_step} " if found.last_step < context.steps.numbers[-1] else ""
        first = f"from step {found.step} {until}" if found.at or until else "from the first step on "
        effect = first + effect.format(share=percent(found.share), each=float(amount[shown].mean()))
        begins = np.searchsorted(tokens.of, np.arange(tokens.count))
        places = [
            (int(context.keys[rows[tokens.of[at]]]), int(at - begins[tokens.of[at]]))
            for at in np.flatnonzero(wrong & shown[rows][tokens.of])[:MOST_SHOWN].tolist()
        ]
        return found.found(effect, context.clearest(shown, amount), tokens=places, severity=severity, title=title)

    def foreign(self, some: NDArray[np.int64], *, guessed: bool = False) -> NDArray[np.bool_]:
        """(N,) tokens of some rollouts that others wrote, by tags, roles and turns."""
        inside = np.zeros(len(self.tokens.codes), np.bool_)
        begins = np.searchsorted(self.tokens.of, some).tolist()
        said = (self.context.texts(name, self.rows[some]) for name in ("response", "turns"))
        for begin, strings, *texts in zip(begins, self.texts.take(pa.array(some)).to_pylist(), *said, strict=True):
            for first, end in of_others([one or "" for one in strings], *texts, guessed=guessed):
                inside[begin + first : begin + min(end, len(strings))] = True
        return inside

    def turned(self, some: NDArray[np.int64]) -> Float64Array:
        """(n,) 1 for those of some rollouts that train on most of what others wrote and little of their own, 0 for the rest; NaN without any."""
        tokens, inside = self.tokens, self.foreign(some, guessed=True)
        theirs, own = tokens.per_rollout(inside), tokens.per_rollout(~inside)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [tokens.per_rollout(marks & tokens.trained) / size for marks, size in ((inside, theirs), (~inside, own))]
        return np.where(theirs > 0, (shares[0] > _ENOUGH) & (shares[1] < _ENOUGH), np.nan)

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """(n,) where each one's last token stands, padding left out, and whether that is an end token of a rollout that trains on some token."""
        tokens = self.tokens
        pads = self.context.run.lists(PADS, self.context.keys[self.rows]).combine_chunks().flatten()
        last = np.searchsorted(tokens.of, np.arange(tokens.count), "right") - 1
        last -= np.bincount(tokens.of[pads.to_numpy(zero_copy_only=False)], minlength=tokens.count)
        ended = (self.context.number("ended")[self.rows] == 1) & (tokens.per_rollout(tokens.trained) > 0)
        return np.maximum(last, 0), ended & (last >= 0)

    def untrained_ends(self, last: NDArray[np.int64], ended: NDArray[np.bool_]) -> Found | None:
        """Steps in which nearly all rollouts that end with an end token do not train on it, if that is a matter of steps."""
        left_out, steps = ended & ~self.tokens.trained[last], self.context.steps.row[self.rows]
        some, of = (np.bincount(steps[marks], minlength=steps.max() + 1) for marks in (left_out, ended))
        never = left_out & (some >= _NEARLY_ALL * of)[steps]
        if never.sum() <= _ENOUGH * left_out.sum():
            return None
        wrong = np.zeros(len(self.tokens.codes), np.bool_)
        wrong[last[never]] = True
        effect = (
            "{share} of the rollouts that end with an end token have a loss mask of 0 on it: the policy is never trained to stop"
        )
        return self.found(wrong, ended, effect, title="The end token is never trained")


def _look(context: Context, limits: Limits) -> Answer:
    nothing = _untrained(context)
    if nothing is not None or not context.has(TOKENS):
        return nothing or CannotTell("no rollout has response_tokens")
    rows = evenly(len(context.keys), _SAMPLE)
    keys = context.keys[rows]
    texts, masks = (context.run.lists(name, keys).combine_chunks() for name in (TOKENS, "loss_mask"))
    both = (texts.is_valid() if len(texts) else pa.array([], pa.bool_())).to_numpy(zero_copy_only=False)
    both = both & masks.is_valid().to_numpy(zero_copy_only=False)
    rows, texts, masks = rows[both], texts.filter(pa.array(both)), masks.filter(pa.array(both))
    if not len(rows):
        return CannotTell("no rollout has both tokens and a loss mask")
    sample = _Sample(context, limits, rows, texts, tokens := _tokens(texts, masks))
    turned = sample.turned(evenly(len(rows), _READ))
    if (turned == 1).sum() > limits["share"] * np.isfinite(turned).sum():
        turned = sample.turned(np.arange(len(rows)))
        effect = "{share} of the rollouts with text of a tool's or a user's train on that, and not on what the policy wrote"
        return sample.found(turned[tokens.of] == 1, np.isfinite(turned), effect, "error")
    last, ended = sample.ends()
    foreign = np.setdiff1d(not_written(tokens), tokens.codes[last[ended]])
    wrong = wrong_tokens(tokens, foreign) if len(foreign) else sample.foreign(np.arange(len(rows))) & tokens.trained
    is_known = bool(len(foreign)) or bool(np.isfinite(turned).any())
    effect = "{share} of the rollouts train on tokens that the policy did not write, {each:.0f} tokens each"
    found = sample.found(wrong, np.ones(len(rows), np.bool_), effect) or sample.untrained_ends(last, ended)
    if found is None and not is_known:
        return CannotTell("no rollout masks a part of its response, and none holds a tool's response that it knows")
    return found


def _untrained(context: Context) -> Found | None:
    """Where nearly all rollouts have a mask of 0 on every token; some may be left out whole on purpose."""
    length = context.number("response_length")
    found = outbreak(
        context.steps, length == 0, np.isfinite(length) & ~(context.number("response_chars") == 0), usual=_NEARLY_ALL / 2
    )
    if found is None or found.share < _NEARLY_ALL or found.z < 1:
        return None
    first = f"from step {found.step} on" if found.at else "from the first step on"
    effect = f"{first} the loss mask is 0 on every token of {percent(found.share)} of the rollouts: nothing at all is trained on"
    shown = context.clearest(context.since(found.at) & (length == 0))
    return found.found(effect, shown, severity="error", title="Nothing is trained on")


def _tokens(texts: pa.Array, masks: pa.Array) -> Masked:
    """Tokens and mask side by side; a mask that is shorter than its tokens, or NaN, trains."""
    flat = texts.flatten()
    sizes, held = (np.diff(one.offsets.to_numpy()) for one in (texts, masks))
    codes = flat.dictionary_encode().indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    of = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers = masks.flatten().to_numpy(zero_copy_only=False)
    at = np.minimum(np.repeat(np.cumsum(held) - held, sizes) + place, max(0, len(numbers) - 1))
    mask = np.where(place < np.repeat(held, sizes), numbers[at], 1.0) if len(numbers) else np.ones(len(codes))
    return Masked(codes, mask != 0, of, len(sizes))


KIND: Final = declared("loss_mask_wrong", _look)
