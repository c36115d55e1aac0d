"""A run with all its texts and token arrays in one frame, for notebooks."""

from typing import Any

import pandas as pd

from board.runs.cache.parts_by_key import PartsByKey
from board.runs.cache.rollout import Rollout, rollout_at
from board.schema import ALTERNATIVES, TOKENS


def whole_frame(scalars: pd.DataFrame, by_key: PartsByKey) -> pd.DataFrame:
    """A row per rollout in the order of `scalars`, whose index is the key: its scalars, texts as `str` and token arrays as numpy arrays.

    Of a field that is a number in some rows and something else in others, the numbers keep the name; the rest is in
    `<name> (tokens)` and `<name> (text)`.
    """
    frame = scalars.copy()
    rollouts = [_rollout(by_key, int(key)) for key in frame.index]
    lists: dict[str, list[Any]] = {TOKENS: [rollout.tokens for rollout in rollouts]} if by_key.account.has_tokens else {}
    if any(rollout.alternatives is not None for rollout in rollouts):
        lists[ALTERNATIVES] = [None if one.alternatives is None else list(one.alternatives) for one in rollouts]
    lists |= {name: [rollout.arrays.get(name) for rollout in rollouts] for name in by_key.account.token_metrics}
    for name in by_key.account.text_columns:
        column = f"{name} (text)" if name in frame or name in lists else name
        frame[column] = by_key.texts(name, frame.index.to_numpy()).to_pandas().to_numpy()
    for name, values in lists.items():
        column = f"{name} (tokens)" if name in scalars else name
        frame[column] = pd.Series(values, index=frame.index, dtype=object)
    return frame


def _rollout(by_key: PartsByKey, key: int) -> Rollout:
    place = by_key.locate(key)
    assert place is not None, f"the frame has a row {key}, and no part has"
    return rollout_at(*place, key)
