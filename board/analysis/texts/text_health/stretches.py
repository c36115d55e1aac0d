"""Where in a text the measures find loops, copies of the prompt, odd letters, ...

Each from the text of one rollout to the characters, from the first to before the last; None where there is nothing of it. Looked at is the
same end of a text as the measures look at. Where it stands in several places that is the stretch which holds most of it. `standing` makes
of each what finds it in the rollouts of a run.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.texts.concordance import TokenSpans, token_at
from board.analysis.texts.text_health import letter_pairs, loops, overlap, rare_tokens, scripts, words
from board.analysis.texts.text_health.endings import THOUGHT_TAGS
from board.analysis.texts.text_health.texts import CodeUnits, code_units, ends, longer, shingles, without_padding
from board.metrics.formulas import BoolArray
from board.runs.run import Run

Span = tuple[int, int]


class TextStretch(NamedTuple):
    """Characters of a text of a rollout, from `start` to before `stop`."""

    text: str
    """Its column."""
    start: int
    stop: int

    def __str__(self) -> str:
        return f"{self.text} {self.start}-{self.stop}"


Tokens = list[tuple[int, int]]
"""Of rollouts by key the position of a token, from 0."""

Where = Callable[[Run, Sequence[int]], tuple[dict[int, TextStretch], Tokens]]
"""From keys of rollouts to the stretches of theirs, by key, and tokens at which these begin."""

LOOP_GAP = 2 * overlap.SHINGLE
LETTER_GAP = 24
WORD_GAP = 80
TOKEN_GAP = 8
"""Places that are so many units, or tokens, apart, or fewer, are one stretch."""
MOST_TOKENS = 200_000
"""After so many tokens of some rollouts no more stretches are searched for."""


def loop(text: str) -> Span | None:
    """The loop it ends in; without one the stretch whose pieces stand most often again."""
    units, characters = _units(without_padding(pa.array([text], pa.large_string()))[0].as_py())
    four = shingles(units)
    share = float(loops.measure(units, four)["closing_loop"][0])
    if share > 0:
        return characters(len(units.values) - round(share * len(units.values)), len(units.values))
    _, code, counts = np.unique(longer(four).keys, return_inverse=True, return_counts=True)
    found = densest(counts[code.ravel()] >= loops.TIMES, LOOP_GAP)
    return found and characters(found[0], found[1] + overlap.SHINGLE - 1)


def echo(text: str, prompt: str) -> Span | None:
    """The longest stretch that is the prompt's."""
    units, characters = _units(text)
    lengths = overlap.run_lengths(*(longer(shingles(one)) for one in (units, _units(prompt)[0])))
    if not lengths.max(initial=0):
        return None
    stop = int(lengths.argmax()) + 1
    return characters(stop - int(lengths.max()), stop + overlap.SHINGLE - 1)


def odd(text: str) -> Span | None:
    """Letters that make no word, and broken characters."""
    units, characters = _units(text)
    found = densest(words.odd_places(units), LETTER_GAP)
    return found and characters(*found)


def mixed(text: str, prompt: str) -> Span | None:
    """Words in scripts that the prompt does not have, else those that are not in the commonest script."""
    units, characters = _units(text)
    found = densest(scripts.other_places(units, _units(prompt)[0]), WORD_GAP)
    return found and characters(*found)


def thought(text: str) -> Span | None:
    """The last thought, which its prompt may have begun, to the end."""
    return (max(0, *(text.rfind(opening) for opening, _ in THOUGHT_TAGS)), len(text)) if text else None


def _units(text: str) -> tuple[CodeUnits, Callable[[int, int], Span]]:
    """The end of a text that is measured, and from two of its units to the characters of the whole text."""
    end: pa.Array = ends(pa.array([text], pa.large_string()))
    looked_at = end[0].as_py()
    coded = looked_at.encode("utf-16-le")
    before = text.rfind(looked_at)

    def characters(start: int, stop: int) -> Span:
        first, last = coded[: 2 * start].decode("utf-16-le", "ignore"), coded[: 2 * stop].decode("utf-16-le", "replace")
        return before + len(first), before + len(last)

    return code_units(end), characters


def matching(expression: str, skipped: str, times: int = 1) -> Callable[[str], Span | None]:
    """Where an expression, as RE2 reads it, matches so many times first, behind marks that are `skipped`."""

    def look(text: str) -> Span | None:
        matches = [*islice(re.finditer(expression, text, re.ASCII), times)]
        if len(matches) < times:
            return None
        first = matches[0]
        return first.end() - len(first[0].lstrip(skipped) or first[0]), matches[-1].end()

    return look


def standing(look: Callable[..., Span | None], column: str, *others: str) -> Where:
    """Where `look` finds it in a text of each rollout, by that and other texts of it; of a response the token, too."""

    def where(run: Run, keys: Sequence[int]) -> tuple[dict[int, TextStretch], Tokens]:
        stretches, tokens, read = dict[int, TextStretch](), Tokens(), 0
        for key in keys:
            rollout = run.rollout(key)
            text = rollout[column]
            span = look(text, *(rollout[name] or "" for name in others)) if text else None
            if text is None or span is None:
                continue
            stretches[key] = TextStretch(column, *span)
            if column == "response" and rollout.tokens and read < MOST_TOKENS:
                read += len(rollout.tokens)
                token = token_at(rollout.tokens, span[0], text[slice(*span)])
                tokens += [] if token is None else [(key, token)]
        return stretches, tokens

    return where


def odd_or_rare(run: Run, keys: Sequence[int]) -> tuple[dict[int, TextStretch], Tokens]:
    """As `Where`: of rollouts that have rare tokens the rarest, and the text of those that stand together; else what is `odd`.

    Else the end at which `letter_pairs` looks: letters that make no word may be any.
    """
    stretches, tokens = standing(lambda text: odd(text) or letter_pairs.end(text), "response")(run, keys)
    rare, read = Tokens(), 0
    for key in keys:
        rollout = run.rollout(key)
        low, text = rare_tokens.places(rollout), rollout["response"]
        found = densest(low < 0, TOKEN_GAP)
        if found is None:
            continue
        rare.append((key, int(low.argmin())))
        if rollout.tokens and text and read < MOST_TOKENS:
            read += len(rollout.tokens)
            start, held = TokenSpans(rollout.tokens).held(slice(*found))
            at = text.find(held, max(0, start - len(held)))
            stretches |= {key: TextStretch("response", at, at + len(held))} if at >= 0 else {}
    return stretches, rare or tokens


def densest(marks: BoolArray, gap: int) -> Span | None:
    """Of marks (N,) that lie no more than `gap` apart those that are most, from the first to behind the last; the first of equals."""
    places = np.flatnonzero(marks)
    parts: list[NDArray[np.int64]] = np.split(places, np.flatnonzero(np.diff(places) > gap) + 1)
    most = max(parts, key=len)
    return (int(most[0]), int(most[-1]) + 1) if len(most) else None
