"""Whether responses still depend on their prompt, by their nearest other responses.

A response is a bag of the 4-grams of its characters, hashed and weighted by TF-IDF; near is a large cosine (Salton and Buckley 1988). As
long as responses say something of their prompt, the nearest other one is mostly one of the same prompt. RAGEN-2 (arXiv 2604.06268) measures
the mutual information of prompt and response with a model; this stands in for it. By step it is the variety of responses: compared with
other prompts, and within their groups.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.stats.bootstrap import units_of
from board.analysis.texts.text_health.texts import Shingles, code_units, shingles
from board.metrics.formulas import Float64Array
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

CHARACTERS: Final = 2_000
"""At most this many characters at the end of a text are used."""

TEXTS: Final = 64
"""At most this many responses are compared with each other."""

LEAST_PROMPTS: Final = 4

_MOST_WINDOWS: Final = 60
_LEAST_TEXTS: Final = 24
"""Steps with fewer make a window together."""

BINS: Final = 1 << 13
"""Columns that 4-grams are hashed into: a text of 2,000 characters fills an eighth of them."""

_SHIFT: Final = np.uint64(64 - 13)
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


def bags(texts: Sequence[str | None]) -> NDArray[np.float32]:
    """How often each hashed 4-gram stands in each text, (n, BINS); nothing for a missing one."""
    ends = pa.array([None if text is None else text[-CHARACTERS:] for text in texts], pa.large_string())
    found: Shingles = shingles(code_units(ends))
    rows = np.repeat(np.arange(len(texts)), np.diff(found.offsets))
    mixed = found.keys * _ODD
    bins = ((mixed ^ (mixed >> np.uint64(32))) * _ODD >> _SHIFT).astype(np.int64)
    return np.bincount(rows * BINS + bins, minlength=len(texts) * BINS).reshape(-1, BINS).astype(np.float32)


def weighted(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    """TF-IDF of bags, each row of length 1 or empty: (1 + ln count) x (ln((1 + n) / (1 + texts that have it)) + 1).

    (n, c) of the c columns that any text has.
    """
    held = (counts > 0).sum(axis=0)
    counts, held = counts[:, held > 0], held[held > 0]
    inverse = np.log((1 + len(counts)) / (1 + held)) + 1
    return unit(np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * inverse.astype(np.float32))


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1, empty ones left empty."""
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    scaled: NDArray[np.float32] = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def is_paired(sizes: NDArray[np.int64]) -> bool:
    """Whether most rollouts share their step and prompt with another; `sizes` are how many rollouts each prompt has in each step."""
    return bool(sizes[sizes > 1].sum() > sizes.sum() / 2)


