"""Two rollouts compared: where their tokens part, and their numbers side by side."""

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from board.runs.run import Run
from board.schema import CUT_SHORT, heading

NUMBERS: Final = (
    "reward",
    "valid_reward",
    "advantage",
    "advantage_mean",
    "response_length",
    "response_chars",
    "kl_k3_mean",
    "entropy_mean",
)
"""Columns that are compared between rollouts, where any of them has it."""

ENDINGS: Final = ("finish_reason", "stop_reason", "status")
"""Columns of how a response ended, the likeliest first."""


def parting(first: Sequence[str], second: Sequence[str]) -> int | None:
    """How many tokens two responses begin with in common; None where they are the same to the end."""
    shorter = min(len(first), len(second))
    at = next((at for at in range(shorter) if first[at] != second[at]), shorter)
    return None if at == len(first) == len(second) else at


def numbers(run: Run, keys: Sequence[int]) -> pd.DataFrame:
    """NUMBERS of those rollouts and how each ended, a row each in their order; columns that none of them has are left out.

    Columns go by their names on the screen; the index are the keys.
    """
    rows = run.frame.loc[list(keys)]
    columns: dict[str, Any] = {
        heading(name): rows[name].to_numpy() for name in NUMBERS if name in rows.columns and rows[name].notna().any()
    }
    if "tokens" in columns:
        columns.pop("characters", None)
    ends = endings(run, keys)
    if any(ends):
        columns["ending"] = ends
    return pd.DataFrame(columns, index=pd.Index(list(keys), name="rollout"))


def endings(run: Run, keys: Sequence[int]) -> list[str]:
    """How each of those responses ended, as its row has it; empty where it has nothing of that."""
    name = next((name for name in ENDINGS if name in run.text_columns), None)
    if name is not None:
        return [text or "" for text in run.texts(name, list(keys)).to_pylist()]
    if "truncated" not in run.frame.columns:
        return [""] * len(keys)
    cut = run.frame["truncated"].loc[list(keys)]
    return [CUT_SHORT if one == 1 else "" if pd.isna(one) else "stop" for one in cut.tolist()]
