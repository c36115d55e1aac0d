"""Probability of a word at its places, by policy and reference, step by step.

A word's probability at a place is the product of the probabilities of its tokens there, each given all that stands before it: exp(sum of
logprob). Places whose tokens hold more than the word, "the" in "them", have no probability of the word and are left out, and so are those
of masked tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
import pandas as pd

from board.analysis.texts.concordance import Occurrence, TokenSpans
from board.runs.run import Run
from board.schema import EVALUATION

BY: Final = {"policy": "logprobs", "reference": "ref_logprobs"}
"""Which model's probability of the word, and the token array it is of."""


@dataclass(frozen=True)
class WordProbability:
    """The places of a word that have a probability."""

    places: pd.DataFrame
    """A row each: `step`, and `policy` and `reference`, 0 to 1, NaN where its row has no such array."""
    looked_at: int
    """Places that were found, those left out included."""


def of_places(run: Run, found: Sequence[Occurrence]) -> WordProbability:
    """The probability at each of these places in responses of the run's rollouts of training; places of one rollout follow each other."""
    rows, looked_at = [], 0
    for key, places in groupby(found, key=lambda line: line.key):
        rollout = run.rollout(key)
        if rollout.tokens is None or _is_evaluation(run, key):
            continue
        spans = TokenSpans(rollout.tokens)
        text = rollout.texts.get("response", "")
        for place in places:
            looked_at += 1
            at = spans.whole(place.start, text[place.start : place.stop])
            if at is not None and rollout.counts[at].all():
                chances = {
                    who: np.exp(np.sum(rollout.arrays[name][at], dtype=np.float64))
                    for who, name in BY.items()
                    if name in rollout.arrays
                }
                rows.append({"step": rollout.step, **chances})
    places_found = pd.DataFrame(rows, columns=["step", *BY]).astype({"step": np.int64, **dict.fromkeys(BY, np.float64)})
    return WordProbability(places_found, looked_at)


def _is_evaluation(run: Run, key: int) -> bool:
    return "split" in run.frame.columns and run.frame["split"].loc[key] == EVALUATION


def by_step(places: pd.DataFrame, who: str) -> pd.DataFrame:
    """Index step, rising: `mean`, `q10` and `q90` over the step's places that have a number, and `count`, how many these are."""
    known = places.dropna(subset=[who]).groupby("step")[who]
    return pd.DataFrame({"mean": known.mean(), "q10": known.quantile(0.1), "q90": known.quantile(0.9), "count": known.size()})


def early_and_late(places: pd.DataFrame, who: str, steps: Sequence[int]) -> tuple[float, float]:
    """Its mean over the places in the first and in the last third of the run's steps; NaN where there is none."""
    third = -(-len(steps) // 3)
    early, late = (places.loc[places["step"].isin(side), who].mean() for side in (steps[:third], steps[len(steps) - third :]))
    return float(early), float(late)
