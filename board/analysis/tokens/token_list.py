"""Tokens of a run as a table: filtered, each with some of the text around it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.tokens.segments import Kind, find_segments
from board.runs.run import Run
from board.schema import TOKENS
from board.text.display import visible
from board.text.token_decoding import Codec, codec_of_several, decoded

Sign = Literal["any", "positive", "negative"]

SHOWN: Final = 200
"""At most this many tokens are listed."""

LOOKED_AT: Final = 2_000
"""Of no more tokens, the first of the list, the segment is found, as each response has to be read; the search ends with enough of them."""

_AT_ONCE: Final = 200

AROUND: Final = 8
"""Tokens on either side that are shown with one."""

_BEFORE: Final = 32
"""Characters before a token that are shown: a table cuts a text at its end, and here what is nearest to the token stands there."""

_CODEC_RESPONSES: Final = 8
_CODEC_TOKENS: Final = 4_000
"""At most this many responses, and this many tokens of each, are read to find the codec."""


@dataclass(frozen=True)
class TokenFilter:
    """Which tokens to list."""

    text: str = ""
    """What the token must contain, without regard to case; empty for anything."""
    segment: Kind | None = None
    first: int = 1
    """Positions, counted from 1, both ends included."""
    last: int | None = None
    sign: Sign = "any"
    """Of the advantage at the token."""
    step: int | None = None

    def options(self) -> list[str]:
        """The conditions other than the text, in words."""
        segment = [f"in segments of {self.segment}"] if self.segment else []
        last = "the end" if self.last is None else f"{self.last:,}"
        positions = [f"positions {self.first:,} to {last}"] if self.first > 1 or self.last is not None else []
        return [*segment, *positions, *([f"{self.sign} advantage"] if self.sign != "any" else [])]


@dataclass(frozen=True)
class Listed:
    """What is listed of some tokens."""

    tokens: pd.DataFrame
    """key, step, position (from 0), value; at most SHOWN, in their order."""
    matching: int
    """How many match in all, or among those that were read."""
    looked_at: int | None
    """How many were read for their segment, where that is not all; else None."""


def matching_tokens(run: Run, tokens: pd.DataFrame, chosen: TokenFilter) -> Listed:
    """Those of the tokens (columns key, step, position, value) that match, in their order."""
    keep = tokens["position"].to_numpy() >= chosen.first - 1
    if chosen.last is not None:
        keep &= tokens["position"].to_numpy() < chosen.last
    if chosen.step is not None:
        keep &= tokens["step"].to_numpy() == chosen.step
    found = tokens[keep]
    if chosen.sign != "any":
        advantages = run.at_tokens("advantages", *_places(found))
        found = found[advantages > 0 if chosen.sign == "positive" else advantages < 0]
    if chosen.text:
        found = found[_containing(run, found, chosen.text)]
    looked_at = None
    if chosen.segment is not None:
        matching, read = _in_segment(run, found, chosen.segment)
        looked_at = read if read < len(found) else None
        found = matching
    return Listed(found.head(SHOWN).reset_index(drop=True), len(found), looked_at)


def _in_segment(run: Run, tokens: pd.DataFrame, kind: Kind) -> tuple[pd.DataFrame, int]:
    """The tokens that are in such a segment, as far as was looked, and how far that was."""
    pieces, count, read = [tokens.head(0)], 0, 0
    while read < min(len(tokens), LOOKED_AT) and count < SHOWN:
        piece = tokens.iloc[read : read + _AT_ONCE]
        pieces.append(piece[segments_of(run, piece) == kind])
        count += len(pieces[-1])
        read += len(piece)
    return pd.concat(pieces), read


def _places(tokens: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return tokens["key"].to_numpy(np.int64), tokens["position"].to_numpy(np.int64)


def _containing(run: Run, tokens: pd.DataFrame, text: str) -> NDArray[np.bool_]:
    """Which of the tokens contain a text, read as text or by the tokenizer's name."""
    held = [name or "" for name in run.at_tokens(TOKENS, *_places(tokens)).tolist()]
    number, names = pd.factorize(np.array(held, object))
    codec, sought = codec_in(run, tokens), text.casefold()
    matching = [sought in name.casefold() or sought in decoded(codec, name).casefold() for name in names.tolist()]
    return np.array(matching, bool)[number]


def codec_in(run: Run, tokens: pd.DataFrame) -> Codec:
    """How the tokens of a run name their bytes, by a few of the responses that some tokens are in."""
    keys = tokens["key"].drop_duplicates().head(_CODEC_RESPONSES).tolist()
    return codec_of_several((run.rollout(int(key)).tokens or [])[:_CODEC_TOKENS] for key in keys)


def segments_of(run: Run, tokens: pd.DataFrame) -> NDArray[np.object_]:
    """The kind of segment that each of some tokens is in, (len(tokens),); "" where the rollout has no response_tokens."""
    kinds = np.full(len(tokens), "", object)
    keys, positions = _places(tokens)
    for key in np.unique(keys).tolist():
        own = np.flatnonzero(keys == key)
        segments = find_segments(run.rollout(key).tokens or [])
        lasts = np.array([segment.last for segment in segments], np.int64)
        at = np.searchsorted(lasts, positions[own])
        kinds[own] = [segments[one].kind if one < len(segments) else "" for one in at.tolist()]
    return kinds


def in_context(run: Run, tokens: pd.DataFrame, around: int = AROUND) -> pd.DataFrame:
    """Some tokens as text, in their order: columns before, token, after; empty where a rollout has no response_tokens."""
    codec = codec_in(run, tokens)
    keys, positions = _places(tokens)
    places = np.arange(-around, around + 1)[:, np.newaxis] + positions
    names = run.at_tokens(TOKENS, np.tile(keys, len(places)), places.ravel()).reshape(places.shape)
    texts = [[decoded(codec, name or "") for name in row] for row in names.tolist()]
    return pd.DataFrame(
        {
            "before": [f"…{text[-_BEFORE:]}" if len(text) > _BEFORE else text for text in _joined(texts[:around])],
            "token": [visible(text) for text in texts[around]],
            "after": _joined(texts[around + 1 :]),
        },
        index=tokens.index,
    )


def _joined(columns: Sequence[Sequence[str]]) -> list[str]:
    """Texts of each row end to end, line ends marked: a table's cell has one line."""
    return ["".join(pieces).replace("\n", "↵") for pieces in zip(*columns, strict=True)]
