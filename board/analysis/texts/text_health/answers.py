"""Whether the expected answer stands in the response, and in the prompt, which leaks it.

An answer is what verifiers compare: a number, a word, a formula. A ground truth of sentences is not searched for.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from board.analysis.rollouts.verifier_noise import ANSWERS
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
    Column(
        "answer_told",
        "number",
        "1 where the ground truth stands in the prompt behind a word like answer or solution, else 0",
        "0 or 1",
        "answer told",
    ),
    Column(
        "answer_marked",
        "number",
        "1 where the response marks a final answer: \\boxed, <answer>, ####, or a last sentence that says so",
        "0 or 1",
        "answer marked",
    ),
)

_MARKS: Final = (
    r"\\boxed\{[^}]*\}|<answer>(?s:.*?)</answer>|####[ \t]*\S"
    r"|(?i:\banswer(?:\s+is|\s*:)\s*[^\n]{1,80}\s*$)|答案(?:是|为|：|:)\s*[^\n]{1,80}\s*$"
)
"""A final answer with its mark, whole, or as the last sentence."""

_TELLING: Final = re.compile(
    r"(?:answer|solution|ground[ _]truth|correct|expected|target|label|key|result|hint|答案|正确|标准|解)[^\w\n]{0,4}"
    r"(?:(?:is|are|=|equals|key|should be|value|为|是)[^\w\n]{0,4}){0,2}[\s\W]{0,8}$"
)
"""What stands before an answer that is given away."""

LONGEST: Final = 100
"""Characters of the longest ground truth that is searched for."""

_FIELDS: Final = ("answer", "final_answer", "target", "ground_truth", "solution", "label")
"""Where a ground truth of JSON has the answer."""

_BEFORE: Final = 40
_WORD: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyz_")
_NUMBER: Final = re.compile(r"[-+]?[\d,]*\.?\d+")
_DIGITS_BEFORE: Final = re.compile(r"(?:\d[.,]|\.)$")
_DIGITS_BEHIND: Final = re.compile(r"[.,]\d")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SPACE: Final = re.compile(r"\s+")
_LAYOUT: Final = re.compile(r"\\(?:left|right|displaystyle|,|;|!| )|\$|\s+")
_MARKED: Final = tuple(re.compile(pattern) for _, pattern in ANSWERS)


def measure(response: pa.Array, prompt: pa.Array, truth: pa.Array) -> dict[str, Float64Array]:
    """Where each rollout's truth stands, 1 or 0, (n,); NaN where a text is missing or the truth no answer. Texts are large_string, (n,)."""
    marked = pc.match_substring_regex(response, _MARKS).cast(pa.float64()).to_numpy(zero_copy_only=False)
    nowhere = np.full(len(truth), np.nan)
    found = {"answer_present": nowhere, "answer_in_prompt": nowhere, "answer_told": nowhere, "answer_marked": marked}
    if truth.null_count == len(truth):
        return found
    coded = truth.dictionary_encode()
    answers = [[looked_for(one) for one in spellings(text)] for text in coded.dictionary.to_pylist()]
    codes = coded.indices.fill_null(-1).to_pylist()
    return found | {
        "answer_present": _per_pair(codes, response, answers, lambda before: True),
        "answer_in_prompt": _per_pair(codes, prompt, answers, lambda before: True),
        "answer_told": _per_pair(codes, prompt, answers, lambda before: _TELLING.search(before) is not None),
    }


def _per_pair(codes: list[int], texts: pa.Array, answers: list[list["LookedFor"]], fits: Callable[[str], bool]) -> Float64Array:
    """1 where a text has the answer of that code behind something that fits, else 0; NaN without either."""
    found = np.full(len(codes), np.nan)
    last: tuple[int, str | None] = (-1, None)
    value = np.nan
    for row, (code, text) in enumerate(zip(codes, texts.to_pylist(), strict=True)):
        if code < 0 or not answers[code] or text is None:
            continue
        if (code, text) != last:  # rollouts of a group stand together and share their prompt
            last, value = (code, text), float(any(fits(before) for places in answers[code] for before in places(text)))
        found[row] = value
    return found


