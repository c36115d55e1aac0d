"""How responses end: end token, cut off, inside a sentence, thought, fence, formula, JSON."""

import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from board.analysis.texts.text_health.texts import column, named, over
from board.metrics.formulas import BoolArray, Float64Array
from board.runs.cache.parts import COUNTS, PADS, Part
from board.schema import TOKENS, Column
from board.text.padding import ALL_ENDS, CUT_REASONS, LEAST_ENDS, OFTEN, REASONS, SPECIAL
from board.text.token_decoding import Codec, bytes_of

COLUMNS: Final = (
    Column(
        "ended",
        "number",
        "1 where the last token, padding left out, is an end token, one that texts lack, else 0",
        "0 or 1",
        "end token",
    ),
    Column("tokens_after_end", "number", "tokens after the first end token that count: neither padding nor masked", "tokens"),
    Column(
        "cut_off",
        "number",
        "1 where finish_reason, stop_reason or `truncated` says the response was cut, else 0",
        "0 or 1",
        "cut off",
    ),
    Column(
        "open_thought", "number", "1 where thinking is opened, in the prompt or the response, and not closed, else 0", "0 or 1"
    ),
    Column(
        "thought_only",
        "number",
        "1 where thinking is opened and no answer follows, else 0; missing where nothing is thought",
        "0 or 1",
    ),
    Column("open_fence", "number", "1 where a fence of code (```) is opened and not closed, else 0", "0 or 1"),
    Column("open_formula", "number", r"1 where \[, \(, \begin, \boxed{ or $$ is opened and not closed, else 0", "0 or 1"),
    Column("open_json", "number", "1 where a response that begins as JSON does not end as such, else 0", "0 or 1"),
    Column("inside_sentence", "number", "1 where the response ends in a letter, a comma or an open bracket, else 0", "0 or 1"),
)

_CODECS: Final[tuple[Codec, ...]] = ("plain", "byte-level", "sentencepiece")
_READ: Final = 50
"""At most this many of their texts are read."""
_BEFORE: Final = 4
"""Tokens, and characters of theirs, before the last one, with which a text must end."""
_NEARLY_ALL: Final = 0.9

THOUGHT_TAGS: Final = (
    *((f"<{name}>", f"</{name}>") for name in ("think", "thinking", "thought", "reasoning", "scratchpad")),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)
"""How models mark what they think: most, Kimi, Magistral."""

_THINKS: Final = "|".join(re.escape(tag) for tags in THOUGHT_TAGS for tag in tags)
_THINKS_AT_END: Final = "(?:" + "|".join(re.escape(opening) for opening, _ in THOUGHT_TAGS) + r")\s*$"

_NOTHING: Final = re.compile(r"(?:\s|<[/|｜][^<>]{0,40}>|</?(?:s|eos|pad|answer|final)>|\[EOS\])*")
"""White space, and tags or special tokens, which are no answer."""

_PAIRS: Final = ((r"\[", r"\]"), (r"\(", r"\)"), (r"\begin{", r"\end{"))
"""What opens and closes a formula."""
_OPEN_BOX: Final = r"\\boxed\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*$"

_AS_JSON: Final = r'^\s*(?:\{\s*"|\[\s*[{"\[\d])'
_JSON_ENDS: Final = r"[\]}]\s*$"

_INSIDE: Final = r"[\pL,;:(\[{，、；：（「『“=+]\s*$"


def measure(part: Part, texts: pa.Array) -> dict[str, Float64Array]:
    """Every measure of how the responses `texts` end, (n,) each; NaN where a rollout lacks the fields."""
    return {**_by_tokens(part, texts), "cut_off": _cut_off(part), **_thoughts(column(part, "prompt"), texts), **_unclosed(texts)}


def _by_tokens(part: Part, texts: pa.Array) -> dict[str, Float64Array]:
    """`ended` and `tokens_after_end`; NaN where a rollout has no tokens, or they are ids."""
    ended, after = np.full(len(part), np.nan), np.full(len(part), np.nan)
    if TOKENS not in part.tokens.column_names:
        return {"ended": ended, "tokens_after_end": after}
    tokens, pads, counts = (part.tokens.column(name).chunk(0) for name in (TOKENS, PADS, COUNTS))
    bounds = tokens.offsets.to_numpy()
    base = int(bounds[0])
    bounds = bounds - base
    own, counted = ~named(tokens, pads), named(tokens, counts)
    last = over(np.maximum, np.where(own, np.arange(len(own)), -1), bounds)
    has_tokens = (np.diff(bounds) > 0) & (last >= bounds[:-1])
    coded = tokens.values.slice(base, len(own)).dictionary_encode()
    names = [*coded.dictionary.to_pylist(), ""]
    codes = coded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
    known = np.array([name in ALL_ENDS for name in names], np.bool_)
    first = over(np.minimum, np.where(known[codes] & own, np.arange(len(own)), len(own)), bounds)
    rows = np.flatnonzero(has_tokens)
    known |= _learned(names, np.bincount(codes[own], minlength=len(names)), codes, last[rows], texts.take(pa.array(rows)))
    behind = np.concatenate([[0], np.cumsum(counted)])
    ended[has_tokens] = known[codes[last[has_tokens]]]
    after[has_tokens] = behind[bounds[1:][has_tokens]] - behind[np.minimum(first[has_tokens] + 1, bounds[1:][has_tokens])]
    return {"ended": ended, "tokens_after_end": after}


