"""Rows → parts: some thousand rollouts as Arrow columns, with what is derived per rollout computed over the whole part at once.

A part is what a columnar store will keep on disk. It knows neither shards' files nor frames of a whole run. Token arrays are
`large_list<float32>` over one flat array per metric; a row without the array is null there.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.formats.row import Alternative, Row, align, flag_not_finite
from board.metrics import formulas
from board.metrics.formulas import Float64Array
from board.metrics.token_sums import Moments, Tokens, moments
from board.runs.columns import Columns, Overlaid
from board.schema import ALTERNATIVES, BY_NAME, LEFT_OUT, TOKEN_IDS, TOKEN_METRICS, TOKENS, title
from board.text.padding import pad_mask

COUNTS: Final = "counts"
"""Token column of booleans: False for pads and for tokens with loss_mask 0, which enter no mean."""

PADS: Final = "pads"
"""Token column of booleans: True for padding."""

_SOURCE: Final = ("step", "shard", "line", "offset", "nth", "prompt_key", "group")

_GAPS: Final = {"reward_gap": ("reward", "ref_reward"), "valid_reward_gap": ("valid_reward", "ref_valid_reward")}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a row came from."""

    shard: str
    line: int
    offset: int
    """Byte offset of the line in the decompressed shard."""
    nth: int = 0
    """Which of the rollouts in the line's record, from 0."""


class Alternatives(Sequence[list[Alternative] | None]):
    """For each token of a rollout what else could have been sampled, None where not known; read from Arrow as it is asked for."""

    def __init__(self, lists: pa.LargeListArray) -> None:
        self._lists = lists

    @property
    def lists(self) -> pa.LargeListArray:
        """All of them, one list of {token, logprob} per token, null where not known."""
        return self._lists

    def __len__(self) -> int:
        return len(self._lists)

    @overload
    def __getitem__(self, at: int) -> list[Alternative] | None: ...
    @overload
    def __getitem__(self, at: slice) -> list[list[Alternative] | None]: ...
    def __getitem__(self, at: int | slice) -> list[Alternative] | list[list[Alternative] | None] | None:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        found = self._lists[at].as_py()
        return None if found is None else [(pair["token"], pair["logprob"]) for pair in found]

    def __iter__(self) -> Iterator[list[Alternative] | None]:
        return (self[at] for at in range(len(self)))


@dataclass(frozen=True)
class Part:
    """A batch of rollouts in the order they were read."""

    scalars: Columns
    """step, shard, line, offset, ids, numbers and derived numbers: int64, text as a dictionary, float64 with NaN where missing."""
    texts: Columns
    """One large_string column per text field; null where a row lacks it."""
    tokens: Columns
    """response_tokens, counts, pads, top_logprobs and one column per token metric; null where a row lacks it."""
    moments: Columns
    """What the tokens of each row add up to (`board.metrics.token_sums`): float64 columns; no column at all where no row has token arrays."""

    def __len__(self) -> int:
        return self.scalars.num_rows

    def flat(
        self, rows: NDArray[np.int64], leave_out: Sequence[str]
    ) -> Iterator[tuple[dict[str, NDArray[np.float32]], NDArray[np.bool_]]]:
        """Token arrays of `rows` end to end by field, and COUNTS; once for each set of fields that some of the rows have."""
        names = [name for name in self.tokens.column_names if name not in leave_out]
        columns = {name: self.tokens.column(name).chunk(0) for name in (*names, COUNTS)}
        valid = [columns[name].is_valid().to_numpy(zero_copy_only=False)[rows] for name in names]
        has = np.stack(valid, axis=1) if valid else np.zeros((len(rows), 0), np.bool_)
        for fields in np.unique(has, axis=0):
            alike = pa.array(rows[(has == fields).all(axis=1)])
            taken = {name: columns[name].take(alike).values for name, there in zip(names, fields, strict=True) if there}
            counts = columns[COUNTS].take(alike).values.to_numpy(zero_copy_only=False)
            yield {name: values.to_numpy() for name, values in taken.items()}, counts


