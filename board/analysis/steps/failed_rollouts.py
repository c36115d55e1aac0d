"""Failed rollouts, by status, error or flag, or by an empty response.

A failed rollout is no evidence of the policy: its reward, as a rule 0, was not given by a scorer.
"""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.rollouts.reward_parts import reward_parts
from board.analysis.rollouts.selection import numeric_columns
from board.analysis.steps.step_stats import finite_values
from board.runs.run import Run

FAILED: Final = "rollout_failed"
"""The number of a rollout that is 1 where it failed, else 0."""

_STATES: Final = re.compile(r"(?:\w+_)?status|(?:finish|stop|exit|end|termination|done)_reason", re.IGNORECASE)
_ERRORS: Final = re.compile(r"(?:error|exception|traceback|failure)(?:_(?:message|msg|type|text|reason))?", re.IGNORECASE)
_OBJECTS: Final = re.compile(r"(?:\w+_)?(?:info|meta|metadata|extras?|details|outcome|result)", re.IGNORECASE)
_HELD: Final = (
    r'"(?:error|exception|traceback|failure)(?:_(?:message|msg|type|text|reason))?"\s*:\s*(?P<texts>"(?:[^"\\]|\\.)*"|\{[^{}]*\})'
)
"""An error within a column whose text is an object of JSON."""
_AT_ONCE: Final = 1_000
_FLAGS: Final = re.compile(r"(?:is_|has_|was_)?(?:failed|aborted|errored|crashed|cancell?ed|timed_?out)", re.IGNORECASE)
_BROKEN: Final = r"(?i)(?:^|[^a-z])(?:abort|error|cancel|crash|exception|time(?:d[ _-]?)?out|killed|lost|oom)|error$"
_VERDICT: Final = r"(?i)wrong|accept|pass|correct|solved|compil|runtime|syntax"
"""Words of a judge: a column with them is of how good a response is, not of whether it could be sampled."""
_MACHINE: Final = (
    r"(?i)connect|sandbox|unavailable|unreachable|lost|refused|reset|memory|\boom\b|kill|abort|cancel|limit|server|\b50[0-4]\b"
)
"""Errors that are no fault of a response, unlike those of a wrong program."""
_NOTHING: Final = r"(?i)^\s*(?:none|null|nil|nan|false|0|ok|-|\{\}|\[\]|no[ _-].*|)\s*$"


def failed(run: Run) -> NDArray[np.bool_]:
    """(rows,) the rollouts of the frame that failed; a status or an error that may be of a wrong answer counts where the response is empty."""
    keys, frame = run.frame.index.to_numpy(), run.frame
    empty = finite_values(frame, "response_chars") == 0 if "response_chars" in frame else np.zeros(len(frame), np.bool_)
    if "response_length" in frame:
        empty &= ~(finite_values(frame, "response_length") > 0)
    marks, has_state = np.zeros(len(frame), np.bool_), np.zeros(len(frame), np.bool_)
    for _, of_state, texts in _reason_columns(run, keys):
        some, is_machine = ~_matches(texts, _NOTHING), _matches(texts, _BROKEN if of_state else _MACHINE)
        of_machine = is_machine & (not (of_state and _matches(texts, _VERDICT).any()))
        marks |= some & (of_machine | (empty & (is_machine | _matches(texts, "(?i)fail") if of_state else True)))
        has_state |= some & of_state
    for name in filter(_FLAGS.fullmatch, numeric_columns(frame)):
        values = finite_values(frame, name)
        marks |= (values == 1) & np.isin(values[np.isfinite(values)], (0, 1)).all()
    return marks | (empty & ~has_state) | _unscored(frame)


def _unscored(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """(rows,) rollouts with a reward and with none of its parts, where most have one."""
    parts = [np.isnan(finite_values(frame, name)) for name in reward_parts(frame) if "reward" in frame]
    lacking = np.all(parts, axis=0) & np.isfinite(finite_values(frame, "reward")) if parts else np.zeros(len(frame), np.bool_)
    found: NDArray[np.bool_] = lacking & (2 * lacking.sum() < len(frame))
    return found


def failure_reasons(run: Run, marks: NDArray[np.bool_]) -> list[str]:
    """The commonest reasons of the marked rollouts, (rows,): "status aborted"; empty where none is given in words."""
    keys, words = run.frame.index.to_numpy()[marks], list[str]()
    for name, of_state, texts in _reason_columns(run, keys):
        most = texts.filter(_matches(texts, f"{_BROKEN}|fail") if of_state else ~_matches(texts, _NOTHING)).to_pandas().mode()
        words += [f"{name} {one}"[:80] for one in most[:1]]
    return [*words, *(["without any part of the reward"] if _unscored(run.frame)[marks].any() else [])]


def _reason_columns(run: Run, keys: NDArray[np.int64]) -> Iterator[tuple[str, bool, pa.ChunkedArray]]:
    """The columns of how rollouts ended, by name: whether it is a state rather than an error, and its texts."""
    for name in run.text_columns:
        of_state = _STATES.fullmatch(name) is not None
        if of_state or _ERRORS.fullmatch(name):
            yield name, of_state, run.texts(name, keys)
        elif _OBJECTS.fullmatch(name):
            # some rollouts at a time: of a large object little is held
            parts = (run.texts(name, keys[at : at + _AT_ONCE]) for at in range(0, len(keys), _AT_ONCE))
            held = [pc.struct_field(pc.extract_regex(part.combine_chunks(), _HELD), "texts") for part in parts]
            yield f"{name}.error", False, pa.chunked_array(held, pa.large_string())


def _matches(texts: pa.ChunkedArray, pattern: str) -> NDArray[np.bool_]:
    """Which texts match; what is missing reads as nothing."""
    coded = texts.fill_null("").combine_chunks().dictionary_encode()
    found = pc.match_substring_regex(coded.dictionary, pattern).to_numpy(zero_copy_only=False)
    return np.asarray(found[coded.indices.to_numpy()], np.bool_)
