"""Keyword in context: matches of a search, each with the text to its left and right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.texts.text_search import SearchText
from board.runs.run import Run
from board.text.token_decoding import bytes_of, codec_of

CONTEXT: Final = 60
"""Characters to either side."""

LONGEST_MATCH: Final = 200
"""Characters of a match that are shown."""

MOST_OF_ONE: Final = 50
"""At most this many places in one text are listed."""

Order = Literal["step", "left", "right", "reward"]


@dataclass(frozen=True)
class Occurrence:
    """One place."""

    key: int
    """Of the rollout."""
    column: str
    start: int
    stop: int
    """Characters of the text, from `start` to before `stop`."""
    left: str
    match: str
    right: str


def spread(keys: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the keys, evenly from all of them, in their order."""
    return keys if len(keys) <= most else keys[np.linspace(0, len(keys) - 1, most).astype(np.int64)]


def lines(run: Run, keys: NDArray[np.int64], column: str, search: SearchText) -> list[Occurrence]:
    """The places in one text of these rollouts, in their order; of one text at most MOST_OF_ONE."""
    opening, closing = (f"\ue000{uuid4().hex}" for _ in range(2))
    texts = run.texts(column, keys).fill_null("")
    marked = pc.replace_substring_regex(texts, search.marked, f"{opening}\\0{closing}")
    return [
        line
        for key, text in zip(keys.tolist(), _as_python(marked), strict=True)
        for line in _of_text(key, column, text, opening, closing)
    ]


def ordered(found: Sequence[Occurrence], by: Order, steps: dict[int, int], rewards: dict[int, float]) -> list[Occurrence]:
    """The lines by what stands left of the place, read backwards from it, by what stands right of it, by step, or the largest reward first.

    Letters count whatever their case; of equal ones the order stays.
    """
    if by == "left":
        return sorted(found, key=lambda line: line.left.casefold().split()[::-1])
    if by == "right":
        return sorted(found, key=lambda line: line.right.casefold().split())
    if by == "reward":
        return sorted(found, key=lambda line: _descending(rewards.get(line.key, np.nan)))
    return sorted(found, key=lambda line: steps[line.key])


class TokenSpans:
    """The tokens of one response as pieces of its text."""

    def __init__(self, tokens: Sequence[str]) -> None:
        codec = codec_of(tokens)
        pieces = [bytes_of(codec, token) for token in tokens]
        self._whole = b"".join(pieces)
        self._text = self._whole.decode(errors="replace")
        self._ends = np.cumsum([len(piece) for piece in pieces])

    def touched(self, start: int, match: str) -> slice | None:
        """The tokens that hold `match`, which stands at the character `start` of their text or, where it is not there, nearest to it.

        None where the tokens' text does not hold it: tokens may read otherwise than the response does.
        """
        before, behind = self._text.rfind(match, 0, start + len(match)), self._text.find(match, max(0, start))
        found = [at for at in (before, behind) if at >= 0]
        if not found or not match:
            return None
        begin = len(self._text[: min(found, key=lambda one: abs(one - start))].encode())
        stop = begin + len(match.encode())
        if begin >= len(self._whole):
            return None
        first, last = np.searchsorted(self._ends, [begin, max(begin, stop - 1)], side="right")
        return slice(int(first), int(last) + 1)

    def whole(self, start: int, match: str) -> slice | None:
        """As `touched`, where these tokens hold nothing else but white space around it; else None."""
        at = self.touched(start, match)
        if at is None:
            return None
        return at if self.held(at)[1].strip() == match.strip() else None

    def held(self, at: slice) -> tuple[int, str]:
        """The text of some tokens, and the character of the tokens' text at which it begins."""
        begin = int(self._ends[at.start - 1]) if at.start else 0
        held = self._whole[begin : self._ends[min(at.stop, len(self._ends)) - 1]]
        return len(self._whole[:begin].decode(errors="replace")), held.decode(errors="replace")


def token_at(tokens: Sequence[str], start: int, match: str) -> int | None:
    """The token in which `match` begins, as `TokenSpans.touched` finds it."""
    at = TokenSpans(tokens).touched(start, match)
    return None if at is None else at.start


def _of_text(key: int, column: str, marked: str, opening: str, closing: str) -> Iterator[Occurrence]:
    """`marked` is a text in which every place stands between `opening` and `closing`."""
    head, *rest = marked.split(opening, MOST_OF_ONE)
    pieces = [piece.split(closing, 1) for piece in rest]
    if not pieces:
        return
    pieces[-1][1] = pieces[-1][1].replace(opening, "").replace(closing, "")
    plain = head + "".join(match + after for match, after in pieces)
    start = len(head)
    for match, after in pieces:
        stop = start + len(match)
        yield Occurrence(
            key,
            column,
            start,
            stop,
            plain[max(0, start - CONTEXT) : start],
            match if len(match) <= LONGEST_MATCH else f"{match[:LONGEST_MATCH]}…",
            plain[stop : stop + CONTEXT],
        )
        start = stop + len(after)


def _descending(reward: float) -> float:
    """Rewards that are missing come last."""
    return np.inf if np.isnan(reward) else -reward


def _as_python(texts: pa.ChunkedArray) -> list[str]:
    found: list[str] = texts.to_pylist()
    return found
