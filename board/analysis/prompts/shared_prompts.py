"""Common prompts of two runs: by the trainers' ids where these agree, else by text.

Two runs in, keys out that are equal for equal prompts of either. An id alone proves little, as another data set counts from 0 again:
prompts of one id whose texts differ are not the same.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.prompts.prompt_list import PROMPT_TEXTS
from board.runs.prompt_keys import NO_PROMPT, prompt_keys
from board.runs.run import Run

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class SharedPrompts:
    """Keys of the prompts of two runs, in the order of their frames' rows; `prompt_keys.NO_PROMPT` where a row has none."""

    a: IntArray
    b: IntArray
    by: Literal["id", "text"]
    conflicting: int
    """Ids that both runs have, of prompts whose texts differ: these count as different prompts."""


def shared_prompts(a: Run, b: Run) -> SharedPrompts:
    """Keys that are equal for the same prompt of either run.

    By the keys that each run has where nothing in either has an id, or everything has; where half of the ids that both have are of other
    texts, or some rollouts have no id, by texts, which are read once for each prompt.
    """
    runs = (a, b)
    with_ids = [_with_id(run) for run in runs]
    if not any(one.any() for one in with_ids):
        return SharedPrompts(a.prompt_keys, b.prompt_keys, "text", 0)
    by_id = all(one[run.prompt_keys != NO_PROMPT].all() for one, run in zip(with_ids, runs, strict=True))
    conflicting, shared = _conflicting(a, b) if by_id else (np.empty(0, np.int64), 0)
    if shared and 2 * len(conflicting) <= shared:
        # any other number will do for them, as long as it is none of A's
        apart = np.where(np.isin(b.prompt_keys, conflicting), ~b.prompt_keys, b.prompt_keys)
        return SharedPrompts(a.prompt_keys, apart, "id", len(conflicting))
    return SharedPrompts(_by_text(a), _by_text(b), "text", len(conflicting))


def shared_share(found: SharedPrompts) -> float:
    """Of the rollouts of both runs the share whose prompt is in both, 0 to 1; 0 where there is no prompt, or no rollout."""
    held = [np.isin(own, other) & (own != NO_PROMPT) for own, other in ((found.a, found.b), (found.b, found.a))]
    return float(np.concatenate(held).mean()) if found.a.size + found.b.size else 0.0


def _with_id(run: Run) -> NDArray[np.bool_]:
    """Which rollouts are keyed by an id. (rows,)"""
    frame = run.frame
    return frame["prompt_id"].notna().to_numpy(np.bool_) if "prompt_id" in frame.columns else np.zeros(len(frame), np.bool_)


def _conflicting(a: Run, b: Run) -> tuple[IntArray, int]:
    """The keys that both runs have, of prompts whose texts are known and differ; and how many keys both have."""
    shared = np.intersect1d(pd.unique(a.prompt_keys), pd.unique(b.prompt_keys))
    shared = shared[shared != NO_PROMPT]
    texts = [_text_keys(run, shared) for run in (a, b)]
    known = (texts[0] != NO_PROMPT) & (texts[1] != NO_PROMPT)
    return shared[known & (texts[0] != texts[1])], len(shared)


def _by_text(run: Run) -> IntArray:
    codes, names = pd.factorize(run.prompt_keys)
    return _text_keys(run, names)[codes]


def _text_keys(run: Run, names: IntArray) -> IntArray:
    """The keys by text of prompts that the run has by these keys: of the first rollout of each. (names,)"""
    codes, there = pd.factorize(run.prompt_keys)
    firsts = np.zeros(len(there), np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # of places that are named often the last one written stays
    rollouts = run.frame.index.to_numpy()[firsts[pd.Index(there).get_indexer(pd.Index(names))]]
    texts: dict[str, pa.Array] = {
        name: run.texts(name, rollouts).combine_chunks() for name in PROMPT_TEXTS if name in run.text_columns
    }
    return prompt_keys(texts, {}, len(names))