def sampled(prompts: NDArray[np.int64], paired: bool) -> NDArray[np.int64]:
    """Rows of some responses to compare with each other, rising, about TEXTS of them; none where there are too few prompts.

    `prompts` (n,) are theirs. Of each prompt one; several where `paired`, and then none of a prompt with one.
    """
    order = np.argsort(prompts, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(prompts[order])) + 1)
    if paired:
        groups = [group for group in groups if len(group) > 1]
    if len(groups) < LEAST_PROMPTS // (2 if paired else 1):
        return np.zeros(0, np.int64)
    most = max(2, TEXTS // len(groups)) if paired else 1
    chosen = groups[:: max(1, int(np.ceil(len(groups) * most / TEXTS)))]
    return np.sort(np.concatenate([group[:most] for group in chosen]))


def dependence(
    texts: Callable[[str, NDArray[np.int64]], Sequence[str | None]],
    prompts: NDArray[np.int64],
    steps: Float64Array,
    clusters: NDArray[np.int64],
) -> tuple[Float64Array, Float64Array]:
    """How much better than chance the nearest response tells the prompt, and how alike other prompts' are; NaN where not sampled. (n,) each.

    `texts` are those of a column in some rows; `prompts`, (n,), are numbered, in the order of the steps; `steps` are the rows of each step,
    and `clusters` those of each prompt in each step.
    """
    found, other = np.full(len(prompts), np.nan), np.full(len(prompts), np.nan)
    paired = is_paired(clusters)
    for rows in _windows(prompts, steps, paired):
        counts = bags(texts("response", rows))
        other[rows] = alike_to_others(counts, prompts[rows])
        if paired:
            found[rows] = retrieved(counts, prompts[rows])
        else:
            found[rows] = of_own_prompt(counts, bags(texts("prompt", rows)), prompts[rows])
    return found, other


def _windows(prompts: NDArray[np.int64], sizes: Float64Array, paired: bool) -> Iterator[NDArray[np.int64]]:
    """Rows of steps that follow each other, some of each window, evenly over the run; of each prompt several where `paired`."""
    per = max(1, int(np.ceil(_LEAST_TEXTS / max(float(np.median(sizes)), 1.0))) if len(sizes) else 1)
    bounds = np.append(np.arange(0, len(sizes), per), len(sizes))
    chosen = np.unique(np.linspace(0, len(bounds) - 2, min(_MOST_WINDOWS, len(bounds) - 1)).round().astype(np.int64))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    windows = (np.arange(starts[bounds[at]], starts[bounds[at + 1]]) for at in chosen.tolist())
    drawn = (rows[sampled(prompts[rows], paired)] for rows in windows)
    yield from (rows for rows in drawn if len(rows))


def retrieved(counts: NDArray[np.float32], prompts: NDArray[np.int64]) -> Float64Array:
    """How much better than chance the nearest other response names a response's prompt, (n,): 1 if it is of the same, below 0 if not.

    (hit - chance) / (1 - chance), with chance the share of the other responses that are of its prompt, so that the mean is 0 for responses
    that say nothing of their prompt, and 1 where each finds its own. Equally near ones share the hit. NaN for a response whose prompt has no
    other, whose text is empty, or where all are of one prompt.
    """
    near = weighted(counts)
    likeness = _cosines(near, near)
    np.fill_diagonal(likeness, -np.inf)
    same = prompts[:, np.newaxis] == prompts
    np.fill_diagonal(same, False)
    return _beyond_chance(likeness, same, counts, len(prompts) - 1)


def of_own_prompt(counts: NDArray[np.float32], of_prompts: NDArray[np.float32], prompts: NDArray[np.int64]) -> Float64Array:
    """As `retrieved`, but a response looks for its prompt, (n,), among those of all: bags of responses and of their prompts, row by row."""
    both = weighted(np.concatenate([counts, of_prompts]))
    likeness = _cosines(both[: len(counts)], both[len(counts) :])
    return _beyond_chance(likeness, prompts[:, np.newaxis] == prompts, counts, len(prompts))


def alike_to_others(counts: NDArray[np.float32], prompts: NDArray[np.int64]) -> Float64Array:
    """Mean cosine of a response to those of other prompts, without regard to which 4-grams are common, (n,), 0 to 1; NaN without one."""
    near = unit(np.sqrt(counts[:, counts.any(axis=0)]))
    _, of, members = np.unique(prompts, return_inverse=True, return_counts=True)
    own = _sums(near, of)
    among = len(prompts) - members[of]
    likeness = np.einsum("ij,ij->i", near, own.sum(axis=0) - own[of])  # the sum of cosines is the cosine with a sum
    return np.where(among > 0, likeness / np.maximum(among, 1), np.nan).astype(np.float64)


def distinct_share(found: Shingles, groups: NDArray[np.int64]) -> Float64Array:
    """Distinct-n of each of g groups (numbers from 0 of the n texts): different 4-grams over all 4-grams of its texts, 0 to 1; NaN for none.

    Li et al. 2016, arXiv 1510.03055, there for words.
    """
    of = np.repeat(groups, np.diff(found.offsets)).astype(np.uint64)
    size = int(groups.max(initial=-1)) + 1
    pairs = np.unique(np.stack([of, found.keys]), axis=1) if len(of) else np.zeros((2, 0), np.uint64)
    total = np.bincount(of.astype(np.int64), minlength=size)
    different = np.bincount(pairs[0].astype(np.int64), minlength=size)
    return np.where(total > 0, different / np.maximum(total, 1), np.nan)


def self_similarity(counts: NDArray[np.float32], groups: NDArray[np.int64]) -> Float64Array:
    """Mean cosine of the pairs of texts in each of g groups (numbers from 0 of the n texts), 0 to 1; NaN for a group of one.

    As Self-BLEU (Zhu et al. 2018, arXiv 1802.01886) with 4-grams of characters in the place of BLEU.
    """
    near = unit(np.sqrt(counts))
    size = int(groups.max(initial=-1)) + 1
    of = np.unique(groups, return_inverse=True)[1].ravel()
    sums = np.zeros((size, near.shape[1]), np.float64)
    sums[np.unique(groups)] = _sums(near, of)
    own = np.bincount(groups, np.square(near, dtype=np.float64).sum(axis=1), size)
    members = np.bincount(groups, minlength=size)
    pairs = members * (members - 1)
    return np.where(pairs > 0, (np.square(sums).sum(axis=1) - own) / np.maximum(pairs, 1), np.nan)


def _sums(rows: NDArray[np.float32], of: NDArray[np.int64]) -> NDArray[np.float32]:
    """Rows (n, m) added up by their group `of` (n,), every number from 0 once or more: (groups, m)."""
    order = np.argsort(of, kind="stable")
    if not len(order):
        return rows
    starts = np.flatnonzero(np.diff(of[order], prepend=-1))
    sums: NDArray[np.float32] = np.add.reduceat(rows[order], starts, axis=0)
    return sums


def _cosines(some: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Products of all rows with all others. Without BLAS, whose threads would wait for each other longer than these small products take."""
    shared = np.flatnonzero((some > 0).any(axis=0) & (others > 0).any(axis=0))
    held = (some > 0).sum(axis=0) + (others > 0).sum(axis=0)
    shared = shared[held[shared] > (2 if some is others else 1)]  # what one text alone has is in no product
    found: NDArray[np.float32] = np.einsum("ik,jk->ij", some[:, shared], others[:, shared])
    return found


def _beyond_chance(
    likeness: NDArray[np.float32], same: NDArray[np.bool_], counts: NDArray[np.float32], others: int
) -> Float64Array:
    best = likeness.max(axis=1, keepdims=True) if likeness.size else np.zeros((len(likeness), 1))
    nearest = likeness >= best - 1e-6  # equal texts differ by rounding
    hit = (nearest & same).sum(axis=1) / np.maximum(nearest.sum(axis=1), 1)
    chance = same.sum(axis=1) / max(others, 1)
    known = (chance > 0) & (chance < 1) & (counts.sum(axis=1) > 0)
    return np.where(known, (hit - chance) / np.where(known, 1 - chance, 1), np.nan)


MOST_STEPS: Final = 60
"""Of more steps so many are used, evenly over the run."""

VARIETY: Final = ("told_by_neighbour", "alike_to_others", "alike_in_group", "distinct_in_group")
"""How much better than chance the nearest other response names a response's prompt (without groups: the nearest prompt is its own), 1 where
all do; mean cosine to responses to other prompts; mean cosine of pairs of a group; different 4-grams of characters over all of a group's."""


def variety_by_step(run: Run, progress: Callable[[float], None] | None = None) -> pd.DataFrame:
    """VARIETY by step: index step, rising, at most MOST_STEPS of the run's; NaN where a step has too little text. No row without responses."""
    frame, prompts = run.frame, units_of(run.prompt_keys, NO_PROMPT)
    steps = run.steps[np.unique(np.linspace(0, len(run.steps) - 1, min(MOST_STEPS, len(run.steps))).round().astype(np.int64))]
    of_rows = frame["step"].to_numpy()
    sizes = np.asarray(pd.Series(prompts).groupby([of_rows, prompts]).size(), np.int64)
    paired = is_paired(sizes)
    found = []
    for at, step in enumerate(steps.tolist() if "response" in run.text_columns else []):
        rows = np.arange(*np.searchsorted(of_rows, [step, step + 1]))
        found.append(_of_step(run, rows[sampled(prompts[rows], paired)], prompts, paired))
        if progress:
            progress((at + 1) / len(steps))
    return pd.DataFrame(found, pd.Index(steps[: len(found)], name="step"), list(VARIETY), np.float64)


def _of_step(run: Run, rows: NDArray[np.int64], prompts: NDArray[np.int64], paired: bool) -> list[float]:
    if not len(rows):
        return [np.nan] * len(VARIETY)
    keys, own = run.frame.index.to_numpy()[rows], np.unique(prompts[rows], return_inverse=True)[1].ravel()
    texts = run.texts("response", keys).to_pylist()
    counts = bags(texts)
    beyond = retrieved(counts, own) if paired else of_own_prompt(counts, bags(_prompts(run, keys)), own)
    ends = pa.array([None if text is None else text[-CHARACTERS:] for text in texts], pa.large_string())
    several = np.bincount(own) > 1
    distinct = distinct_share(shingles(code_units(ends)), own)
    numbers = (
        beyond,
        alike_to_others(counts, own),
        self_similarity(counts, own),
        distinct[several],
    )
    return [float(np.nanmean(one)) if np.isfinite(one).any() else np.nan for one in numbers]


def _prompts(run: Run, keys: NDArray[np.int64]) -> list[str | None]:
    if "prompt" not in run.text_columns:
        return [None] * len(keys)
    texts: list[str | None] = run.texts("prompt", keys).to_pylist()
    return texts
