"""Tokens that look like pads nobody named: they stand at the ends of many rollouts where the loss mask is 0, and nowhere else.

Knows blocks of rollouts; names no pad itself.
"""

import json
from collections import Counter
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from board.formats.mapping import FILE
from board.runs.rollout_block import Block
from board.schema import PADDED, TOKENS
from board.text.counting import plural

LEAST_ROWS: Final = 8
LEAST_SHARE: Final = 0.1
"""In so many rollouts, and in such a share of them, a token stands twice or more at an end."""


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
