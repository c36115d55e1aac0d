"""Duplicates: rows, and responses to one prompt in one step."""

from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.rollouts.digests import of_arrays
from board.analysis.texts.text_health.texts import column
from board.findings.checks.contract import Answer, shown_by
from board.findings.checks.evidence import Batch, Evidence, PerRollout
from board.schema import TOKENS

_NOT_OF_THE_ROW: Final = ("shard", "line", "rank")
"""Where a row was written, and by whom: ranks that each log the whole batch write the same rows."""

_WORTH_KNOWING: Final = 0.01
"""Share of the rollouts."""

_IMPROBABLE: Final = -10.0
"""Nats: a policy gives the same response again in one of 22,000 tries, or less often."""


def measure(batch: Batch) -> dict[str, PerRollout]:
    """A digest of each rollout's response, or of its tokens where there is none, and one of its logprobs."""
    texts = column(batch.part, "response")
    missing = texts.is_null().to_numpy(zero_copy_only=False)
    values = texts.fill_null("").to_numpy(zero_copy_only=False)
    if missing.any() and TOKENS in batch.part.tokens.column_names:
        tokens = batch.part.tokens.column(TOKENS).chunk(0)
        joined = [str(one) for one in tokens.take(pa.array(np.flatnonzero(missing))).to_pylist()]
        values = values.copy()
        values[missing] = joined
    return {"response_digest": pd.util.hash_array(values.astype(object), categorize=False), "array_digest": of_arrays(batch.part)}


def _texts(evidence: Evidence) -> pd.DataFrame:
    measures = evidence.measures
    return pd.DataFrame(
        {"step": evidence.frame["step"], "prompt": measures["prompt_key"], "response": measures["response_digest"]},
    )


def _rows_again(evidence: Evidence) -> NDArray[np.bool_]:
    """Rollouts that are an earlier one again: same step, texts and numbers. Only those with ids, or that are hardly sampled twice."""
    frame = evidence.frame.drop(columns=[name for name in _NOT_OF_THE_ROW if name in evidence.frame.columns])
    telling = np.zeros(len(frame), np.bool_)
    if {"logprob_mean", "response_length"} <= {*frame.columns}:
        telling = (frame["logprob_mean"] * frame["response_length"] < _IMPROBABLE).to_numpy(np.bool_)
    if "sample_id" in frame:
        telling = telling | frame["sample_id"].notna().to_numpy()
    texts = _texts(evidence).assign(arrays=evidence.measures["array_digest"])
    numbers = pd.Series(pd.util.hash_pandas_object(frame, index=False).to_numpy(), index=frame.index)
    again: NDArray[np.bool_] = telling & texts.assign(numbers=numbers).duplicated().to_numpy()
    return again


def same_row(evidence: Evidence) -> Answer:
    """Rows that are there again."""
    return shown_by(evidence, _rows_again(evidence), "{rollouts} equal to an earlier one of the step in every text and number")


def same_response(evidence: Evidence) -> Answer:
    """Responses that a prompt was given before in the same step, in rows that are not the same; few are as every policy samples."""
    again = _texts(evidence).duplicated().to_numpy() & ~_rows_again(evidence)
    if again.mean() < _WORTH_KNOWING:
        return None
    what = f"{{rollouts}} ({100 * again.mean():.1f} %) with a response that the prompt was given before in the step"
    return shown_by(evidence, again, what)
