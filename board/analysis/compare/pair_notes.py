"""Notes on what of two runs is comparable with care or not at all, a sentence each.

Made of the pairs and the numbers themselves; notes on settings are in `run_settings`.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from board.analysis.compare.compared_run import ComparedRun
from board.analysis.compare.paired_prompts import PairedDifference, Visits
from board.analysis.prompts.shared_prompts import SharedPrompts
from board.runs.prompt_keys import NO_PROMPT
from board.text.counting import plural
from board.text.format_number import fmt

SCALE: Final = 10.0
"""From ranges on that are so many times as wide, numbers may be on different scales."""

BEYOND: Final = 0.5
"""What is so far outside of 0 to 1 is no rounding, and no small bonus on a reward of 0 to 1."""

FEW_PROMPTS: Final = 20
"""An interval over fewer prompts is narrower than it says: of 20 it holds the difference 93 times in 100, of 10 88 times (rewards of 0 and 1,
1 to 11 rollouts of a prompt on either side)."""

Sides = tuple[ComparedRun, ComparedRun]


def notes(sides: Sides, shared: SharedPrompts, metric: str, visits: Visits, total: PairedDifference) -> tuple[str, ...]:
    """What a reader must know before the difference is believed, what weighs most first."""
    return (
        *_splits(sides),
        *_samples(sides),
        *_prompts(sides, shared, visits, total),
        *_missing(sides, shared, metric),
        *_scale(sides, metric),
    )


def _splits(sides: Sides) -> Iterator[str]:
    a, b = sides
    if a.run.location == b.run.location and a.run.address == b.run.address:
        yield "A and B are the same run."
    if a.split != b.split:
        yield f"A has only rollouts of split {a.split}, B only of {b.split}: they were sampled for other ends."


def _samples(sides: Sides) -> Iterator[str]:
    for name, side in zip("AB", sides, strict=True):
        if side.run.sample:
            yield f"{name} is larger than memory. {side.run.sample.share}: only its prompts are paired."


def _prompts(sides: Sides, shared: SharedPrompts, visits: Visits, total: PairedDifference) -> Iterator[str]:
    if shared.conflicting:
        ids = f"{plural(shared.conflicting, 'prompt_id')} of both runs stand for other texts in B than in A"
        yield f"{ids}: {'these are not paired' if shared.by == 'id' else 'prompts are paired by their texts'}."
    if not total.prompts:
        yield _no_pair(shared, visits)
    elif visits == "last":
        yield "Each prompt's last step in either run is paired, so there is no difference by step."
    if 0 < total.prompts < FEW_PROMPTS:
        yield f"Only {plural(total.prompts, 'prompt')} could be paired: the interval is too narrow, or none.{_more(shared, visits, total)}"


def _no_pair(shared: SharedPrompts, visits: Visits) -> str:
    empty = [name for name, keys in (("A", shared.a), ("B", shared.b)) if (keys == NO_PROMPT).all()]
    if empty:
        return f"No prompt could be paired: the rollouts of {' and of '.join(empty)} have none."
    common = _common(shared)
    if not common:
        return "No prompt is in both runs: there is nothing to pair."
    if visits == "last":
        return f"No prompt of the {common:,} that both runs saw has the number in both."
    shared_prompts = f"The runs share {plural(common, 'prompt')}, but saw none at the same step with the number in both"
    return f"{shared_prompts}: compare “last visits”, each prompt's last step in either run."


def _more(shared: SharedPrompts, visits: Visits, total: PairedDifference) -> str:
    """Where pairing last visits gives more pairs; empty elsewhere."""
    common = _common(shared)
    if visits == "last" or common <= total.prompts:
        return ""
    return (
        f" The runs share {common:,}, most of them at other steps: compare “last visits”, each prompt's last step in either run."
    )


def _common(shared: SharedPrompts) -> int:
    """How many prompts both runs saw, at whatever steps."""
    common = np.intersect1d(shared.a, shared.b)
    return int((common != NO_PROMPT).sum())


def _missing(sides: Sides, shared: SharedPrompts, metric: str) -> Iterator[str]:
    for name, side, keys in zip("AB", sides, (shared.a, shared.b), strict=True):
        without = int((keys == NO_PROMPT).sum())
        if 0 < without < len(keys):
            yield f"{plural(without, 'rollout')} of {len(keys):,} of {name} have no prompt, and are in no pair."
        missing = int((~np.isfinite(side.values)).sum())
        if missing:
            yield f"{plural(missing, 'rollout')} of {len(keys):,} of {name} have no {metric}, and are in no pair."


def _scale(sides: Sides, metric: str) -> Iterator[str]:
    if have_scales_apart(sides):
        ranges = " and ".join(
            f"from {fmt(low)} to {fmt(high)} in {name}" for name, (low, high) in zip("AB", map(_ends, sides), strict=True)
        )
        yield f"{metric} goes {ranges}: these may be different scales, and then the difference says nothing."


def have_scales_apart(sides: Sides) -> bool:
    """Whether the numbers of two runs may be on different scales: ranges of other sizes, or 0 to 1 in one and far beyond in the other."""
    (low_a, high_a), (low_b, high_b) = ends = tuple(map(_ends, sides))
    with np.errstate(over="ignore"):
        a, b = high_a - low_a, high_b - low_b
    if min(a, b) <= 0:
        return False
    return max(a, b) >= SCALE * min(a, b) or (
        (0.0, 1.0) in ends and (max(high_a, high_b) > 1 + BEYOND or min(low_a, low_b) < -BEYOND)
    )


def _ends(side: ComparedRun) -> tuple[float, float]:
    """The least and the largest number; 0 where there is none."""
    known = side.values[np.isfinite(side.values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
