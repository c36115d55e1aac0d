"""Tokens that the policy did not write, such as a tool's results, are trained on: the loss mask is 1 where others' is 0."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.segments import find_segments
from board.findings.contract import Answer, CannotTell, Found, Kind, Limits, Threshold
from board.findings.dossier import Dossier
from board.findings.outbreaks import outbreak
from board.findings.spreading import percent
from board.schema import TOKENS

_SAMPLE: Final = 4_000
"""Rollouts that are looked at, taken evenly from all steps."""
_PER_STEP: Final = 4
_LEAST_SOUND: Final = 10
"""So many rollouts that mask a part of themselves show what is masked."""
_OWN: Final = 0.98
"""Share of a token string's places that are masked, in rollouts that mask something, from which on the policy does not write it."""
_USUAL: Final = 0.2
"""Share of those rollouts that must have it, so that it is a part of the form and no rare word."""
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


def _look(dossier: Dossier, limits: Limits) -> Answer:
    rows = _sampled(dossier)
    keys = dossier.keys[rows]
    texts, masks = (dossier.run.lists(name, keys).combine_chunks() for name in (TOKENS, "loss_mask"))
    both = (texts.is_valid() if len(texts) else pa.array([], pa.bool_())).to_numpy(zero_copy_only=False)
    both = both & masks.is_valid().to_numpy(zero_copy_only=False)
    rows, texts, masks = rows[both], texts.filter(pa.array(both)), masks.filter(pa.array(both))
    if not len(rows):
        return CannotTell("no rollout has both tokens and a loss mask")
    tokens = _tokens(texts, masks)
    foreign = not_written(tokens)
    wrong = wrong_tokens(tokens, foreign) if len(foreign) else _in_tool_responses(texts, tokens)
    if wrong is None:
        return CannotTell("no rollout masks a part of its response, and none holds a tool's response that it knows")
    marks, known = np.zeros(len(dossier.keys), np.bool_), np.zeros(len(dossier.keys), np.bool_)
    known[rows], marks[rows] = True, tokens.per_rollout(wrong) > 0
    found = outbreak(dossier.steps, marks, known, usual=limits["share"])
    if found is None or found.share < limits["share"] or found.z < limits["z"]:
        return None
    shown = marks & dossier.since(found.at)
    amount = np.zeros(len(dossier.keys))
    amount[rows] = tokens.per_rollout(wrong)
    first = f"from step {found.step}" if found.at else "from the first step on"
    per = float(amount[shown].mean())
    return Found(
        effect=f"{first} {percent(found.share)} of the rollouts train on tokens that the policy did not write, {per:.0f} tokens each",
        first_step=found.step,
        last_step=found.last_step,
        crossed="share",
        measured=found.share,
        strength=found.z,
        rollouts=dossier.clearest(shown, amount),
        tokens=_places(dossier, rows, tokens, wrong & shown[rows][tokens.of]),
    )


def _sampled(dossier: Dossier) -> NDArray[np.int64]:
    """Rows that are looked at: all, or as many of every step, evenly."""
    count = len(dossier.keys)
    if count <= _SAMPLE:
        return np.arange(count)
    each = max(_PER_STEP, _SAMPLE // max(1, len(dossier.steps.numbers)))
    starts = np.searchsorted(dossier.steps.row, np.arange(len(dossier.steps.numbers)))
    sizes = np.diff(np.append(starts, count))
    taken = [
        start + np.unique(np.linspace(0, size - 1, min(each, size)).astype(np.int64))
        for start, size in zip(starts, sizes, strict=True)
    ]
    return np.concatenate(taken)


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


def _in_tool_responses(texts: pa.Array, tokens: Masked) -> NDArray[np.bool_] | None:
    """(N,) tokens inside the tags of tools' responses that are trained on; None where no rollout has such tags."""
    inside = np.zeros(len(tokens.codes), np.bool_)
    begins = np.searchsorted(tokens.of, np.arange(tokens.count))
    for begin, strings in zip(begins.tolist(), texts.to_pylist(), strict=True):
        if any("<" in one for one in strings if one):
            for segment in find_segments([one or "" for one in strings]):
                if segment.kind == "tool response":
                    inside[begin + segment.first : begin + segment.last + 1] = True
    return inside & tokens.trained if inside.any() else None


def _places(dossier: Dossier, rows: NDArray[np.int64], tokens: Masked, wrong: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(key, position) of the first wrong tokens."""
    begins = np.searchsorted(tokens.of, np.arange(tokens.count))
    return [
        (int(dossier.keys[rows[tokens.of[at]]]), int(at - begins[tokens.of[at]])) for at in np.flatnonzero(wrong)[:50].tolist()
    ]


KIND: Final = Kind(
    name="loss_mask_wrong",
    title="Trained on what a tool wrote",
    severity="warning",
    says="Tokens that the policy did not write (tool results, observations) are trained on.",
    formula="Token strings that rollouts with a mask have masked in 98 % of their places are not the policy's; a rollout that trains on at "
    "least half as many of them as others mask is wrong. Where no rollout masks a part, tokens inside tags such as <tool_response> are not the "
    "policy's. Of large runs 4,000 rollouts, evenly from all steps.",
    thresholds=(
        Threshold("share", 0.02, "share of the rollouts that train on such tokens", "our judgement: a sound run has none"),
        Threshold("z", 4.5, "clearness of that share against chance", "board/findings/outbreaks.py"),
    ),
    means="The mask is built from the wrong lengths or roles: the policy learns to write its own tool results.",
    looks_like="A policy that writes a tool's tags itself; padding that is not masked.",
    next=(("tokens", "the mask beside the tokens of these rollouts"), ("data", "what the checks say of masks")),
    run=_look,
    needs=("loss_mask", TOKENS),
    explains=("masked-tokens", "train_inference_mismatch", "kl_concentrated", "gibberish"),
)
