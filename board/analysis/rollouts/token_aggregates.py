"""Aggregates of each rollout's tokens as columns of a table: names, headings, numbers.

They are stored when the run is parsed (`board.metrics.token_sums`), and no token array is read for them.
"""

from collections.abc import Sequence
from typing import Final

import pandas as pd

from board.metrics.formulas import CLIP
from board.runs.run import Run
from board.schema import TOKEN_METRICS, title
from board.schema import heading as column_heading

_STATS: Final = ("mean", "sum", "max", "min")

_DERIVED: Final = {
    "log_ratio": ("log-ratio", "logprob minus ref_logprob"),
    "kl_k2": ("KL k2", "KL k2 to the reference"),
    "kl_k3": ("KL k3", "KL k3 to the reference"),
    "mismatch": ("mismatch", "logprob by the trainer minus rollout_logprob by the engine"),
    "mismatch_abs": ("|mismatch|", "|logprob − rollout_logprob|"),
    "mismatch_weight": ("engine ratio", "exp(logprob − rollout_logprob)"),
    "update": ("update", "logprob minus old_logprob"),
    "update_ratio": ("ratio", "exp(logprob − old_logprob)"),
    "clipped": ("clipped", f"1 where clipping at 1 ± {CLIP} changes the objective, else 0"),
    "td_error": ("|TD error|", "|token_reward + next value − value|"),
    "value_error": ("return − value", "return minus value"),
}
"""Quantities that tables offer in addition to the row's own arrays: their heading, and what they are of a token."""

_OWN: Final = tuple(title(name) for name in TOKEN_METRICS if name != "loss_mask")


def available(run: Run) -> list[str]:
    """Names ("entropy/max") of the aggregates that some rollout may have and that the frame does not hold already."""
    stored = run.moment_names
    named = [(quantity, stat) for quantity in (*_OWN, *_DERIVED) for stat in _STATS]
    return [
        f"{quantity}/{stat}"
        for quantity, stat in named
        if f"{quantity}/{stat}" in stored and not {f"{quantity}/{stat}", f"{quantity}_{stat}"} & {*run.frame.columns}
    ]


def heading(name: str) -> str:
    """What a table calls an aggregate, "entropy, max"; any other column as everywhere."""
    quantity, _, stat = name.rpartition("/")
    if stat not in _STATS or quantity not in {*_OWN, *_DERIVED}:
        return column_heading(name)
    return f"{_DERIVED.get(quantity, (quantity, ''))[0]}, {stat}"


def meaning(name: str) -> str:
    """The meaning of an aggregate, in a line; empty for any other column."""
    quantity, _, stat = name.rpartition("/")
    if stat not in _STATS or quantity not in {*_OWN, *_DERIVED}:
        return ""
    word = {"mean": "mean over tokens", "sum": "sum over tokens", "max": "largest of a token", "min": "smallest of a token"}[stat]
    return f"{word}: {_DERIVED.get(quantity, ('', quantity))[1]}"


def with_aggregates(run: Run, rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Rows of the run's frame with the aggregates among the names as columns, NaN where a rollout lacks one; the rows may be some of all."""
    keys = rows.index.to_numpy()
    lacking = [name for name in dict.fromkeys(names) if name not in rows.columns and name in run.moment_names]
    return rows.assign(**{name: run.moment(name, keys) for name in lacking}) if lacking else rows
