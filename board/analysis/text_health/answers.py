"""Whether the expected answer stands in a text: in the response, where it belongs, and in the prompt, where it gives it away.

Told of answers as verifiers compare them: a number, a word, a formula. A ground truth of sentences is no answer that could be looked for.
Knows no rewards.
"""

import json
import re
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from board.analysis.verifier_noise import ANSWERS
from board.metrics.formulas import Float64Array
from board.schema import Column

COLUMNS: Final = (
    Column(
        "answer_present",
        "number",
        "1 where the ground truth stands in the response's last 10,000 characters, else 0; missing where it is longer than an answer",
        "0 or 1",
        "answer present",
    ),
    Column(
        "answer_in_prompt",
        "number",
        "1 where the ground truth stands in the prompt's last 10,000 characters, else 0: by chance, too, where it is short",
        "0 or 1",
        "answer in prompt",
    ),
)

LONGEST: Final = 100
"""Characters of the longest ground truth that is looked for."""

_FIELDS: Final = ("answer", "final_answer", "target", "ground_truth", "solution", "label")
"""Where a ground truth of JSON has the answer."""

_WORD: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyz_")
_NUMBER: Final = re.compile(r"[-+]?[\d,]*\.?\d+")
_DIGITS_BEFORE: Final = re.compile(r"(?:\d[.,]|\.)$")
_DIGITS_BEHIND: Final = re.compile(r"[.,]\d")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SPACE: Final = re.compile(r"\s+")
_LAYOUT: Final = re.compile(r"\\(?:left|right|displaystyle|,|;|!| )|\$|\s+")
_MARKED: Final = tuple(re.compile(pattern) for _, pattern in ANSWERS)


def measure(response: pa.Array, prompt: pa.Array, truth: pa.Array) -> dict[str, Float64Array]:
    """Whether each rollout's truth stands in its response and in its prompt, 1 or 0, (n,); NaN where one is missing or no answer."""
    found = {"answer_present": np.full(len(truth), np.nan), "answer_in_prompt": np.full(len(truth), np.nan)}
    if truth.null_count == len(truth):
        return found
    coded = truth.dictionary_encode()
    wanted = [_wanted(one) for one in coded.dictionary.to_pylist()]
    codes = coded.indices.fill_null(-1).to_pylist()
    for name, texts in zip(found, (response.to_pylist(), prompt.to_pylist()), strict=True):
        for row, (code, text) in enumerate(zip(codes, texts, strict=True)):
            if code >= 0 and wanted[code] and text is not None:
                found[name][row] = any(stands(text) for stands in wanted[code])
    return found


def _wanted(truth: str) -> list[Callable[[str], bool]]:
    """For each spelling of an answer whether a text has it; none where the truth is no answer."""
    return [looked_for(one) for one in spellings(truth)]


def spellings(truth: str) -> list[str]:
    """The answers a ground truth names, as it spells them: all of a list of JSON, what it marks as final, else the whole of it.

    None where it is empty or longer than LONGEST.
    """
    text = truth.strip()
    if text[:1] in ("[", "{"):
        try:
            return _of_json(json.loads(text))
        except ValueError:
            pass  # text in brackets is an answer like any other: [0, 1)
    for pattern in _MARKED:
        marked = pattern.match(text)
        if marked:
            text = marked["answer"].strip()
            break
    return [text] if 0 < len(text) <= LONGEST else []


def _of_json(value: object) -> list[str]:
    if isinstance(value, dict):
        return next((_of_json(value[name]) for name in _FIELDS if name in value), [])
    if isinstance(value, list):
        return [one for part in value for one in _of_json(part)]
    return spellings(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else []


def looked_for(answer: str) -> Callable[[str], bool]:
    """A test whether a text has the answer as a word of its own, whatever its case, white space, thousands' commas and LaTeX's layout."""
    plain = _SPACE.sub(" ", answer.casefold())
    number = _NUMBER.fullmatch(plain) is not None
    bare = _THOUSANDS.sub("", plain) if number else plain
    squeezed = _squeezed(plain) if "\\" in plain else ""

    def stands(text: str) -> bool:
        low = text.casefold()
        if _has_word(low, bare, number):
            return True
        if number:
            return len(bare) > 3 and "," in low and _has_word(_THOUSANDS.sub("", low), bare, number)
        if squeezed:
            return squeezed in _squeezed(low)
        return " " in bare and _has_word(_SPACE.sub(" ", low), bare, number)

    return stands


def _squeezed(text: str) -> str:
    return _LAYOUT.sub("", text).replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")


def _has_word(text: str, piece: str, number: bool) -> bool:
    """Whether a piece stands in a text, both in lower case, and is no part of a longer word or number."""
    at = text.find(piece)
    while at >= 0:
        stop = at + len(piece)
        # scripts without spaces have words without edges
        joined = (at > 0 and piece[0] in _WORD and text[at - 1] in _WORD) or (
            stop < len(text) and piece[-1] in _WORD and text[stop] in _WORD
        )
        if not joined and not (number and (_DIGITS_BEFORE.search(text, max(at - 2, 0), at) or _DIGITS_BEHIND.match(text, stop))):
            return True
        at = text.find(piece, at + 1)
    return False
