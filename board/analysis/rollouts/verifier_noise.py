"""Verifier noise: equal responses or answers to one prompt with different rewards.

Texts are compared without regard to white space and case, in Arrow, some steps at a time: a run of a million rollouts is looked through in
seconds, not in memory.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.rollouts.groups import Grouped
from board.metrics.formulas import Float64Array
from board.runs.run import Run

What = Literal["response", "answer"]

AT_ONCE: Final = 20_000
"""About how many rollouts are looked through at once."""
MOST_LISTED: Final = 1_000
"""Contradictions that are listed, those of the largest difference first."""

ANSWERS: Final = (
    (r"\boxed{", r"(?s).*\\boxed\{(?P<answer>(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"),
    ("<answer>", r"(?s).*<answer>(?P<answer>.*?)</answer>"),
    ("####", r"(?s).*####[ \t]*(?P<answer>[^\n]+)"),
    ("nswer", r"(?is).*\banswer(?:\s+is|\s*:)\s*(?P<answer>[^\n]{1,80}?)[.!]?\s*(?:<[^<>\s]{1,30}>)?\s*$"),
    ("答案", r"(?s).*答案(?:是|为|：|:)\s*(?P<answer>[^\n]{1,80}?)[.。!！]?\s*(?:<[^<>\s]{1,30}>)?\s*$"),
)
"""How a response marks its final answer, the first that it has: what tells it quickly, and the last such mark with its content.

The last two are the sentences that a response may end with."""

_SPACE: Final = r"[\s\pZ]+"


@dataclass(frozen=True)
class Noise:
    """What was found in some steps."""

    by_step: pd.DataFrame
    """Index step; for response and answer: `<what>_twins` (scored rollouts whose group has an equal one) and `<what>_contradicted` (those whose
    equals have another reward)."""
    listed: pd.DataFrame
    """A row per set of equals with different rewards: what, step, group, equals (how many), least, largest (rewards), low, high (keys)."""

    def rates(self, what: What) -> "pd.Series[float]":
        """Share (0 to 1) of the rollouts with an equal that contradict it, by step; NaN where none has an equal."""
        twins = self.by_step[f"{what}_twins"]
        return (self.by_step[f"{what}_contradicted"] / twins.where(twins > 0)).astype(np.float64)


def scan(
    run: Run,
    grouped: Grouped,
    tolerance: float = 0.0,
    progress: Callable[[float], None] | None = None,
    at_once: int = AT_ONCE,
) -> Noise:
    """Look through all groups of a run, about `at_once` rollouts at a time; `progress` is called with the share that is done.

    Rewards differ when they are more than `tolerance` apart.
    """
    counted, listed = [], []
    for first, last in _batches(grouped, at_once):
        rows = slice(int(grouped.starts[first]), int(grouped.starts[last]))
        texts = run.texts("response", grouped.keys[rows]) if "response" in run.text_columns else None
        group = np.repeat(np.arange(first, last), np.diff(grouped.starts[first : last + 1]))
        steps = grouped.groups["step"].to_numpy()[group]
        tallies: dict[str, NDArray[np.float64]] = {}
        for what, keys in _codes(texts, len(group)).items():
            twins, contradicted, found = _contradictions(group, keys, grouped.rewards[rows], grouped.keys[rows], tolerance)
            tallies |= {f"{what}_twins": twins, f"{what}_contradicted": contradicted}
            listed.append(found.assign(what=what))
        counted.append(pd.DataFrame(tallies).groupby(steps).sum())
        if progress:
            progress(last / len(grouped.groups))
    whole = pd.concat(listed, ignore_index=True)
    of_group = grouped.groups[["step", "group"]].iloc[whole["at"].to_numpy(np.int64)].reset_index(drop=True)
    whole = pd.concat([of_group, whole.drop(columns="at")], axis="columns")
    apart = (whole["largest"] - whole["least"]).to_numpy(np.float64)
    widest = np.argsort(-apart, kind="stable")[:MOST_LISTED]
    return Noise(pd.concat(counted).rename_axis("step"), whole.iloc[widest].reset_index(drop=True))


def _batches(grouped: Grouped, at_once: int) -> Iterator[tuple[int, int]]:
    """Ranges of groups that hold whole steps, of about `at_once` rollouts or a single step."""
    steps = grouped.groups["step"].to_numpy()
    ends = np.append(np.flatnonzero(steps[1:] != steps[:-1]) + 1, len(steps))
    first = 0
    while first < len(steps):
        enough = int(np.searchsorted(grouped.starts, grouped.starts[first] + at_once))
        at = int(np.searchsorted(ends, max(enough, first + 1)))
        last = int(ends[min(at, len(ends) - 1)])
        yield first, last
        first = last


def _codes(texts: pa.ChunkedArray | None, count: int) -> dict[What, NDArray[np.int64]]:
    """For responses and answers: equal numbers for equal ones, -1 where there is none. Each (count,)."""
    if texts is None:
        none = np.full(count, -1)
        return {"response": none, "answer": none}
    return {"response": _numbered(normalised(texts)), "answer": _numbered(normalised(final_answers(texts)))}


def normalised(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts in lower case, with one blank for any white space and none at either end."""
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(pc.utf8_lower(texts), _SPACE, " "))


def final_answers(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The last final answer of each text, as ANSWERS finds it; null where it marks none. As long as `texts`."""
    found = pa.chunked_array([pa.nulls(len(texts), pa.large_string())])
    for mark, pattern in ANSWERS:
        matching = pc.and_(pc.fill_null(pc.match_substring(texts, mark), False), pc.is_null(found))
        at = np.flatnonzero(matching.to_numpy())
        if not len(at):
            continue
        answers = pc.struct_field(pc.extract_regex(texts.take(pa.array(at)), pattern), "answer").cast(pa.large_string())
        found = pc.replace_with_mask(found.combine_chunks(), matching.combine_chunks(), answers.combine_chunks())
        found = found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
    return found


def _numbered(texts: pa.ChunkedArray) -> NDArray[np.int64]:
    codes = texts.combine_chunks().dictionary_encode().indices
    found: NDArray[np.int64] = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _contradictions(
    group: NDArray[np.int64], codes: NDArray[np.int64], rewards: Float64Array, keys: NDArray[np.int64], tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], pd.DataFrame]:
    """Which rollouts have an equal in their group, which of those are contradicted, and the sets of equals with different rewards."""
    twins, contradicted = np.zeros(len(group)), np.zeros(len(group))
    scored = np.flatnonzero((codes >= 0) & np.isfinite(rewards))
    order = scored[np.lexsort([rewards[scored], codes[scored], group[scored]])]
    g, c = group[order], codes[order]
    firsts = (
        np.flatnonzero(np.concatenate([[True], (g[1:] != g[:-1]) | (c[1:] != c[:-1])])) if len(order) else np.zeros(0, np.int64)
    )
    sizes = np.diff(np.append(firsts, len(order)))
    low, high = order[firsts], order[firsts + sizes - 1]  # by reward within a set of equals
    apart = (sizes > 1) & (rewards[high] - rewards[low] > tolerance)
    twins[order] = np.repeat(sizes > 1, sizes)
    contradicted[order] = np.repeat(apart, sizes)
    found = {
        "at": group[low],
        "equals": sizes,
        "least": rewards[low],
        "largest": rewards[high],
        "low": keys[low],
        "high": keys[high],
    }
    return twins, contradicted, pd.DataFrame({name: column[apart] for name, column in found.items()})
