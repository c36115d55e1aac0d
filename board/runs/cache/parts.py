"""Blocks → parts: some thousand rollouts as Arrow columns, with derived columns.

What is derived is computed over the whole part at once. Token arrays are `large_list<float32>` over one flat array per metric; a rollout
without the array is null there.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.formats.row import Alternative
from board.metrics import formulas
from board.metrics.formulas import Float64Array, IntArray
from board.metrics.token_sums import Moments, Tokens, moments
from board.runs.cache import part_token_summaries
from board.runs.cache.columns import Columns, Overlaid, as_table
from board.runs.cache.rollout_block import PER_TOKEN, Block
from board.runs.prompt_keys import prompt_keys
from board.schema import BY_NAME, LEFT_OUT, TOKEN_IDS, TOKEN_METRICS, TOKENS, title
from board.sources.lines import MEMBER_LINES
from board.sources.shards import Shard
from board.text.padding import ALL_ENDS, LEAST_ENDS, OFTEN, SPECIAL, token_names

COUNTS: Final = "counts"
"""Token column of booleans: False for pads and for tokens with loss_mask 0, which enter no mean."""

PADS: Final = "pads"
"""Token column of booleans: True for padding."""

SOURCE: Final = ("step", "shard", "line", "offset", "nth", "prompt_key", "group")
"""Columns of the scalars that the board itself makes of each rollout's place."""

_GAPS: Final = {"reward_gap": ("reward", "ref_reward"), "valid_reward_gap": ("valid_reward", "ref_valid_reward")}


class Alternatives(Sequence[list[Alternative] | None]):
    """For each token of a rollout what else could have been sampled, None where not known; read from Arrow on access."""

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
    summaries: Columns
    """What the tokens of each step look like (`part_token_summaries`), where a step has many in this part; else no column at all."""
    file: Path | None = None
    """The file that holds it; None where it lies in memory alone."""

    def __len__(self) -> int:
        return self.scalars.num_rows

    def alike(self, rows: NDArray[np.int64], names: Sequence[str]) -> "Iterator[Alike]":
        """Token arrays of `rows` by field, of those named; once for each set of these fields that some of the rows have."""
        names = [name for name in names if name in self.tokens.column_names]
        columns = {name: self.tokens.column(name).chunk(0) for name in (*names, COUNTS)}
        valid = [columns[name].is_valid().to_numpy(zero_copy_only=False)[rows] for name in names]
        has = np.stack(valid, axis=1) if valid else np.zeros((len(rows), 0), np.bool_)
        fields_of = np.zeros(len(rows), np.int64)  # a number for each set of fields, of which there are few
        for column in has.T[has.any(axis=0) & ~has.all(axis=0)]:
            fields_of = np.unique(2 * fields_of + column, return_inverse=True)[1]
        for number in range(int(fields_of.max(initial=-1)) + 1):
            alike = np.flatnonzero(fields_of == number)
            fields, chosen = has[alike[0]], rows[alike]
            taken = columns
            if len(chosen) < len(self) or (np.diff(chosen) != 1).any() or columns[COUNTS].offset:
                taken = {name: column.take(pa.array(chosen)) for name, column in columns.items()}
            held = [name for name, there in zip(names, fields, strict=True) if there]
            flats = {name: taken[name].values.to_numpy() for name in held}
            yield Alike(chosen, taken[COUNTS].offsets.to_numpy(), flats, taken[COUNTS].values.to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class Alike:
    """Token arrays of some rollouts of a part that have the same fields, end to end."""

    rows: NDArray[np.int64]
    """(k,): rows of the part."""
    offsets: NDArray[np.int64]
    """(k + 1,): the i-th of them has the tokens from `offsets[i]` to before the next."""
    flats: dict[str, NDArray[np.float32]]
    """(N,) by field."""
    counts: NDArray[np.bool_]
    """(N,): which tokens count."""


def build(block: Block, shard: str, pads: frozenset[str]) -> Part:
    """A block of rollouts of a shard as a part, with all that is derived of them."""
    offsets = block.token_offsets
    flats = {name: array.values for name, array in block.arrays.items()}
    padding = are(block, token_names(pads)) == 1
    counts = ~padding & (flats["loss_mask"] != 0) if "loss_mask" in flats else ~padding
    numbers = dict(block.numbers)
    tokens = Tokens(flats, offsets, counts)
    ends = {TOKENS: are(block, ALL_ENDS | _ends(block, padding))} if TOKENS in block.per_token else {}
    sums = moments(Tokens(flats | ends, offsets, counts))
    derived = _derived(block, tokens, sums)
    _take_summaries(derived, numbers)
    numbers = {f"{name} (logged)" if name in derived or name in SOURCE else name: column for name, column in numbers.items()}
    ids = {name: column.dictionary_encode() for name, column in block.ids.items()}
    keys = prompt_keys(block.texts, block.ids, len(block))
    return Part(
        scalars=pa.table({"step": block.steps, **_source_columns(block, shard), **ids, **numbers, **derived, "prompt_key": keys}),
        texts=pa.table(dict(block.texts)),
        tokens=_token_table(block, offsets, {COUNTS: counts, PADS: padding}),
        moments=pa.table(sums),
        summaries=part_token_summaries.build(
            part_token_summaries.group_of(block.steps, block.ids.get("split")), flats, offsets, counts
        ),
    )


def part_of_rows(part: Part, rows: NDArray[np.int64]) -> Part:
    """Some rows of a part, as a part; without summaries, which are of all rows."""
    taken = pa.array(rows)
    tables = (part.scalars, part.texts, part.tokens, part.moments)
    scalars, texts, tokens, moments = (as_table(table).take(taken).combine_chunks() for table in tables)
    return Part(scalars, texts, tokens, moments, pa.table({}))


def with_lines_after(scalars: Columns, first_line: int, shard: Shard | None = None) -> Columns:
    """The scalars of rows whose lines were counted from the line after `first_line`, counted from the first of their shard, or its member."""
    if shard and shard.members:
        members, lines = np.divmod(scalars.column("line").to_numpy(), MEMBER_LINES)
        names = pa.DictionaryArray.from_arrays(pa.array(members.astype(np.int32)), pa.array([one.name for one in shard.members]))
        return Overlaid(scalars, {"shard": pa.chunked_array([names]), "line": pa.chunked_array([lines])})
    return Overlaid(scalars, {"line": pc.add(scalars.column("line"), first_line)})


def _source_columns(block: Block, shard: str) -> dict[str, Any]:
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(block), np.int32)), pa.array([shard]))
    return {"shard": names, **block.sources}


