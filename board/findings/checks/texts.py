"""Tokens against text: joined and decoded, the tokens of a response must read as the response.

Most rollouts are compared all at once as Arrow columns; what does not read alike that way is looked at one by one, as far as time allows.
"""

import re
from collections import Counter
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.texts.concordance import spread
from board.analysis.texts.text_health.texts import column
from board.findings.checks.contract import Answer, Unable, shown_by
from board.findings.checks.evidence import Batch, Evidence, PerRollout
from board.schema import TOKENS
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

_MARK: Final = re.compile(r"</?[A-Za-z_][\w.-]{0,40}>|\[/?[A-Z_]{2,40}\]|[◁<]/?\w{1,40}[▷>]")
"""How special tokens that mean something are written, other than with bars: <think>, [TOOL_CALLS], ◁think▷."""

_HEAD: Final = r"^[a-z_]{2,20}:$"
_CALL: Final = r"^→ .*$"
_BETWEEN_TURNS: Final = re.compile(f"(?m){_HEAD}|{_CALL}")
"""What stands between the texts of turns in a response that was a list of messages: roles, and calls of tools."""

_OF_TEMPLATE: Final = 60
"""So many characters a turn has of its template: roles, and tags of a call."""

_NAMED: Final = 8

_BYTE_LEVEL: Final = {code: chr(bytes_of("byte-level", chr(code))[0]) for code in range(0xA1, 0x144)}
"""The letters of byte-level BPE that are not ASCII, to the bytes they name, as characters of Latin-1."""

_MARKS: Final = (("Ġ", " "), ("Ċ", "\n"), ("▁", " "))
"""Tokenizers' commonest names of bytes, which nearly every English response is spelled with."""


def measure(batch: Batch) -> dict[str, PerRollout]:
    """Whether the tokens read as another text than the response, and which special tokens of theirs the response lacks, by spaces.

    1 where they do, else 0; NaN where that is unknown, NOT_LOOKED where the rollout was not compared.
    """
    differs, lacks = np.full(len(batch.part), np.nan), np.full(len(batch.part), "", object)
    responses = column(batch.part, "response")
    if TOKENS not in batch.part.tokens.column_names:
        return {"text_differs": differs, "text_lacks": lacks}
    tokens = batch.part.tokens.column(TOKENS).chunk(0)
    both = pc.and_(tokens.is_valid(), responses.is_valid()).to_numpy(zero_copy_only=False)
    joined = pc.binary_join(tokens, pa.scalar("", pa.large_string()))
    alike = _alike_at_once(joined, responses)
    doubtful = np.flatnonzero(both & ~alike)
    alike[doubtful] = [_byte_level_alike(joined[row].as_py(), responses[row].as_py()) for row in doubtful]
    differs[both] = np.where(alike[both], 0, NOT_LOOKED)
    closely, left_out = spread(doubtful[~alike[doubtful]], CLOSELY), dict[tuple[str, ...], str]()
    for row in closely:
        differs[row], names, end = _differs(batch, tokens[row].as_py(), responses[row].as_py(), int(row))
        lacks[row] = " ".join(name for name in names if name != end)
        left_out |= {names: str(lacks[row])} if names else {}
    for names, joined_names in left_out.items():
        rest = np.flatnonzero(differs == NOT_LOOKED)
        left = pc.replace_substring_regex(joined.take(pa.array(rest)), "|".join(map(re.escape, names)), "")
        found = rest[_alike_at_once(left, responses.take(pa.array(rest)))]
        differs[found], lacks[found] = 0, joined_names
    return {"text_differs": differs, "text_lacks": lacks}


def _alike_at_once(joined: pa.Array, responses: pa.Array) -> NDArray[np.bool_]:
    """Where the joined tokens are the response, plain or with the commonest marks decoded, but for an end token and white space around."""
    trimmed = pc.utf8_trim_whitespace(responses)
    alike = _equal(_trimmed(joined), trimmed)
    if alike.all():
        return alike
    for mark, text in _MARKS:
        joined = pc.replace_substring(joined, mark, text)
    return alike | _equal(_trimmed(joined), trimmed)


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


def _differs(batch: Batch, tokens: list[str], response: str, row: int) -> tuple[float, tuple[str, ...], str]:
    """`measure` for one rollout: its response may be of all tokens, in a chat template or not, or of those the policy was trained on.

    Then the special tokens without which it is alike, and which of them stands at the end alone.
    """
    start, stop = batch.offsets[row : row + 2]
    unpadded = [token for token, pad in zip(tokens, batch.pads[start:stop], strict=True) if not pad]
    trained = [token for token, counts in zip(tokens, batch.counts[start:stop], strict=True) if counts]
    if reads_as(unpadded, response) or reads_as(trained, response):
        return 0, (), ""
    if unpadded and all(re.fullmatch(" ?[0-9]+", token) for token in unpadded):
        return np.nan, (), ""  # ids
    names = [name.strip() for name in unpadded]
    lacking = tuple(dict.fromkeys(name for name in names if _MARK.fullmatch(name) and name not in response))
    if lacking and any(reads_as([one for one in some if one.strip() not in lacking], response) for some in (unpadded, trained)):
        return 0, lacking, names[-1] if names.count(names[-1]) == 1 else ""
    return float(not _in_template(unpadded, response)), (), ""


def _in_template(tokens: list[str], response: str) -> bool:
    """Whether what a response's turns say stands in the tokens in order, and little else than roles, tags and calls of tools does."""
    whole, at, left = plain(tokens), 0, 0
    between = _BETWEEN_TURNS.findall(response)
    template = _OF_TEMPLATE * (len(between) + 1) + 2 * sum(map(len, between))
    for piece in filter(None, (_NO_TEXT.sub("", piece) for piece in _BETWEEN_TURNS.split(response))):
        found = whole.find(piece, at)
        if found < 0:
            return False
        left, at = left + found - at, found + len(piece)
    return left + len(whole) - at <= template


def plain(tokens: list[str]) -> str:
    """Tokens decoded by what their names say of bytes, without special tokens and white space."""
    codec = codec_of(tokens)
    return _NO_TEXT.sub("", b"".join(bytes_of(codec, token) for token in tokens).decode(errors="replace"))


def reads_as(tokens: list[str], response: str) -> bool:
    """Whether tokens, decoded by what their names say of bytes, read as the response, special tokens and white space left out of both."""
    return plain(tokens) == _NO_TEXT.sub("", response)


def special_left_out(evidence: Evidence) -> Answer:
    """Rollouts whose text is that of their tokens but for special tokens."""
    lacks = evidence.measures["text_lacks"].fillna("").to_numpy(object)
    marks = lacks != ""
    names = Counter(name for one in lacks[marks] for name in one.split())
    listed = ", ".join(name for name, _ in names.most_common(_NAMED))
    looked = int((evidence.measures["text_differs"].to_numpy(np.float64) >= 0).sum())
    what = (
        f"{{rollouts}} of {looked:,} whose text lacks special tokens that their tokens have: {listed}; the rest of it reads alike"
    )
    return shown_by(evidence, marks, what)


def text_differs(evidence: Evidence) -> Answer:
    """Rollouts whose tokens read as another text than the response."""
    differs = evidence.measures["text_differs"].to_numpy(np.float64)
    compared = int(np.isin(differs, (0, 1)).sum())
    if not compared:
        return Unable("no rollout has both a response and its tokens as text")
    what = f"{{rollouts}} with tokens that read as another text than the response, of {compared:,} compared"
    return shown_by(evidence, differs == 1, what, at_least=bool((differs == NOT_LOOKED).any()))
