"""One rollout of a run, how links name it, and how it is made of a row of a part."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.runs import notebook_text
from board.runs.cache.parts import COUNTS, PADS, Alternatives, Part
from board.schema import ALTERNATIVES, TOKENS
from board.sources import files, shards
from board.sources.shards import Shard
from board.text.counting import plural
from board.text.format_number import fmt

NO_METRIC: Final = (TOKENS, ALTERNATIVES, COUNTS, PADS)
"""Token columns of a part that are no metric."""


@dataclass(frozen=True, repr=False)
class Rollout:
    """One rollout with its texts and token arrays; `rollout["logprobs"]` is one field, None where the row lacks it."""

    key: int
    step: int
    shard: str
    line: int
    """In the shard, from 1; 0 while the lines before it are not counted, in a run that is still being read."""
    offset: int
    """Byte in the decompressed shard at which the line begins; 0 where the record is not on a line."""
    nth: int
    """Which of the rollouts in the line's record, from 0."""
    texts: dict[str, str]
    tokens: list[str] | None
    arrays: dict[str, NDArray[np.float32]]
    """Read-only, one number per token, NaN where missing."""
    counts: NDArray[np.bool_]
    """False for padding and masked tokens, which enter no mean."""
    pads: NDArray[np.bool_]
    """True for padding."""
    alternatives: Alternatives | None = None
    """For each token a list of (token, logprob) that could have been sampled, or None; None where the row has no such field."""
    reward: float = math.nan
    """Of the whole response; NaN where the row has none."""

    def __getitem__(self, name: str) -> Any:
        if name == TOKENS:
            return self.tokens
        if name == ALTERNATIVES and self.alternatives is not None:
            return self.alternatives
        return self.arrays.get(name, self.texts.get(name))

    @property
    def source(self) -> str:
        """How links and messages name this rollout."""
        return source_of(self.shard, self.line, self.nth, self.offset)

    def __repr__(self) -> str:
        """`Rollout('rank_0.jsonl:7', step 3, 12 tokens, reward 0.500)`."""
        numbers = [f"step {self.step}", plural(len(self.counts), "token"), f"reward {fmt(self.reward)}"]
        return notebook_text.line("Rollout", self.source, numbers)

    def _repr_html_(self) -> str:
        """Its numbers and its texts, for a notebook."""
        numbers = {"step": f"{self.step:,}", "tokens": f"{len(self.counts):,}", "reward": fmt(self.reward)}
        return notebook_text.table(f"Rollout {self.source}", numbers | self.texts)


def source_of(shard: str, line: int, nth: int, offset: int = 0) -> str:
    """`shard:line`, and `.2` behind it for the second rollout of its record: stable while the run grows.

    `shard:@offset`, by the byte at which the line begins, where the line is 0: not known yet.
    """
    return f"{shard}:{line or f'@{offset}'}{f'.{nth + 1}' if nth else ''}"


@dataclass(frozen=True)
class ParsedSource:
    """What names a rollout: its shard, its line or, where that is not known, the byte at which it begins, and which of its record it is."""

    shard: str
    line: int | None
    offset: int | None
    nth: int


def parsed_source(source: str) -> ParsedSource | None:
    """What `source_of` made a text of; None for a text it never makes."""
    shard, _, place = source.rpartition(":")
    named = re.fullmatch(r"(@?)([0-9]{1,18})(?:\.([0-9]{1,9}))?", place)
    if named is None:
        return None
    number, nth = int(named[2]), int(named[3] or 1) - 1
    return ParsedSource(shard, None, number, nth) if named[1] else ParsedSource(shard, number, None, nth)


def rollout_at(part: Part, row: int, key: int) -> Rollout:
    """The rollout in a part's row, which goes by that key in its run."""
    scalars = {name: part.scalars.column(name)[row].as_py() for name in ("step", "shard", "line", "offset", "nth")}
    arrays = {name: part.tokens.column(name).chunk(0).slice(row, 1) for name in part.tokens.column_names}
    reward = part.scalars.column("reward")[row].as_py() if "reward" in part.scalars.column_names else math.nan
    others = arrays[ALTERNATIVES][0] if ALTERNATIVES in arrays else None
    texts = {name: part.texts.column(name)[row].as_py() for name in part.texts.column_names}
    return Rollout(
        key=key,
        **scalars,
        texts={name: text for name, text in texts.items() if text is not None},
        tokens=arrays[TOKENS][0].as_py() if TOKENS in arrays else None,
        arrays={name: a[0].values.to_numpy() for name, a in arrays.items() if name not in NO_METRIC and a[0].is_valid},
        counts=arrays[COUNTS][0].values.to_numpy(zero_copy_only=False),
        pads=arrays[PADS][0].values.to_numpy(zero_copy_only=False),
        alternatives=Alternatives(others.values) if others is not None and others.is_valid else None,
        reward=reward,
    )


def tokens_at(part: Part, row: int) -> pa.Array | None:
    """The tokens in a part's row as Arrow has them, without the padding at their end; None where the row has none."""
    if TOKENS not in part.tokens.column_names:
        return None
    held = part.tokens.column(TOKENS).chunk(0)[row]
    if not held.is_valid:
        return None
    pads = part.tokens.column(PADS).chunk(0)[row].values.to_numpy(zero_copy_only=False)
    unpadded = np.flatnonzero(~pads)
    return held.values.slice(0, int(unpadded[-1]) + 1 if len(unpadded) else 0)


def raw_record(part: Part, row: int, of: Mapping[str, Shard]) -> str:
    """The line of a part's row as it stands in its shard, one of those by name. Raises RunNotFound when the shard no longer has it."""
    at = {name: part.scalars.column(name)[row].as_py() for name in ("shard", "line", "offset")}
    shard = of[at["shard"]]
    if not shard.of_lines:
        return json.dumps(files.record(shard, at["line"]), ensure_ascii=False)
    return shards.read_raw(shard, at["line"], at["offset"]).decode("utf-8", errors="backslashreplace")
