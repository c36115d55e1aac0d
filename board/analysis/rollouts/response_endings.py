"""Endings of responses: at the limit, end token or none, or the engine's reason."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.rollouts.selection import numbers
from board.metrics.formulas import mean_of_known
from board.metrics.step_sums import Steps
from board.runs.run import Run

CUT: Final = "cut off at the limit"
END_TOKEN: Final = "end token"
NO_END_TOKEN: Final = "no end token"
UNKNOWN: Final = "not reported"

MOST_REASONS: Final = 4
"""At most this many reasons of the engine have a name of their own, the commonest; the others are one."""
OTHER_REASONS: Final = "another reason of the engine"

_REASONS: Final = ("stop_reason", "finish_reason")
"""Columns of the engine's reason for stopping; the first names the string that stopped them where there was one."""

SIGNS: Final = {
    "tokens_after_end": "tokens after the end token",
    "thought_only": "thinking without an answer",
    "open_fence": "an open fence of code",
    "open_formula": "an open formula",
    "open_json": "open JSON",
    "inside_sentence": "inside a sentence",
}
"""What else a response may show at its end, by the measure that is above 0 then: several at once, whatever its ending is."""


@dataclass(frozen=True)
class Endings:
    """How each rollout of a run ends."""

    names: tuple[str, ...]
    """The endings there are, the commonest first; reasons of the engine are in its own words, from a file."""
    of_rows: NDArray[np.int64]
    """(rows,) which of them, in the order of the run's frame."""


def endings(run: Run) -> Endings | None:
    """The ending of each rollout; None where nothing is known of any: they are not measured yet, or there is neither token nor reason.

    What the engine cut is cut; what ends with an end token has it; else it is the reason that the engine gives, else that no end token is
    there.
    """
    frame = run.frame
    if not {"ended", "cut_off"} & set(frame.columns):
        return None
    ended, cut = (numbers(frame, name) for name in ("ended", "cut_off"))
    names = _reasons(run)
    unreported = names.isna().to_numpy()
    names[unreported & (ended == 0)] = NO_END_TOKEN
    names[unreported & (ended != 0)] = UNKNOWN
    names[ended == 1] = END_TOKEN
    names[cut == 1] = CUT
    found = names.value_counts().index
    if set(found) == {UNKNOWN}:
        return None
    return Endings(tuple(map(str, found)), np.asarray(found.get_indexer(pd.Index(names)), np.int64))


def _reasons(run: Run) -> "pd.Series[str]":
    """(rows,) the engine's reason, missing where it gives none; the commonest by name."""
    given = pd.Series([None] * len(run.frame), dtype=object)
    for name in _REASONS:
        if name in run.text_columns:
            texts = pd.Series(run.texts(name, run.frame.index.to_numpy()).to_pylist(), dtype=object)
            given = given.where(given.notna(), texts.where(texts != "", None))
    named = "engine: " + given.value_counts().index[:MOST_REASONS]
    reasons = "engine: " + given
    return reasons.where(reasons.isna() | reasons.isin(named), OTHER_REASONS)


def shares(run: Run, found: Endings) -> pd.DataFrame:
    """The share of each ending by step: index step, rising, a column for each of `names`, 0 to 1."""
    steps = Steps(run.frame["step"].to_numpy(np.int64))
    columns = {name: steps.mean((found.of_rows == at).astype(np.float64)) for at, name in enumerate(found.names)}
    return pd.DataFrame(columns, index=pd.Index(steps.numbers, name="step"))


def table(run: Run, found: Endings, step: int) -> pd.DataFrame:
    """The endings, then the signs that some response shows, a row each, with how many responses of the step and of the run have it.

    Columns: `ending`, `responses`, `share` (of the step's), `share_in_run`, `reward` and `tokens` (means over the run's responses of that
    ending; NaN where the run has none).
    """
    frame = run.frame
    marks = {name: found.of_rows == at for at, name in enumerate(found.names)}
    marks |= {f"… {name}": numbers(frame, column) > 0 for column, name in SIGNS.items() if (numbers(frame, column) > 0).any()}
    here = frame["step"].to_numpy() == step
    reward, tokens = (numbers(frame, name) for name in ("reward", "response_length"))
    rows = [
        {
            "ending": name,
            "responses": int((own & here).sum()),
            "share": float(own[here].mean()) if here.any() else np.nan,
            "share_in_run": float(own.mean()),
            "reward": mean_of_known(reward[own]),
            "tokens": mean_of_known(tokens[own]),
        }
        for name, own in marks.items()
    ]
    return pd.DataFrame(rows, columns=["ending", "responses", "share", "share_in_run", "reward", "tokens"])
