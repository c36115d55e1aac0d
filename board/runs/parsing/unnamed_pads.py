"""Tokens that pad by what the loss mask says, without being named as pads."""

import json
import re
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from board.formats.mapping import FILE
from board.runs.cache.parts import are
from board.runs.cache.rollout_block import Block
from board.runs.load_report import LoadReport
from board.schema import PADDED, TOKENS
from board.text.counting import plural
from board.text.padding import END_TOKENS

LEAST_ROWS: Final = 8
LEAST_SHARE: Final = 0.1
"""In so many rollouts, and in such a share of them, a token stands twice or more at an end."""

_AT_END: Final = f"(?:{'|'.join(map(re.escape, sorted(END_TOKENS)))})\\s*$"


def note_ends(block: Block, report: LoadReport) -> None:
    """Note whether the loss mask trains on end tokens, and whether any might pad if it does so elsewhere in the run: it is 0 there, directly
    behind what the policy wrote. Where it trains on none, it may leave out the policy's own."""
    mask = block.arrays.get(PADDED.mask)
    if mask is None:
        return
    ends, trained = are(block, END_TOKENS), np.repeat(mask.present, block.lengths) & (mask.values != 0)
    rows = np.flatnonzero(mask.present & (block.lengths > 1))
    last = block.token_offsets[rows + 1] - 1
    bare = np.isnan(ends[last])  # rollouts without tokens: their texts end as they do
    if PADDED.response in block.texts and bare.any():
        said = block.texts[PADDED.response].take(pa.array(rows[bare]))
        ends[last[bare]] = pc.match_substring_regex(said, _AT_END).fill_null(False)
    ends = ends == 1
    report.trains_ends |= bool((ends & trained).any())
    report.doubts_ends |= bool((ends[last] & ~trained[last] & trained[last - 1]).any())


def unnamed(block: Block) -> list[tuple[int, str]]:
    """The first rollout that ends, or begins, with such a token, and a sentence that proposes it as a pad; for each of these tokens."""
    mask = block.arrays.get(PADDED.mask)
    if TOKENS not in block.per_token or mask is None:
        return []
    lists = block.per_token[TOKENS]
    rows = np.flatnonzero(lists.is_valid().to_numpy(zero_copy_only=False) & mask.present & (block.lengths > 1))
    starts, begins = block.token_offsets[rows], lists.offsets.to_numpy()[rows]
    found: dict[str, list[int]] = {}
    for place, back in ((block.lengths[rows] - 1, -1), (np.zeros(len(rows), np.int64), 1)):
        last, before = (lists.values.take(pa.array(begins + one)) for one in (place, place + back))
        masked = (mask.values[starts + place] == 0) & (mask.values[starts + place + back] == 0)
        twice = masked & pc.equal(last, before).to_numpy(zero_copy_only=False)
        for row, token in zip(rows[twice].tolist(), last.filter(pa.array(twice)).to_pylist(), strict=True):
            found.setdefault(token, []).append(row)
    least = max(LEAST_ROWS, LEAST_SHARE * len(rows))
    often = {token: of for token, of in found.items() if len(of) >= least and token.strip()}
    return [
        (min(of), _proposal(one, len(of))) for one, of in often.items() if not (are(block, {one}) == 1)[mask.values != 0].any()
    ]


def _proposal(token: str, count: int) -> str:
    named = json.dumps([token.strip() if token.strip().isdecimal() else token], ensure_ascii=False)
    return (
        f"{json.dumps(token, ensure_ascii=False)} stands again and again at the ends of {plural(count, 'rollout')} where loss_mask is 0: "
        f"if it pads, write pads = {named} at the top of {FILE} next to the rollouts, or give --pad"
    )
