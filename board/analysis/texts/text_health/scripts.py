"""Scripts of a response: those foreign to its prompt, and switches within a sentence.

Counted is what is language: words. A variable, a command of LaTeX, code between backticks, an acronym or a CamelCase name among Chinese
characters is no change of language; neither is kanji among kana.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.texts.text_health.texts import CodeUnits
from board.metrics.formulas import Float64Array
from board.schema import Column
from board.text.code_points import PLANE, held

COLUMNS: Final = (
    Column(
        "foreign_script",
        "number",
        "share of the letters of words, code and names left out, in scripts that neither the prompt nor the ground truth has",
        "share",
        "foreign script",
    ),
    Column(
        "minor_scripts",
        "number",
        "share of the letters of words, code and names left out, that are not in the response's commonest script",
        "share",
        "minor scripts",
    ),
    Column(
        "script_switches",
        "number",
        "changes from a word in one script to a word in another within a sentence; code, formulas and names are no words",
        "per 100 characters",
        "script switches",
    ),
)

SCRIPTS: Final = ("Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Devanagari", "Thai", "Hangul", "Kana", "Han")
"""Of Unicode, but that Hiragana and Katakana are one; other letters count as of no script."""

_FIRST: Final = 4
"""Class of the first script, below which are: neither letter nor mark, END of a sentence, CODE, and UPPER-case Latin."""
_END, _CODE, _UPPER = 1, 2, 3
_LATIN, _GREEK, _KANA, _HAN = (_FIRST + SCRIPTS.index(name) for name in ("Latin", "Greek", "Kana", "Han"))
_CLASSES: Final = _FIRST + len(SCRIPTS)
_SINGLE: Final = (_KANA, _HAN, _FIRST + SCRIPTS.index("Hangul"))
"""Scripts in which one letter is a word; elsewhere it is a variable or a list's letter."""

_TICK, _DOLLAR, _NEWLINE = (ord(mark) for mark in "`$\n")


@cache
def _classes() -> NDArray[np.uint8]:
    """The class of every UTF-16 unit. Shape (65536,)."""
    found = np.zeros(PLANE, np.uint8)
    for at, script in enumerate(SCRIPTS):
        found[held(r"[\p{Hiragana}\p{Katakana}ーｰ]" if script == "Kana" else rf"[\p{{{script}}}&&\p{{L}}]")] = _FIRST + at
    found[held(r"[\p{Latin}&&\p{Lu}]")] = _UPPER
    found[[ord(mark) for mark in ".!?;\n。！？；…"]] = _END
    found[[ord(mark) for mark in "0123456789_\\/@#={}<>^"]] = _CODE
    # the first half of a character above the Basic Multilingual Plane: of planes 2 and 3, which are CJK ideographs
    found[0xD840:0xD8C0] = _HAN
    return found


def scripts_of(text: CodeUnits) -> NDArray[np.uint16]:
    """The scripts that each text has a letter of, (n,): bit i for class i; 0 for none."""
    bits = np.where(np.arange(256) >= _UPPER, 1 << np.arange(256).clip(0, 15), 0).astype(np.uint16)
    bits[_UPPER] = bits[_LATIN]
    return text.over(np.bitwise_or, bits[_classes()][text.values]).astype(np.uint16)


def measure(text: CodeUnits, allowed: NDArray[np.uint16]) -> dict[str, Float64Array]:
    """The measures of each response, (n,); NaN for an empty one, and `foreign_script` where `allowed` has no script.

    `allowed` (n,) are the scripts (`scripts_of`) of prompt and ground truth. Where a text or what is allowed has kana, Han counts as its script.
    """
    latin = 1 << _LATIN
    plain = ((scripts_of(text) | latin) == latin) & ((allowed & latin) > 0)
    found = {name: np.where(text.sizes > 0, 0.0, np.nan) for name in ("foreign_script", "minor_scripts", "script_switches")}
    others = np.flatnonzero(~plain)  # Latin alone, which is allowed, needs no closer look
    for name, values in _measured(text.chosen(others), allowed[others]).items():
        found[name][others] = values
    return found


def _measured(text: CodeUnits, allowed: NDArray[np.uint16]) -> dict[str, Float64Array]:
    """As `measure`, of any text."""
    runs = _words(text)
    allowed = _with_han(allowed)
    letters = np.bincount(runs.row * _CLASSES + runs.script, runs.length, len(text) * _CLASSES).reshape(-1, _CLASSES)
    total = letters.sum(axis=1)
    known = (allowed[:, np.newaxis] >> np.arange(_CLASSES)) & 1
    foreign = (letters * (1 - known)).sum(axis=1) / np.maximum(total, 1)
    switches = np.bincount(runs.row[1:][runs.switched], minlength=len(text))
    empty = text.sizes == 0
    return {
        "foreign_script": np.where(empty | (allowed == 0), np.nan, foreign),
        "minor_scripts": np.where(empty, np.nan, 1 - np.where(total > 0, letters.max(axis=1) / np.maximum(total, 1), 1)),
        "script_switches": np.where(empty, np.nan, 100 * switches / np.maximum(text.sizes, 1)),
    }


