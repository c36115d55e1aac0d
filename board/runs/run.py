"""Open a run: its shards, merged by step into one dataframe, and a report of what loading found.

The frame holds scalars only; its index is the key to texts and token arrays, which stay in Arrow parts. This module knows the order
of rows and how to reach a rollout; it does not know JSON, formulas or screens.
"""

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board import formats
from board.errors import ArgumentRefused, BoardError, MappingRefused
from board.formats.mapping import FILE as MAPPING_FILE
from board.runs import merging, notebook_text, recorder_account
from board.runs.columns import Columns
from board.runs.load_report import LoadReport
from board.runs.loader import Loader
from board.runs.parts import COUNTS, PADS, Alternatives, Part
from board.runs.progress import Progress
from board.runs.read_options import ReadOptions
from board.runs.repeated_steps import repeated_steps
from board.runs.store import Store
from board.schema import ALTERNATIVES, EVALUATION, TEXTS, TOKEN_METRICS, TOKENS
from board.sources import files, run_files, shards
from board.sources.shards import Fingerprint, Shard
from board.text.path_names import shown

Split = Literal["train", "evaluation"]
_NO_METRIC: Final = (TOKENS, ALTERNATIVES, COUNTS, PADS)
_MOST_MAPPING: Final = 1_000_000
"""Bytes of a mapping by hand."""


@dataclass(frozen=True, repr=False)
class Rollout:
    """One rollout with its texts and token arrays; `rollout["logprobs"]` is one field, None where the row lacks it."""

    key: int
    step: int
    shard: str
    line: int
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
        return source_of(self.shard, self.line, self.nth)

    __repr__ = notebook_text.rollout_line
    _repr_html_ = notebook_text.rollout_table


