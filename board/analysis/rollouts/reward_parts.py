"""The parts of a reward among a run's columns. Frame in, names out."""

import re
from typing import Final

import numpy as np
import pandas as pd

from board.formats.reward_key import is_called_part
from board.schema import is_trainers

_PENALTY: Final = re.compile("penal|cost|overlong|repet")
_NOT: Final = re.compile(r"weight|threshold|count|num_|index|_id$|std|baseline|max|min")
"""A column so named is about the reward and no part of it."""
_MOST: Final = 64
"""Columns that are tried as terms of a sum."""
_SAMPLE: Final = 5_000


def reward_parts(frame: pd.DataFrame) -> list[str]:
    """Names of the trainer's own numeric columns that are parts of the reward: called so, or terms of an exact weighted sum of it."""
    own = [name for name in map(str, frame.columns) if is_trainers(name) and pd.api.types.is_numeric_dtype(frame[name].dtype)]
    terms = _terms(frame, own[:_MOST]) if "reward" in frame.columns else set()
    return [name for name in own if name in terms or is_part(name)]


def is_part(name: str) -> bool:
    """Whether a column is called as trainers call parts of the reward, and is one of the trainer's own."""
    return is_trainers(name) and is_called_part(name)


def _terms(frame: pd.DataFrame, names: list[str]) -> set[str]:
    """The columns of which the reward is a weighted sum, where it is one to rounding; none else."""
    rows = frame.iloc[:: max(1, len(frame) // _SAMPLE)]
    table = rows[names].to_numpy(np.float64, na_value=np.nan)
    reward = rows["reward"].to_numpy(np.float64, na_value=np.nan)
    known = np.isfinite(reward) & np.isfinite(table).all(axis=1)
    varied = [at for at in range(len(names)) if known.any() and np.ptp(table[known, at]) > 0]
    if known.sum() <= 2 * (len(varied) + 1) or not varied or not np.ptp(reward[known]) > 0:
        return set()
    x = np.column_stack([table[known][:, varied], np.ones(int(known.sum()))])
    scale = np.abs(x).max(axis=0)
    weights = np.linalg.lstsq(x / scale, reward[known], rcond=None)[0]
    left = np.abs(x / scale @ weights - reward[known]).max()
    size = float(np.ptp(reward[known]))
    if left > 1e-3 * size:
        return set()
    return {names[at] for at, weight in zip(varied, weights, strict=False) if abs(weight) > 1e-2 * size}


def is_penalty(name: str) -> bool:
    """Whether a part is called so that less of it is better, or none of it usual."""
    return _PENALTY.search(name.lower()) is not None