def other_places(text: CodeUnits, prompt: CodeUnits) -> NDArray[np.bool_]:
    """Which units of one text are of words in scripts that its prompt has no letter of, else not in its own commonest. Shape (N,)."""
    runs = _words(text)
    minor = (_with_han(scripts_of(prompt))[0] >> runs.script) & 1 == 0
    if not minor.any() or minor.all():
        minor = runs.script != np.bincount(runs.script, runs.length, _CLASSES).argmax()
    edges = np.zeros(len(text.values) + 1, np.int64)
    np.add.at(edges, runs.start[minor], 1)
    np.add.at(edges, (runs.start + runs.length)[minor], -1)
    return np.cumsum(edges)[:-1] > 0


def _with_han(allowed: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Scripts, as of `scripts_of`, with Han where there is kana: kanji are of the same language."""
    return np.where(allowed & (1 << _KANA), allowed | (1 << _HAN), allowed)


@dataclass(frozen=True)
class _Words:
    """Stretches of letters of one script that are language, in order, W in all. Shape (W,) each."""

    row: NDArray[np.int64]
    start: NDArray[np.int64]
    """Among the units."""
    script: NDArray[np.int64]
    length: NDArray[np.int64]
    sentence: NDArray[np.int64]
    """A number that no two sentences of the block share."""

    @property
    def switched(self) -> NDArray[np.bool_]:
        """Where the next word is of the same sentence and another script. (W − 1,)"""
        same = (self.row[1:] == self.row[:-1]) & (self.sentence[1:] == self.sentence[:-1])
        changed: NDArray[np.bool_] = same & (self.script[1:] != self.script[:-1])
        return changed


def _words(text: CodeUnits) -> _Words:
    classes = _classes()[text.values]
    if not len(classes):
        none = np.zeros(0, np.int64)
        return _Words(none, none, none, none, none)
    upper = classes == _UPPER
    script = np.where(upper, _LATIN, classes)
    code = _in_code(text)
    bounds = np.zeros(len(script), np.bool_)
    bounds[text.offsets[:-1][text.sizes > 0]] = True
    bounds[1:] |= (script[1:] != script[:-1]) | (code[1:] != code[:-1])
    starts = np.flatnonzero(bounds)
    lengths = np.diff(np.append(starts, len(script)))
    of = script[starts].astype(np.int64)
    row = np.searchsorted(text.offsets, starts, "right") - 1
    code_piece = np.concatenate([[False], (of == _CODE) & (row >= 0), [False]])
    close = (code_piece[:-2] & (np.diff(row, prepend=-1) == 0)) | (code_piece[2:] & (np.diff(row, append=-1) == 0))
    named = (of == _LATIN) & (close | (np.add.reduceat(upper.astype(np.int64), starts) > 0))
    word = (of >= _LATIN) & ~named & ~code[starts] & ((lengths > 1) | np.isin(of, _SINGLE))
    sentence = np.cumsum(of == _END)
    of, row, starts, lengths, sentence = (one[word] for one in (of, row, starts, lengths, sentence))
    kana = np.bincount(row[of == _KANA], minlength=len(text)) > 0
    return _Words(row, starts, np.where((of == _HAN) & kana[row], _KANA, of), lengths, sentence)


def _in_code(text: CodeUnits) -> NDArray[np.bool_]:
    """Units between backticks or dollars of one line, or behind an odd fence of three backticks. Shape (N,)."""
    tick, dollar = text.values == _TICK, text.values == _DOLLAR
    inside = np.zeros(len(text.values), np.bool_)
    if not (tick.any() or dollar.any()):
        return inside
    fence = tick.copy()
    fence[2:] &= tick[1:-1] & tick[:-2]
    fence[:2] = False
    fence[3:] &= ~fence[2:-1]
    row_starts = np.zeros(len(inside), np.bool_)
    row_starts[text.offsets[:-1][text.sizes > 0]] = True
    line_starts = row_starts.copy()
    line_starts[1:] |= text.values[:-1] == _NEWLINE
    for marks, starts in ((fence, row_starts), (tick, line_starts), (dollar, line_starts)):
        before = np.cumsum(marks) - marks
        at_start = np.maximum.accumulate(np.where(starts, before, 0))
        inside |= ((before - at_start) % 2).astype(np.bool_)
    return inside