def are(block: Block, names: AbstractSet[str]) -> NDArray[np.float32]:
    """1 for each token that has one of these names, 0 for others, NaN where a rollout has no tokens. Shape (sum of lengths,)."""
    found = np.full(int(block.lengths.sum()), np.nan, np.float32)
    if TOKENS in block.per_token:
        tokens = block.per_token[TOKENS]
        found[np.repeat(tokens.is_valid().to_numpy(zero_copy_only=False), block.lengths)] = _members(tokens.values, names)
    return found


def _ends(block: Block, padding: NDArray[np.bool_]) -> set[str]:
    """Special tokens that some of a block's responses end with, `padding` (sum of lengths,) left out: a role's marker may be one."""
    tokens = block.per_token[TOKENS]
    held = np.repeat(tokens.is_valid().to_numpy(zero_copy_only=False), block.lengths)
    unpadded = np.flatnonzero(~padding[held])
    stops = np.searchsorted(unpadded, tokens.offsets.to_numpy())
    last = unpadded[stops[1:][np.diff(stops) > 0] - 1]
    found = pc.value_counts(tokens.values.take(pa.array(last))).to_pylist()
    least = max(LEAST_ENDS, OFTEN * len(last))
    return {one["values"] for one in found if one["counts"] >= least and SPECIAL.fullmatch(one["values"])}


def _members(texts: pa.LargeStringArray, values: AbstractSet[str]) -> NDArray[np.bool_]:
    """Which of the texts, none of them null, are among `values`: looked up are those alone that begin as one of these does."""
    found = np.zeros(len(texts), bool)
    likely = _beginning(texts, {text.encode()[:1] for text in values})
    found[likely] = pc.is_in(texts.take(pa.array(likely)), pa.array(sorted(values), texts.type)).to_numpy(zero_copy_only=False)
    return found


def _beginning(texts: pa.LargeStringArray, firsts: AbstractSet[bytes]) -> NDArray[np.int64]:
    """Which of the texts begin with one of these bytes; an empty one may be among them."""
    _, bounds, data = texts.buffers()
    starts = np.frombuffer(bounds, np.int64)[texts.offset : texts.offset + len(texts)] if len(texts) else np.zeros(0, np.int64)
    if not data or b"" in firsts:  # all are empty, or an empty one is looked for
        return np.arange(len(texts))
    is_first = np.zeros(256, bool)
    is_first[[one[0] for one in firsts]] = True
    return np.flatnonzero(is_first[np.frombuffer(data, np.uint8)[np.minimum(starts, data.size - 1)]])