def _learned(
    names: list[str], counts: NDArray[np.int64], codes: NDArray[np.int32], last: NDArray[Any], texts: pa.Array
) -> BoolArray:
    """Which names, (t,), end responses whose texts end before them: often enough, and hardly elsewhere, or written as special tokens are.

    `counts` (t,) are of all places, `last` (n,) says where among `codes` (N,) each response's last token stands.
    """
    found = np.zeros(len(names), np.bool_)
    finals = np.bincount(codes[last], minlength=len(names))
    for code in np.flatnonzero(finals >= max(LEAST_ENDS, OFTEN * len(last))).tolist():
        special = SPECIAL.fullmatch(names[code]) is not None
        if special or finals[code] > counts[code] / 2:
            some = np.flatnonzero(codes[last] == code)[:_READ]
            before = [[names[one] for one in codes[max(0, last[row] - _BEFORE) : last[row]]] for row in some]
            pairs = zip(before, texts.take(pa.array(some)).to_pylist(), strict=True)
            found[code] = special or np.mean([_ends_before(names[code], tokens, text) for tokens, text in pairs]) >= _NEARLY_ALL
    return found


def _ends_before(name: str, before: list[str], text: str | None) -> bool:
    """Whether a text ends with the tokens before its last one, and without that one."""
    for codec in _CODECS:
        end, last = (b"".join(bytes_of(codec, one) for one in some).decode(errors="ignore").strip() for some in (before, [name]))
        if text and end and last and text.rstrip().endswith(end[-_BEFORE:]) and not text.rstrip().endswith(last):
            return True
    return False


def _cut_off(part: Part) -> Float64Array:
    found = np.full(len(part), np.nan)
    if "truncated" in part.scalars.column_names:
        truncated = part.scalars.column("truncated").combine_chunks()
        if pa.types.is_floating(truncated.type):
            numbers = truncated.to_numpy(zero_copy_only=False).astype(np.float64)
            found = np.where(np.isin(numbers, (0, 1)), numbers, np.nan)  # such as a count of tokens, which is neither
    for name in REASONS:
        reasons = column(part, name)
        is_cut = pc.is_in(reasons, pa.array(sorted(CUT_REASONS), pa.large_string())).to_numpy(zero_copy_only=False)
        known = reasons.is_valid().to_numpy(zero_copy_only=False) & np.isnan(found)
        found[known] = is_cut[known]
    return found


def _matches(texts: pa.Array, pattern: str) -> BoolArray:
    found: BoolArray = pc.match_substring_regex(texts, pattern).fill_null(False).to_numpy(zero_copy_only=False)
    return found


def _thoughts(prompts: pa.Array, texts: pa.Array) -> dict[str, Float64Array]:
    present = texts.is_valid().to_numpy(zero_copy_only=False)
    begun = _matches(prompts, _THINKS_AT_END)
    is_open, only = np.where(present, 0.0, np.nan), np.full(len(texts), np.nan)
    thinking = np.flatnonzero(present & (begun | _matches(texts, _THINKS)))
    for row, text in zip(thinking.tolist(), texts.take(pa.array(thinking)).to_pylist(), strict=True):
        opened = max(text.rfind(opening) for opening, _ in THOUGHT_TAGS)
        closed = max((text.rfind(closing), len(closing)) for _, closing in THOUGHT_TAGS)
        is_open[row] = opened > closed[0] or closed[0] < 0
        only[row] = is_open[row] or _NOTHING.fullmatch(text, sum(closed)) is not None
    return {"open_thought": is_open, "thought_only": only}


def _unclosed(texts: pa.Array) -> dict[str, Float64Array]:
    present = texts.is_valid().to_numpy(zero_copy_only=False)
    fence = _count(texts, "```") % 2 == 1
    formula = np.zeros(len(texts), np.bool_)
    some = np.flatnonzero(_matches(texts, r"\\[\[(bB]|\$\$"))
    if len(some):
        marked = texts.take(pa.array(some))
        formula[some] = (_count(marked, "$$") % 2 == 1) | _matches(marked, _OPEN_BOX)
        for opening, closing in _PAIRS:
            formula[some] |= _count(marked, opening) > _count(marked, closing)
    found = {
        "open_fence": fence,
        "open_formula": formula,
        "open_json": _matches(texts, _AS_JSON) & ~_matches(texts, _JSON_ENDS),
        "inside_sentence": _matches(texts, _INSIDE),
    }
    return {name: np.where(present, marks, np.nan) for name, marks in found.items()}


def _count(texts: pa.Array, piece: str) -> NDArray[np.int64]:
    found: NDArray[np.int64] = pc.count_substring(texts, piece).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found