def build(rows: Sequence[Row], sources: Sequence[Source], pads: AbstractSet[str]) -> Part:
    """Align every row's arrays with its tokens and lay the rows out in columns. Flags about alignment are added to the rows."""
    flag_not_finite(rows)
    for row in rows:
        align(row, pads)
    lengths = np.array([row.length for row in rows], np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    flats = {name: _flat(rows, name, lengths) for name in _keys(row.arrays for row in rows)}
    padding = _padding(rows, pads)
    counts = ~padding & (flats["loss_mask"] != 0) if "loss_mask" in flats else ~padding
    numbers = _numbers(rows)
    tokens = Tokens(flats, offsets, counts)
    kept = moments(tokens)
    derived = _derived(rows, numbers, tokens, kept)
    _take_summaries(derived, numbers)
    numbers = {f"{name} (logged)" if name in derived or name in _SOURCE else name: column for name, column in numbers.items()}
    steps = np.array([row.step for row in rows], np.int64)
    return Part(
        scalars=pa.table({"step": steps, **_source_columns(sources), **_ids(rows), **numbers, **derived}),
        texts=pa.table(
            {
                name: pa.array([row.texts.get(name) for row in rows], pa.large_string())
                for name in _keys(row.texts for row in rows)
            }
        ),
        tokens=_token_table(rows, flats, offsets, {COUNTS: counts, PADS: padding}),
        moments=pa.table(kept),
    )


def with_lines_after(scalars: Columns, first_line: int) -> Columns:
    """The scalars of rows whose lines were counted from the line after `first_line`, counted from the shard's first."""
    return Overlaid(scalars, {"line": pc.add(scalars.column("line"), first_line)})


def _keys(dicts: Iterable[dict[str, Any]]) -> list[str]:
    """Keys of all dicts, each once, in order of appearance."""
    return list(dict.fromkeys(key for one in dicts for key in one))


def _source_columns(sources: Sequence[Source]) -> dict[str, Any]:
    return {
        "shard": pa.array([source.shard for source in sources], pa.string()).dictionary_encode(),
        "line": np.array([source.line for source in sources], np.int64),
        "offset": np.array([source.offset for source in sources], np.int64),
        "nth": np.array([source.nth for source in sources], np.int64),
    }


def _ids(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        name: pa.array([row.ids.get(name) for row in rows], pa.string()).dictionary_encode()
        for name in _keys(row.ids for row in rows)
    }


def _numbers(rows: Sequence[Row]) -> dict[str, Float64Array]:
    return {name: np.array([row.numbers.get(name, np.nan) for row in rows]) for name in _keys(row.numbers for row in rows)}


def _flat(rows: Sequence[Row], name: str, lengths: NDArray[np.int64]) -> NDArray[np.float32]:
    """One metric of all rows end to end, NaN for a row without it. Shape (sum of lengths,)."""
    pieces = [
        row.arrays[name] if name in row.arrays else np.full(length, np.nan, np.float32)
        for row, length in zip(rows, lengths, strict=True)
    ]
    return np.concatenate(pieces) if pieces else np.empty(0, np.float32)


def _padding(rows: Sequence[Row], pads: AbstractSet[str]) -> NDArray[np.bool_]:
    """Which tokens are padding. Shape (sum of lengths,)."""
    pieces = [pad_mask(row.tokens, pads) if row.tokens is not None else np.zeros(row.length, bool) for row in rows]
    return np.concatenate(pieces) if pieces else np.empty(0, bool)


def _take_summaries(derived: dict[str, Float64Array], numbers: dict[str, Float64Array]) -> None:
    """Where the recorder left a row's token arrays out and kept their means and sums, these are the derived numbers: in place."""
    if LEFT_OUT not in numbers:
        return
    left_out = numbers[LEFT_OUT] == 1
    for name in [name for name in derived if name in numbers]:
        summed = left_out & np.isnan(derived[name])
        derived[name] = np.where(summed, numbers[name], derived[name])
        numbers[name] = np.where(summed, np.nan, numbers[name])


def _derived(
    rows: Sequence[Row],
    numbers: dict[str, Float64Array],
    tokens: Tokens,
    kept: Moments,
) -> dict[str, Float64Array]:
    """Numbers per rollout computed from its own fields; NaN where they cannot be. Names as in `board.schema.DERIVED_NUMBERS`."""
    columns: dict[str, Float64Array] = {}
    known = np.array([row.tokens is not None or bool(row.arrays) for row in rows])
    columns["response_length"] = np.where(
        known, np.add.reduceat(np.append(tokens.counts, False), tokens.offsets[:-1]) * (np.diff(tokens.offsets) > 0), np.nan
    )
    columns["response_chars"] = np.array(
        [len(row.texts["response"]) if "response" in row.texts else np.nan for row in rows], np.float64
    )
    for gap, (ours, reference) in _GAPS.items():
        if ours in numbers and reference in numbers:
            columns[gap] = numbers[ours] - numbers[reference]
    columns.update(_token_statistics(tokens, kept))
    columns["nonfinite_tokens"] = _nonfinite(rows, tokens)
    return columns


def _token_statistics(tokens: Tokens, kept: Moments) -> dict[str, Float64Array]:
    """What the frame holds of the moments, and the mean of every array that has none: those only this trainer knows."""
    columns: dict[str, Float64Array] = {}
    if "log_ratio/mean" in kept:
        names = [formulas.kl_column(estimator).removesuffix("_mean") for estimator in formulas.ESTIMATORS]
        columns = {f"{name}_{stat}": kept[f"{name}/{stat}"] for name in names for stat in ("mean", "sum", "max")}
    named = [name for name in tokens.flats if name != "loss_mask" and name not in TOKEN_IDS]
    for name in sorted(named, key=lambda name: name not in BY_NAME):
        column = f"{title(name)}_mean"
        mean = (
            kept[f"{title(name)}/mean"]
            if name in TOKEN_METRICS
            else formulas.segment_stats(tokens.flats[name], tokens.offsets, tokens.counts).mean
        )
        columns[f"{title(name)} (logged)_mean" if column in columns else column] = mean
        if name == "token_rewards":
            columns[f"{title(name)}_sum"] = kept[f"{title(name)}/sum"]
    return columns


def _nonfinite(rows: Sequence[Row], tokens: Tokens) -> Float64Array:
    """How many counted tokens lack a finite number, over the arrays each row has; NaN for a row with no array."""
    total = np.zeros(len(rows))
    for name, flat in tokens.flats.items():
        bad = np.concatenate([[0], np.cumsum(~np.isfinite(flat) & tokens.counts)])
        total += (bad[tokens.offsets[1:]] - bad[tokens.offsets[:-1]]) * np.array([name in row.arrays for row in rows])
    return np.where([bool(row.arrays) for row in rows], total, np.nan)


def _token_table(
    rows: Sequence[Row], flats: dict[str, NDArray[np.float32]], offsets: NDArray[np.int64], marks: dict[str, NDArray[np.bool_]]
) -> pa.Table:
    arrow_offsets = pa.array(offsets, pa.int64())
    columns: dict[str, pa.Array] = {
        name: pa.LargeListArray.from_arrays(arrow_offsets, pa.array(mark)) for name, mark in marks.items()
    }
    if any(row.tokens is not None for row in rows):
        columns[TOKENS] = pa.array([row.tokens for row in rows], pa.large_list(pa.large_string()))
    if any(row.alternatives is not None for row in rows):
        columns[ALTERNATIVES] = _alternatives([row.alternatives for row in rows])
    for name, flat in flats.items():
        absent = pa.array([name not in row.arrays for row in rows])
        columns[name] = pa.LargeListArray.from_arrays(arrow_offsets, pa.array(flat), mask=absent)
    return pa.table(columns)


def _alternatives(rows: Sequence[list[list[Alternative] | None] | None]) -> pa.LargeListArray:
    """Rows of tokens of alternatives as nested lists of (token, logprob); null where a row or a token has none."""
    tokens = [token for row in rows for token in row or ()]
    pairs = [pair for token in tokens for pair in token or ()]
    values = pa.StructArray.from_arrays(
        [pa.array([text for text, _ in pairs], pa.large_string()), pa.array([number for _, number in pairs], pa.float32())],
        names=["token", "logprob"],
    )
    return _nested(rows, _nested(tokens, values))


def _nested(lists: Sequence[Sequence[Any] | None], values: pa.Array) -> pa.LargeListArray:
    offsets = np.concatenate([[0], np.cumsum([len(one or ()) for one in lists], dtype=np.int64)])
    return pa.LargeListArray.from_arrays(
        pa.array(offsets, pa.int64()), values, mask=pa.array([one is None for one in lists], pa.bool_())
    )
