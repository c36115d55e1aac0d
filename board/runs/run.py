"""A loaded run: its rollouts in one dataframe, a report, the way to each rollout.

The frame holds scalars only; its index is the key to texts and token arrays, which stay in Arrow parts (`PartsByKey`). This module
knows the order of rows and the splits; it does not know how a run is opened, JSON, formulas or screens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.errors import BoardError
from board.runs import notebook_text
from board.runs.cache.columns import ColumnInFile
from board.runs.cache.parts import Part
from board.runs.cache.parts_by_key import PartsByKey
from board.runs.cache.rollout import Rollout, parsed_source, raw_record, rollout_at, source_of, tokens_at
from board.runs.indexed.slices import SampleAccount, Slice
from board.runs.load_report import NAMED, LoadReport
from board.runs.progress import Reading
from board.runs.whole_frame import whole_frame
from board.schema import ALTERNATIVES, DISCARDED, EVALUATION, TOKENS
from board.sources import locations, presence
from board.sources.shards import Fingerprint, Shard
from board.text.counting import plural
from board.text.path_names import shown

Split = Literal["train", "evaluation", "discarded"]


@dataclass(frozen=True, repr=False)
class Run:
    """A run as loaded. Shared between readers: nothing in it may be changed."""

    location: Path
    frame: pd.DataFrame
    """One row per rollout ordered by (step, shard, line); index `rollout` is the key."""
    report: LoadReport
    fingerprint: Fingerprint
    load_id: str
    """Different for every load, so that what was computed from one is never shown for another."""
    _by_key: PartsByKey
    _shards: dict[str, Shard]
    family: str = ""
    """The trainer whose dump this is, where a recording lies in the same folder; empty for any other run."""
    reading: Reading | None = None
    """How much of it this is, while the rest is being read; None once all is."""
    slice: Slice | None = None
    """What the frame is a sample of; None where it holds all."""

    def __repr__(self) -> str:
        """`Run('tiny', 128 rollouts, 4 steps, 0 problems)`."""
        counted = [(self.rollout_count, "rollout"), (len(self.steps), "step"), (self.report.counts.total(), "problem")]
        return notebook_text.line("Run", self.name, [plural(count, noun) for count, noun in counted])

    def _repr_html_(self) -> str:
        """What there is to look at, and the first problems, for a notebook."""
        report, steps = self.report, self.steps
        problems = [f"{report.refused:,} refused, {report.flagged:,} flagged", *map(str, report.problems[:NAMED])]
        facts = {
            "rollouts": str(self.sample) if self.sample else f"{len(self.frame):,}",
            "steps": f"{len(steps):,}: {steps[0]:,} to {steps[-1]:,}" if len(steps) else "0",
            "texts": ", ".join(self.text_columns),
            "token metrics": ", ".join(self.token_metrics),
            "problems": "\n".join(problems) if report.counts.total() else "0",
        }
        return notebook_text.table(f"Run {self.address}", facts)

    @property
    def parts(self) -> Sequence[Part]:
        """The run as it was read, shard by shard; a rollout's key counts through them."""
        return self._by_key.parts

    @property
    def name(self) -> str:
        """The run folder's name."""
        return locations.shown_name(self.location)

    @property
    def address(self) -> str:
        """The run folder's path as text, and whose dump in it: settings and notes of the run are stored under it."""
        return f"{shown(self.location)} ({self.family})" if self.family else shown(self.location)

    @property
    def reads_on(self) -> bool:
        """Whether more of it will come: it is being read, or can be."""
        return self.reading is not None and not self.reading.command

    @property
    def selection(self) -> str:
        """Which split and which steps alone these are, whichever load they are of; empty for all."""
        return self.load_id.partition("-")[2]

    @property
    def rollout_count(self) -> int:
        """How many there are: as many as the frame has rows, or what it is a sample of."""
        return self.slice.rollouts if self.slice else len(self.frame)

    @property
    def sample(self) -> SampleAccount | None:
        """How much of the run the frame shows; None where it holds all."""
        return SampleAccount(len(self.frame), self.slice) if self.slice else None

    def at_step(self, step: int) -> "Run":
        """The same run with all rollouts of a step, and of the one before, in the place of some of them; itself where it holds all."""
        return self.slice.with_step(self, step) if self.slice else self

    def of_own_split(self, split: str) -> "Run":
        """The run with the rows of a split alone, as a slice of that split has them; all where none is named."""
        return replace(self, frame=self.frame[self._are_of(split)]) if split else self  # type: ignore[arg-type]

    def step_of(self, source: str) -> int | None:
        """The step of the rollout that its `source` names, be it in the frame or not; None when there is none."""
        named = parsed_source(source)
        found = self.slice.index.find(named) if self.slice and named else None
        return found[1] if found else None

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """The steps there are, in order."""
        return self.frame["step"].unique()

    @cached_property
    def prompt_keys(self) -> NDArray[np.int64]:
        """Equal for rollouts of the same prompt at whatever step, in the frame's order; `prompt_keys.NO_PROMPT` where there is none. (rows,)"""
        return self._by_key.source("prompt_key", self.frame.index.to_numpy())

    def prompt_key(self, key: int) -> int:
        """The key of the prompt of one rollout, by the rollout's."""
        return int(self._by_key.source("prompt_key", np.array([key]))[0])

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """Which there are: rollouts of training, of evaluations, discarded ones, in this order; those that do not say are of training."""
        return tuple(split for split in get_args(Split) if self._are_of(split).any())

    def _are_of(self, split: Split) -> NDArray[np.bool_]:
        """Which rollouts are of a split. (rows,)"""
        said = self.frame["split"] if "split" in self.frame.columns else pd.Series(None, self.frame.index, dtype=object)
        if split == "train":
            return ~said.isin([EVALUATION, DISCARDED]).to_numpy()
        return (said == split).to_numpy(np.bool_)

    def split_of(self, key: int) -> Split:
        """What split a rollout of the frame is of, by its key."""
        said = self.frame["split"].loc[key] if "split" in self.frame.columns else ""
        return next((split for split in get_args(Split) if split == said), "train")

    def of_split(self, split: Split) -> "Run":
        """The same run with the rollouts of training, of evaluations, or the discarded ones alone; itself when there are no others."""
        if self.splits in ((), (split,)):
            return self
        return replace(self.of_rows(self._are_of(split), split), slice=self.slice.of_split(split) if self.slice else None)

    def of_steps(self, first: int, last: int) -> "Run":
        """The same run with the rollouts of the steps from `first` to `last` alone; itself when there are no others."""
        within = self.frame["step"].between(first, last).to_numpy()
        return self if within.all() else self.of_rows(within, f"{first}-{last}")

    def of_rows(self, chosen: NDArray[np.bool_], named: str) -> "Run":
        """The same run with the chosen rows of the frame alone, shape (rows,), whose choice `named` tells from any other.

        Of a sample these are rows of the sample, and no run that is more than they are.
        """
        return replace(self, frame=self.frame[chosen], slice=None, load_id=f"{self.load_id}-{named}")

    def with_columns(self, columns: pd.DataFrame, named: str) -> "Run":
        """The same run with more columns, of the frame's index; `named` tells it from the run without them."""
        return replace(self, frame=pd.concat([self.frame, columns], axis="columns"), load_id=f"{named}{self.load_id}")

    @property
    def trained(self) -> "Run":
        """The rollouts of training where there are any; else those of evaluations, else all there are."""
        return self.of_split(self.splits[0]) if len(self.splits) > 1 else self

    @property
    def counted(self) -> "Run":
        """The run without what its trainer discarded, which no number of the run may include: it may be empty."""
        return self.of_rows(~self._are_of(DISCARDED), "counted") if DISCARDED in self.splits else self

    @property
    def token_metrics(self) -> tuple[str, ...]:
        """Field names of the token arrays that any row has: the declared ones first."""
        return self._by_key.account.token_metrics

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the text fields that any row has: the declared ones first."""
        return self._by_key.account.text_columns

    @property
    def has_tokens(self) -> bool:
        """Whether any row has response_tokens."""
        return self._by_key.account.has_tokens

    def without_rows(self) -> dict[str, str]:
        """Shards that no rollout is of, and why; none of a run that is not read whole, where that is unknown."""
        if self.reading:
            return {}
        held = self.slice.index.shards if self.slice else set(self.frame["shard"].unique())
        return {name: self.report.why_no_rows(shard) for name, shard in self._shards.items() if name not in held}

    def _row_of(self, key: int) -> tuple[Part, int]:
        """The part that holds a rollout, and its row there. Raises BoardError when there is no such rollout."""
        found = self._by_key.locate(key)
        if found is None:
            raise BoardError(f"There is no rollout {key} in {self.name}.")
        return found

    def rollout(self, key: int) -> Rollout:
        """The rollout with that index in the frame. Raises BoardError when there is none."""
        part, row = self._row_of(key)
        if part.file is not None:  # all of it at once, rather than a column after the other
            presence.look_ahead([(part.file, 0, presence.ALL)])
        return rollout_at(part, row, key)

    def tokens_of(self, key: int) -> pa.Array | None:
        """The response_tokens of a rollout as they lie in its part, without the padding at their end; None where its row has none.

        Raises BoardError when there is no such rollout.
        """
        return tokens_at(*self._row_of(key))

    def numbers_of(self, key: int, field: str) -> NDArray[np.float32] | None:
        """One token array of a rollout, read by itself; None where its row has none. Raises BoardError when there is no such rollout."""
        part, row = self._row_of(key)
        held = part.tokens.column(field).chunk(0)[row] if field in part.tokens.column_names else None
        return held.values.to_numpy() if held is not None and held.is_valid else None

    def moments(self, names: Sequence[str]) -> pd.DataFrame:
        """What the tokens of each rollout add up to: the named columns of `board.metrics.token_sums` ("kl_k3/sum"), NaN where a row lacks one.

        Index and order are the frame's.
        """
        keys = self.frame.index.to_numpy()
        return pd.DataFrame({name: self._by_key.moment(name, keys) for name in names}, index=self.frame.index)

    def parts_of_rows(self) -> Iterator[tuple[Part, int, NDArray[np.int64]]]:
        """The parts that hold rollouts of the frame, each with the key of its first rollout and its rows that are in the frame, rising."""
        return self._by_key.rows_of(self.frame.index.to_numpy())

    def at_tokens(self, column: str, keys: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[Any]:
        """What a token column holds at a position (from 0) of each of some rollouts, in their order; (len(keys),).

        `response_tokens` as objects, None where a rollout has no such token; numbers as float32, NaN there.
        """
        return self._by_key.at_tokens(column, keys, positions)

    @property
    def moment_names(self) -> frozenset[str]:
        """The columns of `board.metrics.token_sums` that some row may have."""
        return self._by_key.account.moment_names

    def moment(self, name: str, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """One column of `board.metrics.token_sums` for the given rollouts, in their order; NaN where a row lacks it. Shape (len(keys),)."""
        return self._by_key.moment(name, keys)

    def texts(self, column: str, keys: Sequence[int] | NDArray[np.int64]) -> pa.ChunkedArray:
        """One text column for the given rollouts, in their order; null where a row lacks it. Shape (len(keys),)."""
        return self._by_key.texts(column, keys)

    @property
    def list_columns(self) -> tuple[str, ...]:
        """Names of the columns of `lists`: response_tokens, then the token metrics, then what else could have been sampled."""
        held, others = (TOKENS,) * self.has_tokens, (ALTERNATIVES,) * self._by_key.account.has_alternatives
        return (*held, *self.token_metrics, *others)

    def lists(self, column: str, keys: Sequence[int] | NDArray[np.int64]) -> pa.ChunkedArray:
        """One of `list_columns` for the given rollouts, in their order, a list each; null where a row lacks it. Shape (len(keys),)."""
        return self._by_key.lists(column, keys)

    def bytes_of(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many bytes the texts of each of some rollouts take, and how many tokens it has, padding included; (len(keys),) each."""
        return self._by_key.bytes_of(keys)

    def text_pieces(self, column: str) -> Iterator[ColumnInFile | pa.Array]:
        """One text column of all rollouts that were read, in the order of keys: piece by piece, where it lies on the disk or itself."""
        return self._by_key.text_pieces(column)

    @property
    def rows_read(self) -> int:
        """How many rollouts were read, whichever of them the frame holds: their keys are the numbers below this one."""
        return len(self._by_key)

    def raw(self, key: int) -> str:
        """The rollout's line as it stands in the shard. Raises RunNotFound when the shard no longer has it."""
        return raw_record(*self._row_of(key), self._shards)

    def key_of(self, source: str) -> int | None:
        """The index of the rollout that its `source` names, None when there is none."""
        named = parsed_source(source)
        if named is None or named.line == 0 or named.shard not in self.frame["shard"].cat.categories:
            return None
        of_shard = self.frame["shard"] == named.shard
        if named.line is None:
            found = self.frame.index[of_shard & (self._by_key.source("offset", self.frame.index.to_numpy()) == named.offset)]
        else:
            found = self.frame.index[of_shard & (self.frame["line"] == named.line)]
        return next(
            (int(key) for key, nth in zip(found, self._by_key.source("nth", found.to_numpy()), strict=True) if nth == named.nth),
            None,
        )

    def sources(self, keys: NDArray[np.int64]) -> list[str]:
        """How links name these rollouts, in their order."""
        shards, lines = (self.frame[name].loc[pd.Index(keys)] for name in ("shard", "line"))
        nths, offsets = (self._by_key.source(name, keys) for name in ("nth", "offset"))
        return [
            source_of(shard, line, int(nth), int(offset))
            for shard, line, nth, offset in zip(shards, lines, nths, offsets, strict=True)
        ]

    def to_pandas(self) -> pd.DataFrame:
        """Everything in one frame, texts as `str` and token arrays as numpy arrays, in the frame's order. For notebooks: it may be large.

        Of a field that is a number in some rows and something else in others, the numbers keep the name; the rest is in
        `<name> (tokens)` and `<name> (text)`.
        """
        return whole_frame(self.frame, self._by_key)
