"""Tokens that pad by what the loss mask says of the run, though nobody named them: an end token where the policy never came to one, which is
taken off, and others at the ends of many rollouts, which are proposed.

Knows blocks of rollouts; names no pad itself.
"""

import json
from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.formats.mapping import FILE
from board.runs.parts import are
from board.runs.rollout_block import Block, TokenNumbers, those
from board.schema import PADDED, TOKENS
from board.text.counting import plural
from board.text.padding import END_TOKENS

LEAST_ROWS: Final = 8
LEAST_SHARE: Final = 0.1
"""In so many rollouts, and in such a share of them, a token stands twice or more at an end."""


def without_masked_ends(block: Block) -> Block:
    """The block without the end tokens that pad rollouts which were cut off: the loss mask is 0 there, directly behind what the policy wrote,
    and trains on the end tokens of others. Where it trains on none, it may leave out the policy's own."""
    mask = block.arrays.get(PADDED.mask)
    if TOKENS not in block.per_token or mask is None:
        return block
    ends, trained = are(block, END_TOKENS) == 1, np.repeat(mask.present, block.lengths) & (mask.values != 0)
    rows = np.flatnonzero(mask.present & (block.lengths > 1)) if (ends & trained).any() else np.array([], np.int64)
    last = block.token_offsets[rows + 1] - 1
    rows = rows[ends[last] & ~trained[last] & trained[last - 1] & ~ends[last - 1]]
    if not rows.size:
        return block
    stays, shorter = np.ones(len(ends), bool), np.zeros(len(block), np.int64)
    stays[block.token_offsets[rows + 1] - 1], shorter[rows] = False, 1
    return replace(
        block,
        lengths=block.lengths - shorter,
        texts={name: _without_ends(one, rows) if name == "response" else one for name, one in block.texts.items()},
        arrays={name: TokenNumbers(one.values[stays], one.present) for name, one in block.arrays.items()},
        per_token={name: those(one, stays[np.repeat(one.is_valid(), block.lengths)]) for name, one in block.per_token.items()},
    )


def _without_ends(texts: pa.Array, rows: NDArray[np.int64]) -> pa.Array:
    """The texts, those of some rollouts without the end token behind them."""
    found = texts.to_pylist()
    for row in rows.tolist():
        text = (found[row] or "").rstrip()
        end = next((one for one in END_TOKENS if text.endswith(one)), "")
        found[row] = text.removesuffix(end).removesuffix(" ") if end else found[row]
    return pa.array(found, texts.type)


def unnamed(block: Block) -> list[tuple[int, str]]:
    """The first rollout that ends, or begins, with such a token, and a sentence that proposes it as a pad; for each of these tokens."""
    mask = block.arrays.get(PADDED.mask)
    if TOKENS not in block.per_token or mask is None:
        return []
    named = block.per_token[TOKENS].is_valid().to_numpy(zero_copy_only=False) & mask.present & (block.lengths > 1)
    rows = np.flatnonzero(named)
    starts = block.token_offsets[rows]
    stops = block.token_offsets[rows + 1]
    lists = block.per_token[TOKENS]
    found: Counter[str] = Counter()
    firsts: dict[str, int] = {}
    begins = lists.offsets.to_numpy()[rows]
    for at, there, back in ((stops - 1, begins + (stops - starts) - 1, -1), (starts, begins, 1)):
        last, before = (lists.values.take(pa.array(one)) for one in (there, there + back))
        masked = (mask.values[at] == 0) & (mask.values[at + back] == 0)
        twice = masked & pc.equal(last, before).to_numpy(zero_copy_only=False)
        for row, token in zip(rows[twice].tolist(), last.filter(pa.array(twice)).to_pylist(), strict=True):
            found[token] += 1
            firsts[token] = min(row, firsts.get(token, row))
    least = max(LEAST_ROWS, LEAST_SHARE * len(rows))
    likely = [token for token, count in found.items() if count >= least and token.strip() and not _is_trained(block, token)]
    return [(firsts[token], _proposal(token, found[token])) for token in likely]


def _is_trained(block: Block, token: str) -> bool:
    """Whether the token is trained on anywhere, as no pad is."""
    lists = block.per_token[TOKENS]
    of_named = np.repeat(lists.is_valid().to_numpy(zero_copy_only=False), block.lengths)
    same = pc.equal(lists.values, token).to_numpy(zero_copy_only=False)
    return bool((block.arrays[PADDED.mask].values[of_named][same] != 0).any())


def _proposal(token: str, count: int) -> str:
    named = json.dumps([token.strip() if token.strip().isdecimal() else token], ensure_ascii=False)
    return (
        f"{json.dumps(token, ensure_ascii=False)} stands again and again at the ends of {plural(count, 'rollout')} where loss_mask is 0: "
        f"if it pads, write pads = {named} at the top of {FILE} beside the rollouts, or give --pad"
    )
