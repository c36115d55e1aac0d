"""A run with all its texts and token arrays in one frame, for notebooks. Knows nothing of where they lie."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from board.schema import ALTERNATIVES, TOKENS

if TYPE_CHECKING:
    from board.runs.run import Run


def whole_frame(run: "Run") -> pd.DataFrame:
    """A row per rollout in the order of `run.frame`: its scalars, texts as `str` and token arrays as numpy arrays.

    Of a field that is a number in some rows and something else in others, the numbers keep the name; the rest is in
    `<name> (tokens)` and `<name> (text)`.
    """
    frame = run.frame.copy()
    rollouts = [run.rollout(int(key)) for key in frame.index]
    lists: dict[str, list[Any]] = {TOKENS: [rollout.tokens for rollout in rollouts]} if run.has_tokens else {}
    if any(rollout.alternatives is not None for rollout in rollouts):
        lists[ALTERNATIVES] = [None if one.alternatives is None else list(one.alternatives) for one in rollouts]
    lists |= {name: [rollout.arrays.get(name) for rollout in rollouts] for name in run.token_metrics}
    for name in run.text_columns:
        column = f"{name} (text)" if name in frame or name in lists else name
        frame[column] = run.texts(name, frame.index.to_numpy()).to_pandas().to_numpy()
    for name, values in lists.items():
        column = f"{name} (tokens)" if name in run.frame else name
        frame[column] = pd.Series(values, index=frame.index, dtype=object)
    return frame