def spellings(truth: str) -> list[str]:
    """The answers a ground truth names, as it spells them: all of a list of JSON, what it marks as final, else the whole of it.

    None where it is empty or longer than LONGEST.
    """
    text = truth.strip()
    if text[:1] in ("[", "{"):
        try:
            return _of_json(json.loads(text))
        except (ValueError, RecursionError):
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


LookedFor = Callable[[str], Iterator[str]]
"""From a text to what stands before the answer, in lower case, at each place where it stands."""


def looked_for(answer: str) -> LookedFor:
    """Finds an answer as a word of its own, whatever its case, white space, thousands' commas and LaTeX's layout."""
    plain = _SPACE.sub(" ", answer.casefold())
    number = _NUMBER.fullmatch(plain) is not None
    bare = _THOUSANDS.sub("", plain) if number else plain
    squeezed = _squeezed(plain) if "\\" in plain else ""

    def places(text: str) -> Iterator[str]:
        low = text.casefold()
        found = False
        for before in _words_before(low, bare, number):
            found = True
            yield before
        if found:
            return
        if number:
            yield from _words_before(_THOUSANDS.sub("", low), bare, number) if len(bare) > 3 and "," in low else ()
        elif squeezed:
            start, piece, _ = _squeezed(low).partition(squeezed)
            yield from (start[-_BEFORE:],) if piece else ()
        elif " " in bare:
            yield from _words_before(_SPACE.sub(" ", low), bare, number)

    return places


def stretch(text: str, truth: str) -> tuple[int, int] | None:
    """The characters of a text at which it states the answer of a ground truth, else at which it first has it, as `looked_for` finds it."""
    found = [place.span() for answer in spellings(truth) for place in _pattern(answer).finditer(text)]
    named = [span for span in found if _TELLING.search(text[max(span[0] - _BEFORE, 0) : span[0]].casefold())]
    return next(iter(named or found), None)


def _pattern(answer: str) -> re.Pattern[str]:
    """What `looked_for` finds, as an expression of the text as it is."""
    number = _NUMBER.fullmatch(answer) is not None
    between = ",?" if number else rf"(?:{_LAYOUT.pattern.removesuffix('+')})*" if "\\" in answer else ""
    bare = _THOUSANDS.sub("", answer) if number else _squeezed(answer) if between else answer
    units = re.findall(r"(?s)\\frac|.", _SPACE.sub(" ", bare))
    found = between.join(r"\\[dt]?frac" if one == r"\frac" else r"\s+" if one.isspace() else re.escape(one) for one in units)
    # scripts without spaces have words without edges
    left, right = (
        rf"(?{side}[0-9a-z_])" if letter.lower() in _WORD else "" for side, letter in (("<!", bare[:1]), ("!", bare[-1:]))
    )
    return re.compile(rf"(?<!\d[.,])(?<!\.){left}{found}{right}(?![.,]\d)" if number else left + found + right, re.IGNORECASE)


def _squeezed(text: str) -> str:
    return _LAYOUT.sub("", text).replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")


def _words_before(text: str, piece: str, number: bool) -> Iterator[str]:
    """What stands before a piece at each place where it is no part of a longer word or number; both in lower case."""
    at = text.find(piece)
    while at >= 0:
        stop = at + len(piece)
        # scripts without spaces have words without edges
        joined = (at > 0 and piece[0] in _WORD and text[at - 1] in _WORD) or (
            stop < len(text) and piece[-1] in _WORD and text[stop] in _WORD
        )
        if not joined and not (number and (_DIGITS_BEFORE.search(text, max(at - 2, 0), at) or _DIGITS_BEHIND.match(text, stop))):
            yield text[max(at - _BEFORE, 0) : at]
        at = text.find(piece, at + 1)