def _take_summaries(derived: dict[str, Float64Array], numbers: dict[str, Float64Array]) -> None:
    """Where the recorder left a row's token arrays out and wrote their means and sums, these are the derived numbers: in place."""
    if LEFT_OUT not in numbers:
        return
    left_out = numbers[LEFT_OUT] == 1
    for name in [name for name in derived if name in numbers]:
        summed = left_out & np.isnan(derived[name])
        derived[name] = np.where(summed, numbers[name], derived[name])
        numbers[name] = np.where(summed, np.nan, numbers[name])


def _derived(block: Block, tokens: Tokens, sums: Moments) -> dict[str, Float64Array]:
    """Numbers per rollout computed from its own fields; NaN where they cannot be. Names as in `board.schema.DERIVED_NUMBERS`."""
    columns: dict[str, Float64Array] = {}
    having = np.logical_or.reduce([np.zeros(len(block), bool), *(array.present for array in block.arrays.values())])
    named = block.per_token[TOKENS].is_valid().to_numpy(zero_copy_only=False) if TOKENS in block.per_token else having
    columns["response_length"] = np.where(having | named, _counted(tokens), np.nan)
    columns["response_chars"] = _characters(block.texts.get("response"), len(block))
    for gap, (ours, reference) in _GAPS.items():
        if ours in block.numbers and reference in block.numbers:
            columns[gap] = block.numbers[ours] - block.numbers[reference]
    columns.update(_token_statistics(tokens, sums))
    columns["nonfinite_tokens"] = np.where(having, _nonfinite(block, tokens), np.nan)
    return columns


def _counted(tokens: Tokens) -> NDArray[np.int64]:
    """How many tokens of each rollout count. Shape (n,)."""
    found: NDArray[np.int64] = np.diff(np.concatenate([[0], np.cumsum(tokens.counts, dtype=np.int64)])[tokens.offsets])
    return found


def _characters(texts: pa.Array | None, count: int) -> Float64Array:
    """Characters of each text, (count,), NaN where it is missing."""
    if texts is None:
        return np.full(count, np.nan)
    lengths: Float64Array = pc.utf8_length(texts).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return lengths


def _token_statistics(tokens: Tokens, sums: Moments) -> dict[str, Float64Array]:
    """What the frame holds of the moments, and the mean of every array that has none: those only this trainer knows."""
    columns: dict[str, Float64Array] = {}
    if "log_ratio/mean" in sums:
        names = [formulas.kl_column(estimator).removesuffix("_mean") for estimator in formulas.ESTIMATORS]
        columns = {f"{name}_{stat}": sums[f"{name}/{stat}"] for name in names for stat in ("mean", "sum", "max")}
    named = [name for name in tokens.flats if name != "loss_mask" and name not in TOKEN_IDS]
    for name in sorted(named, key=lambda name: name not in BY_NAME):
        column = f"{title(name)}_mean"
        mean = (
            sums[f"{title(name)}/mean"]
            if name in TOKEN_METRICS
            else formulas.segment_stats(tokens.flats[name], tokens.offsets, tokens.counts).mean
        )
        columns[f"{title(name)} (logged)_mean" if column in columns else column] = mean
        if name == "token_rewards":
            columns[f"{title(name)}_sum"] = sums[f"{title(name)}/sum"]
    return columns


def _nonfinite(block: Block, tokens: Tokens) -> Float64Array:
    """How many counted tokens lack a finite number, over the arrays each rollout has. Shape (n,)."""
    total = np.zeros(len(block))
    for array in block.arrays.values():
        bad = ~np.isfinite(array.values) & tokens.counts
        if bad.any():  # in most arrays there is none
            sums = np.concatenate([[0], np.cumsum(bad)])[tokens.offsets]
            total += np.diff(sums) * array.present
    return total


def _token_table(block: Block, offsets: IntArray, marks: dict[str, NDArray[np.bool_]]) -> pa.Table:
    arrow_offsets = pa.array(offsets, pa.int64())
    columns: dict[str, pa.Array] = {
        name: pa.LargeListArray.from_arrays(arrow_offsets, pa.array(mark)) for name, mark in marks.items()
    }
    columns |= {name: block.per_token[name] for name in PER_TOKEN if name in block.per_token}
    for name, array in block.arrays.items():
        columns[name] = pa.LargeListArray.from_arrays(arrow_offsets, pa.array(array.values), mask=pa.array(~array.present))
    return pa.table(columns)