def source_of(shard: str, line: int, nth: int) -> str:
    """`shard:line`, and `.2` behind it for the second rollout of its record: stable while the run grows."""
    return f"{shard}:{line}{f'.{nth + 1}' if nth else ''}"


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
    _parts: Sequence[Part]
    _shards: dict[str, Shard]
    family: str = ""
    """The trainer whose dump this is, where a recording lies in the same folder; empty for any other run."""

    __repr__ = notebook_text.run_line
    _repr_html_ = notebook_text.run_table

    @property
    def parts(self) -> Sequence[Part]:
        """The run as it was read, shard by shard; a rollout's key counts through them."""
        return self._parts

    @property
    def name(self) -> str:
        """The run folder's name."""
        return shown(self.location.name)

    @property
    def address(self) -> str:
        """The run folder's path as text, and whose dump in it: what is kept of the run is kept under it."""
        return f"{shown(self.location)} ({self.family})" if self.family else shown(self.location)

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """The steps there are, in order."""
        return self.frame["step"].unique()

    @property
    def splits(self) -> tuple[Split, ...]:
        """Whether there are rollouts of training, of an evaluation, or of both, in this order; those that do not say are of training."""
        if "split" not in self.frame.columns:
            return ("train",) if len(self.frame) else ()
        evaluated = (self.frame["split"] == EVALUATION).to_numpy()
        return (*(("train",) if not evaluated.all() else ()), *((EVALUATION,) if evaluated.any() else ()))

    def of_split(self, split: Split) -> "Run":
        """The same run with the rollouts of training, or of evaluations, alone; itself when there are no others."""
        if self.splits in ((), (split,)):
            return self
        chosen = ((self.frame["split"] == EVALUATION) == (split == EVALUATION)).to_numpy()
        return replace(self, frame=self.frame[chosen], load_id=f"{self.load_id}-{split}")

    @property
    def trained(self) -> "Run":
        """The rollouts of training where there are evaluations beside them, else all of them, even if they are an evaluation's."""
        return self.of_split("train") if len(self.splits) > 1 else self

    @property
    def token_metrics(self) -> tuple[str, ...]:
        """Field names of the token arrays that any row has: the declared ones first."""
        return self._present(TOKEN_METRICS, lambda part: part.tokens, set(_NO_METRIC))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the text fields that any row has: the declared ones first."""
        return self._present(TEXTS, lambda part: part.texts, set())

    @property
    def has_tokens(self) -> bool:
        """Whether any row has response_tokens."""
        return any(TOKENS in part.tokens.column_names for part in self._parts)

    def _present(
        self, declared: tuple[str, ...], table: Callable[[Part], Columns], leave_out: AbstractSet[str]
    ) -> tuple[str, ...]:
        seen = dict.fromkeys(name for part in self._parts for name in table(part).column_names if name not in leave_out)
        return (*(name for name in declared if name in seen), *(name for name in seen if name not in declared))

    def without_rows(self) -> dict[str, str]:
        """Shards that no rollout is of, and why."""
        held = set(self.frame["shard"].unique())
        return {name: self._why_none(shard) for name, shard in self._shards.items() if name not in held}

    def _why_none(self, shard: Shard) -> str:
        if not shard.size:
            return "the file is empty"
        if shard.name in self.report.unfinished:
            return "its only line is still being written"
        refused = any(problem.shard == shard.name and problem.severity == "refused" for problem in self.report.problems)
        return "every line of it was refused" if refused else "there is no row in it"

    def _locate(self, key: int) -> tuple[Part, int]:
        """The part that holds a rollout, and its row there."""
        if not 0 <= key < self._starts[-1]:
            raise BoardError(f"There is no rollout {key} in {self.name}.")
        number = int(np.searchsorted(self._starts, key, side="right")) - 1
        return self._parts[number], key - int(self._starts[number])

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The key of each part's first rollout, and the number of rollouts."""
        return np.cumsum([0, *map(len, self._parts)])

    def rollout(self, key: int) -> Rollout:
        """The rollout with that index in the frame. Raises BoardError when there is none."""
        part, row = self._locate(key)
        scalars = {name: part.scalars.column(name)[row].as_py() for name in ("step", "shard", "line", "nth")}
        arrays = {name: part.tokens.column(name).chunk(0).slice(row, 1) for name in part.tokens.column_names}
        reward = part.scalars.column("reward")[row].as_py() if "reward" in part.scalars.column_names else math.nan
        others = arrays[ALTERNATIVES][0] if ALTERNATIVES in arrays else None
        texts = {name: part.texts.column(name)[row].as_py() for name in part.texts.column_names}
        return Rollout(
            key=key,
            **scalars,
            texts={name: text for name, text in texts.items() if text is not None},
            tokens=arrays[TOKENS][0].as_py() if TOKENS in arrays else None,
            arrays={name: a[0].values.to_numpy() for name, a in arrays.items() if name not in _NO_METRIC and a[0].is_valid},
            counts=arrays[COUNTS][0].values.to_numpy(zero_copy_only=False),
            pads=arrays[PADS][0].values.to_numpy(zero_copy_only=False),
            alternatives=Alternatives(others.values) if others is not None and others.is_valid else None,
            reward=reward,
        )

    def flat_arrays(self, keys: NDArray[np.int64]) -> Iterator[tuple[dict[str, NDArray[np.float32]], NDArray[np.bool_]]]:
        """Token arrays of the given rollouts end to end, and which of their tokens count; rollouts that have the same fields at once.

        Memory stays within what one part holds. In no particular order; each rollout enters once.
        """
        numbers = np.searchsorted(self._starts, keys, side="right") - 1
        for number in np.unique(numbers):
            rows = np.sort(keys[numbers == number]) - self._starts[number]
            yield from self._parts[int(number)].flat(rows, leave_out=_NO_METRIC)

    def moments(self, names: Sequence[str]) -> pd.DataFrame:
        """What the tokens of each rollout add up to: the named columns of `board.metrics.token_sums` ("kl_k3/sum"), NaN where a row lacks one.

        Index and order are the frame's.
        """
        columns = {
            name: np.concatenate(
                [
                    part.moments.column(name).to_numpy() if name in part.moments.column_names else np.full(len(part), np.nan)
                    for part in self._parts
                ]
                or [np.zeros(0)]
            )
            for name in names
        }
        keys = self.frame.index.to_numpy()
        return pd.DataFrame({name: column[keys] for name, column in columns.items()}, index=self.frame.index)

    def texts(self, column: str, keys: Sequence[int] | NDArray[np.int64]) -> pa.ChunkedArray:
        """One text column for the given rollouts, in their order; null where a row lacks it. Shape (len(keys),)."""
        wanted = np.asarray(keys, np.int64)
        order = np.argsort(wanted, kind="stable")
        numbers = np.searchsorted(self._starts, wanted[order], side="right") - 1
        pieces = [self._text_piece(int(n), column, wanted[order][numbers == n] - self._starts[n]) for n in np.unique(numbers)]
        if (np.diff(wanted) > 0).all():  # as in a run that was written in order: there is nothing to put back
            return pa.chunked_array(pieces, pa.large_string())
        gathered = pa.chunked_array(pieces, pa.large_string()).combine_chunks()
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.chunked_array([gathered.take(pa.array(back))], pa.large_string())

    def _text_piece(self, number: int, column: str, rows: NDArray[np.int64]) -> pa.Array:
        table = self._parts[number].texts
        if column not in table.column_names:
            return pa.nulls(len(rows), pa.large_string())
        if len(rows) == table.num_rows:  # all of them, once each and rising
            return table.column(column).combine_chunks()
        return table.column(column).take(pa.array(rows)).combine_chunks()

    def raw(self, key: int) -> str:
        """The rollout's line as it stands in the shard. Raises RunNotFound when the shard no longer has it."""
        part, row = self._locate(key)
        at = {name: part.scalars.column(name)[row].as_py() for name in ("shard", "line", "offset")}
        shard = self._shards[at["shard"]]
        if not shard.of_lines:
            return json.dumps(files.record(shard, at["line"]), ensure_ascii=False)
        return shards.read_raw(shard, at["line"], at["offset"]).decode("utf-8", errors="backslashreplace")

    def key_of(self, source: str) -> int | None:
        """The index of the rollout that its `source` names, None when there is none."""
        shard, _, place = source.rpartition(":")
        named = re.fullmatch(r"([0-9]{1,18})(?:\.([0-9]{1,9}))?", place)
        if not named or shard not in self.frame["shard"].cat.categories:
            return None
        found = self.frame.index[(self.frame["shard"] == shard) & (self.frame["line"] == int(named[1]))]
        nth = int(named[2] or 1) - 1
        return next((int(key) for key in found if self._nths[key] == nth), None)

    def sources(self, keys: NDArray[np.int64]) -> list[str]:
        """How links name these rollouts, in their order."""
        rows = self.frame.loc[keys]
        return [
            source_of(shard, line, int(nth))
            for shard, line, nth in zip(rows["shard"], rows["line"], self._nths[keys], strict=True)
        ]

    @cached_property
    def _nths(self) -> NDArray[np.int64]:
        """Which of the rollouts of its record each is, by key."""
        return np.concatenate([np.zeros(0, np.int64), *(part.scalars.column("nth").to_numpy() for part in self._parts)])

    def to_pandas(self) -> pd.DataFrame:
        """Everything in one frame, texts as `str` and token arrays as numpy arrays, in the frame's order. For notebooks: it may be large.

        Of a field that is a number in some rows and something else in others, the numbers keep the name; the rest is in
        `<name> (tokens)` and `<name> (text)`.
        """
        frame = self.frame.copy()
        rollouts = [self.rollout(int(key)) for key in frame.index]
        lists: dict[str, list[Any]] = {TOKENS: [rollout.tokens for rollout in rollouts]} if self.has_tokens else {}
        if any(rollout.alternatives is not None for rollout in rollouts):
            lists[ALTERNATIVES] = [None if one.alternatives is None else list(one.alternatives) for one in rollouts]
        lists |= {name: [rollout.arrays.get(name) for rollout in rollouts] for name in self.token_metrics}
        for name in self.text_columns:
            column = f"{name} (text)" if name in frame or name in lists else name
            frame[column] = self.texts(name, frame.index.to_numpy()).to_pandas().to_numpy()
        for name, values in lists.items():
            column = f"{name} (tokens)" if name in self.frame else name
            frame[column] = pd.Series(values, index=frame.index, dtype=object)
        return frame


