"""Find rollouts that a trainer discarded, or wrote twice.

Twice are those that it wrote as sampled, and again in the batch it trained on. Rows in, rows out.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.schema import DISCARD_FLAGS, DISCARDED, EVALUATION

ReadTexts = Callable[[NDArray[np.int64]], list[str | None]]
"""The responses of some rollouts, by their keys."""


def mark_discarded(
    rows: pd.DataFrame, batches: Mapping[str, bool], responses: ReadTexts, names: Sequence[str] | None = None
) -> pd.DataFrame:
    """The rows, each rollout once, with `split` DISCARDED in those that the trainer sampled and did not train on.

    `rows` are a run's scalars in the order of reading, indexed by their keys. `batches` says of the shards of a trainer that writes both
    whether they hold a batch it trained on (True), or all that was sampled for one that is there, too (False). A rollout that is in both is
    in the result as the batch has it. `names` are the columns that are flags, where more is known of them than these rows tell.
    """
    once = _once(rows, batches, responses)
    return flagged(once, flags(once) if names is None else [name for name in names if name in once.columns])


def _once(rows: pd.DataFrame, batches: Mapping[str, bool], responses: ReadTexts) -> pd.DataFrame:
    """The rows without those that a batch has again; what is left of all that was sampled is discarded."""
    if all(batches.values()):
        return rows
    of_batch, of_all = (
        rows["shard"].isin([name for name, is_batch in batches.items() if is_batch == kind]).to_numpy() for kind in (True, False)
    )
    left = ~_again(rows, of_batch, of_all, responses)
    return _discarded(rows[left], of_all[left])


def _again(rows: pd.DataFrame, of_batch: NDArray[np.bool_], of_all: NDArray[np.bool_], responses: ReadTexts) -> NDArray[np.bool_]:
    """Rollouts among all that are in a batch, too, (rows,): by `sample_id`, where there is none by step, prompt and text."""
    ids = rows["sample_id"] if "sample_id" in rows.columns else pd.Series(None, rows.index, dtype=object)
    named = ids.notna().to_numpy()
    again: NDArray[np.bool_] = of_all & named & ids.isin(ids[of_batch & named]).to_numpy()
    unnamed = np.flatnonzero((of_all | of_batch) & ~named)
    if of_all[unnamed].any() and of_batch[unnamed].any():
        rest = rows[["step", "prompt_key"]].iloc[unnamed].assign(said=pd.array(responses(rows.index.to_numpy()[unnamed]), "str"))
        again[unnamed] = _also_in(rest, of_batch[unnamed])
    return again


def _also_in(rows: pd.DataFrame, of_batch: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows outside the batch are equal to one in it, (rows,); of three equal ones and two in the batch, the first two."""
    alike = rows.groupby(list(rows.columns), dropna=False, sort=False).ngroup().to_numpy()
    nth = pd.DataFrame({"alike": alike, "batch": of_batch}).groupby(["alike", "batch"]).cumcount().to_numpy()
    in_batch = np.bincount(alike[of_batch], minlength=alike.max() + 1)
    found: NDArray[np.bool_] = ~of_batch & (nth < in_batch[alike])
    return found


def flags(rows: pd.DataFrame) -> list[str]:
    """The columns of DISCARD_FLAGS that are flags in these rows: all their values are 0 or 1, else they count something."""
    said = [name for name in DISCARD_FLAGS if name in rows.columns and pd.api.types.is_numeric_dtype(rows[name].dtype)]
    known = {name: values[~np.isnan(values)] for name in said for values in [_numbers(rows, name)]}
    return [name for name, values in known.items() if np.isin(values, (0.0, 1.0)).all()]


def flagged(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Those marked that one of these columns marks; of an evaluation's nothing was to be trained on anyway."""
    marks = np.zeros(len(rows), np.bool_)
    for name in names:
        marks |= _numbers(rows, name) == 1.0
    if marks.any() and "split" in rows.columns:
        marks &= (rows["split"] != EVALUATION).to_numpy()
    return _discarded(rows, marks)


def _numbers(rows: pd.DataFrame, name: str) -> NDArray[np.float64]:
    found: NDArray[np.float64] = rows[name].to_numpy(np.float64, na_value=np.nan)
    return found


def _discarded(rows: pd.DataFrame, marks: NDArray[np.bool_]) -> pd.DataFrame:
    """The rows, those that are marked as discarded."""
    if not marks.any():
        return rows
    split: pd.Series[Any] = rows["split"] if "split" in rows.columns else pd.Series(None, rows.index, dtype=object)
    return rows.assign(split=split.astype(object).mask(marks, DISCARDED))
