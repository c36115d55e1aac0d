"""Variety of a step's responses: compared with other prompts and within their groups.

What is compared, and how, is in `template_collapse`.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.stats.bootstrap import units_of
from board.analysis.texts import template_collapse
from board.analysis.texts.text_health.texts import code_units, shingles
from board.runs.prompt_keys import NO_PROMPT
from board.runs.run import Run

MOST_STEPS: Final = 60
"""Of more steps so many are used, evenly over the run."""

COLUMNS: Final = ("told_by_neighbour", "alike_to_others", "alike_in_group", "distinct_in_group")
"""How much better than chance the nearest other response names a response's prompt (without groups: the nearest prompt is its own), 1 where
all do; mean cosine to responses to other prompts; mean cosine of pairs of a group; different 4-grams of characters over all of a group's."""


def by_step(run: Run, progress: Callable[[float], None] | None = None) -> pd.DataFrame:
    """COLUMNS by step: index step, rising, at most MOST_STEPS of the run's; NaN where a step has too little text. No row without responses."""
    frame, prompts = run.frame, units_of(run.prompt_keys, NO_PROMPT)
    steps = run.steps[np.unique(np.linspace(0, len(run.steps) - 1, min(MOST_STEPS, len(run.steps))).round().astype(np.int64))]
    of_rows = frame["step"].to_numpy()
    sizes = np.asarray(pd.Series(prompts).groupby([of_rows, prompts]).size(), np.int64)
    paired = template_collapse.is_paired(sizes)
    found = []
    for at, step in enumerate(steps.tolist() if "response" in run.text_columns else []):
        rows = np.arange(*np.searchsorted(of_rows, [step, step + 1]))
        found.append(_of_step(run, rows[template_collapse.sampled(prompts[rows], paired)], prompts, paired))
        if progress:
            progress((at + 1) / len(steps))
    return pd.DataFrame(found, pd.Index(steps[: len(found)], name="step"), list(COLUMNS), np.float64)


def _of_step(run: Run, rows: NDArray[np.int64], prompts: NDArray[np.int64], paired: bool) -> list[float]:
    if not len(rows):
        return [np.nan] * len(COLUMNS)
    keys, own = run.frame.index.to_numpy()[rows], np.unique(prompts[rows], return_inverse=True)[1].ravel()
    texts = run.texts("response", keys).to_pylist()
    counts = template_collapse.bags(texts)
    if paired:
        beyond = template_collapse.retrieved(counts, own)
    else:
        beyond = template_collapse.of_own_prompt(counts, template_collapse.bags(_prompts(run, keys)), own)
    ends = pa.array([None if text is None else text[-template_collapse.CHARACTERS :] for text in texts], pa.large_string())
    several = np.bincount(own) > 1
    distinct = template_collapse.distinct_share(shingles(code_units(ends)), own)
    numbers = (
        beyond,
        template_collapse.alike_to_others(counts, own),
        template_collapse.self_similarity(counts, own),
        distinct[several],
    )
    return [float(np.nanmean(one)) if np.isfinite(one).any() else np.nan for one in numbers]


def _prompts(run: Run, keys: NDArray[np.int64]) -> list[str | None]:
    if "prompt" not in run.text_columns:
        return [None] * len(keys)
    texts: list[str | None] = run.texts("prompt", keys).to_pylist()
    return texts