def open_run(
    location: Path | str,
    *,
    within: Path | None = None,
    extra_pads: Sequence[str] = (),
    tokenizer: Path | str | None = None,
    mapping: Path | str | None = None,
    family: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Read every shard under `location` and merge the rows by step.

    `within` is the folder that links may lead to (default: the run itself); `extra_pads` are token texts to take as padding beside the common
    ones; `tokenizer` is a `tokenizer.json` that makes text of token ids where a run has no more than ids; `mapping` is a TOML file that maps
    the run's keys to our names (default: `rollouts.toml` in the folder, if there is one); `family` asks, of a folder that holds a recording
    and a trainer's own dump ("TRL"), for the dump, where without it the recording opens; `progress` is called now and then
    while reading. What cannot be read is in `run.report`. Raises RunNotFound when the folder does not
    exist or holds no shard.
    """
    folder = Path(location)
    found, problems = shards.find_shards(folder, within)
    if not found and not problems:
        raise shards.no_shards(folder)
    report = LoadReport(shards=len(found), bytes=sum(shard.size for shard in found))
    for problem in problems:
        report.add(problem)
    started = time.monotonic()

    def tell(done: int, rows: int) -> None:
        if progress:
            progress(Progress(done, report.bytes, rows, time.monotonic() - started))

    reading = ReadOptions(tuple(sorted(extra_pads)), str(tokenizer or ""), _mapping_text(folder, mapping), family)
    loader = Loader(found, Store(folder, _key(reading)), reading, tell)
    loader.run()
    kept = [one.shard for one in loader.kept.values()]
    report.shards, report.bytes = len(kept), sum(shard.size for shard in kept)
    report.recording = recorder_account.loss_sentences(kept)
    built = list(loader.parts(report))
    report.skipped = report.skipped | shards.databases_in(folder, within)
    for problem in repeated_steps(merging.scalars(built, ["step", "shard", "line", "prompt_key"])):
        report.add(problem)
    report.seconds = time.monotonic() - started
    by_name = {shard.name: shard for shard in kept}
    return Run(
        folder, merging.merged(built, list(by_name)), report, shards.fingerprint(found), uuid4().hex, built, by_name, family
    )


def _mapping_text(folder: Path, given: Path | str | None) -> str:
    """The mapping by hand in the given file, else in the one beside the run; empty when there is none. Raises MappingRefused."""
    path = Path(given) if given else folder / MAPPING_FILE
    if not given and (path.is_symlink() or not path.is_file()):  # a link could lead out of the root
        return ""
    try:
        text = run_files.whole(path, most=_MOST_MAPPING).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise MappingRefused(f"The mapping {given or path.name} cannot be read: {error}.") from error
    formats.mapped(text, str(given or path.name))
    return text


def _key(reading: ReadOptions) -> str:
    """Raises ArgumentRefused when the tokenizer file cannot be read."""
    try:
        return reading.key
    except OSError as error:
        raise ArgumentRefused(f"The tokenizer file {reading.tokenizer} cannot be read: {error.strerror}.") from error
