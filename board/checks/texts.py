"""Tokens against text: joined and decoded, the tokens of a response must read as the response.

Most rollouts are compared all at once as Arrow columns; what does not read alike that way is looked at one by one, as far as time allows.
Knows nothing of numbers or steps.
"""

import re
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.checks.contract import Answer, Fault, Unable
from board.checks.evidence import Batch, Evidence, PerRollout, text_column
from board.schema import TOKENS
from board.text.counting import plural
from board.text.padding import COMMON_PADS, END_TOKENS
from board.text.token_decoding import bytes_of, codec_of

CLOSELY: Final = 200
"""So many rollouts of a part (some ten thousand) are decoded one by one; evenly spaced where there are more."""

NOT_LOOKED: Final = -1.0
"""Not the same as being alike."""

_NO_TEXT: Final = re.compile(
    r"<\|[^|<>\s]{1,60}\|>|<｜[^｜<>\s]{1,60}｜>|<s>|<bos>|\[CLS\]|\[SEP\]|"
    + "|".join(re.escape(token) for token in sorted(COMMON_PADS | END_TOKENS))
    + r"|\ufffd|\s+"
)
"""What trainers leave out of a response or not, as they like: special tokens, white space at joints, halves of characters."""

_BYTE_LEVEL: Final = {code: chr(bytes_of("byte-level", chr(code))[0]) for code in range(0xA1, 0x144)}
"""The letters of byte-level BPE that are not ASCII, to the bytes they name, as characters of Latin-1."""

_MARKS: Final = (("Ġ", " "), ("Ċ", "\n"), ("▁", " "))
"""Tokenizers' commonest names of bytes, which nearly every English response is spelled with."""


def measure(batch: Batch) -> dict[str, PerRollout]:
    """1 where the tokens read as another text than the response, else 0; NaN where that cannot be told, NOT_LOOKED where nobody looked."""
    differs = np.full(len(batch.part), np.nan)
    responses = text_column(batch.part, "response")
    if TOKENS not in batch.part.tokens.column_names:
        return {"text_differs": differs}
    tokens = batch.part.tokens.column(TOKENS).chunk(0)
    both = pc.and_(tokens.is_valid(), responses.is_valid()).to_numpy(zero_copy_only=False)
    joined = pc.binary_join(tokens, pa.scalar("", pa.large_string()))
    alike = _alike_at_once(joined, responses)
    doubtful = np.flatnonzero(both & ~alike)
    alike[doubtful] = [_byte_level_alike(joined[row].as_py(), responses[row].as_py()) for row in doubtful]
    differs[both] = np.where(alike[both], 0, NOT_LOOKED)
    doubtful = doubtful[~alike[doubtful]]
    for row in _evenly(doubtful, CLOSELY):
        differs[row] = _differs(batch, tokens[row].as_py(), responses[row].as_py(), int(row))
    return {"text_differs": differs}


def _alike_at_once(joined: pa.Array, responses: pa.Array) -> NDArray[np.bool_]:
    """Where the joined tokens are the response, plain or with the commonest marks decoded, but for an end token and white space around."""
    wanted = pc.utf8_trim_whitespace(responses)
    alike = _equal(_trimmed(joined), wanted)
    if alike.all():
        return alike
    for mark, text in _MARKS:
        joined = pc.replace_substring(joined, mark, text)
    return alike | _equal(_trimmed(joined), wanted)


def _trimmed(texts: pa.Array) -> pa.Array:
    ends = "|".join(re.escape(token) for token in sorted(COMMON_PADS | END_TOKENS))
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(texts, f"(?:{ends})+$", ""))


def _equal(some: pa.Array, others: pa.Array) -> NDArray[np.bool_]:
    alike: NDArray[np.bool_] = np.array(pc.fill_null(pc.equal(some, others), False))
    return alike


def _byte_level_alike(joined: str, response: str) -> bool:
    """Whether joined tokens read as the response if every letter is the name of a byte. As `reads_as`, without a look at single tokens."""
    try:
        text = joined.translate(_BYTE_LEVEL).encode("latin-1").decode(errors="replace")
    except UnicodeEncodeError:  # a letter that names no byte
        return False
    return _NO_TEXT.sub("", text) == _NO_TEXT.sub("", response)


def _evenly(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _differs(batch: Batch, tokens: list[str], response: str, row: int) -> float:
    """As `measure`, for one rollout: its response may be of all tokens, or of those the policy was trained on."""
    start, stop = batch.offsets[row : row + 2]
    kept = [token for token, pad in zip(tokens, batch.pads[start:stop], strict=True) if not pad]
    trained = [token for token, counts in zip(tokens, batch.counts[start:stop], strict=True) if counts]
    if kept and all(re.fullmatch(" ?[0-9]+", token) for token in kept) and not reads_as(kept, response):
        return np.nan  # ids
    return float(not (reads_as(kept, response) or reads_as(trained, response)))


def reads_as(tokens: list[str], response: str) -> bool:
    """Whether tokens, decoded by what their names say of bytes, read as the response, special tokens and white space left out of both."""
    codec = codec_of(tokens)
    joined = b"".join(bytes_of(codec, token) for token in tokens).decode(errors="replace")
    return _NO_TEXT.sub("", joined) == _NO_TEXT.sub("", response)


def text_differs(evidence: Evidence) -> Answer:
    """Rollouts whose tokens read as another text than the response."""
    differs = evidence.measures["text_differs"].to_numpy(np.float64)
    told = int(np.isin(differs, (0, 1)).sum())
    if not told:
        return Unable("no rollout has both a response and its tokens as text")
    marks = differs == 1
    if not marks.any():
        return None
    what = f"{plural(int(marks.sum()), 'rollout')} with tokens that read as another text than the response, of {told:,} compared"
    return Fault(what, evidence.keys(marks), at_least=bool((differs == NOT_LOOKED).any()))
