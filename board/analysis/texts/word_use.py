"""Words or tokens in the responses of a run, how often and in how many, and those that one run holds more than another.

Looks at a sample of a large run (`board.analysis.texts.phrase_sample`). Words are cut as phrases are (`board.text.text_units`): scripts without
spaces go by two characters, marks and ends of lines count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from board.analysis.stats.log_odds import against_shared_prior
from board.analysis.texts.phrase_sample import PhraseSample, phrase_sample
from board.runs.cache.parts import Part
from board.runs.run import Run
from board.schema import TOKENS
from board.text.text_units import Units, cut
from board.text.token_decoding import codec_of_several, decoded

LEAST: Final = 2
"""What fewer responses of a run hold is not listed."""

_CODEC_RESPONSES: Final = 20

_PAIRED: Final = np.uint64(0xBF58476D1CE4E5B9)

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class WordUse:
    """The words of n responses of a run."""

    table: pd.DataFrame
    """By word: `count`, how often it is written, and `responses`, how many hold it, both of the sampled ones; LEAST or more."""
    responses: int
    """How many responses were sampled."""
    of: int
    """How many there are."""


def words(run: Run) -> WordUse:
    """The words of the responses in the run's frame; none where it has no responses."""
    sample = phrase_sample(run)
    units = cut(sample.texts)
    text_of = np.repeat(np.arange(len(sample.texts), dtype=np.int64), np.diff(units.offsets))
    begin, end, hashes = _words(units, text_of)
    codes, names = pd.factorize(hashes)
    count, responses = _counted(codes.astype(np.int64), text_of[begin], len(names))
    firsts = np.zeros(len(names), np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # of places that are named often the last one written stays
    listed = np.flatnonzero(responses >= LEAST)
    found = [
        sample.texts[text][start:stop]
        for text, start, stop in zip(
            text_of[begin[firsts[listed]]].tolist(),
            units.starts[begin[firsts[listed]]].tolist(),
            units.stops[end[firsts[listed]]].tolist(),
            strict=True,
        )
    ]
    return WordUse(_table(found, count[listed], responses[listed]), len(sample.texts), sample.of)


def _words(units: Units, text_of: IntArray) -> tuple[IntArray, IntArray, NDArray[np.uint64]]:
    """The first and the last unit of each word, and a number that is equal for equal words."""
    at = np.arange(len(text_of))
    touching = np.zeros(
        len(at) + 1, bool
    )  # whether a unit and the one before are letters of one script without spaces, side by side
    if len(at) > 1:
        both = units.unspaced[1:] & units.unspaced[:-1]
        touching[1:-1] = both & (text_of[1:] == text_of[:-1]) & (units.starts[1:] == units.stops[:-1])
    alone = np.flatnonzero(~units.gaps & ~touching[:-1] & ~touching[1:])
    second = np.flatnonzero(touching[:-1])
    paired = units.hashes[second - 1] * _PAIRED ^ units.hashes[second]
    begin = np.concatenate([alone, second - 1])
    return begin, np.concatenate([alone, second]), np.concatenate([units.hashes[alone], paired])


def tokens(run: Run) -> WordUse:
    """The tokens that count, as they read, of the responses in the run's frame that name theirs."""
    sample = phrase_sample(run)
    chosen = run.of_rows(run.frame.index.isin(sample.keys) if len(sample.keys) else np.ones(len(run.frame), bool), "looked at")
    pieces = [piece for part, _, rows in chosen.parts_of_rows() for piece in _of_part(part, rows)]
    codec = codec_of_several(_first_responses(chosen, sample))
    known: dict[str, int] = {}
    codes, response, before = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for names, token, row, held in pieces:
        meant = np.array([known.setdefault(decoded(codec, name or ""), len(known)) for name in names], np.int64)
        codes.append(meant[token])
        response.append(row + before)
        before += held
    count, responses = _counted(np.concatenate(codes), np.concatenate(response), len(known))
    listed = np.flatnonzero(responses >= LEAST)
    every = [*known]
    return WordUse(_table([every[at] for at in listed.tolist()], count[listed], responses[listed]), before, len(run.frame))


def _of_part(part: Part, rows: IntArray) -> Iterator[tuple[list[str | None], IntArray, IntArray, int]]:
    """Of some rollouts of a part that name their tokens: the names, which each token has, which response it is of, and how many there are."""
    if TOKENS not in part.tokens.column_names:
        return
    lists = part.tokens.column(TOKENS).chunk(0)
    named = rows[lists.is_valid().to_numpy(zero_copy_only=False)[rows]]
    for alike in part.alike(named, ()):
        encoded = lists.take(pa.array(alike.rows)).values.dictionary_encode()
        response = np.repeat(np.arange(len(alike.rows), dtype=np.int64), np.diff(alike.offsets))
        token = encoded.indices.to_numpy().astype(np.int64)
        yield encoded.dictionary.to_pylist(), token[alike.counts], response[alike.counts], len(alike.rows)


def _first_responses(run: Run, sample: PhraseSample) -> list[list[str]]:
    """The tokens of some responses, to find the codec."""
    keys = sample.keys if len(sample.keys) else run.frame.index.to_numpy()
    found = [run.tokens_of(int(key)) for key in keys[:_CODEC_RESPONSES].tolist()]
    return [[name or "" for name in one.to_pylist()] for one in found if one is not None]


def _counted(codes: IntArray, texts: IntArray, names: int) -> tuple[IntArray, IntArray]:
    """How often each name stands in the texts, and in how many; `codes` and `texts` are which name stands where."""
    held = np.unique(texts * max(1, names) + codes)
    count, responses = (np.bincount(one, minlength=names).astype(np.int64) for one in (codes, held % max(1, names)))
    return count, responses


def _table(found: list[str], count: IntArray, responses: IntArray) -> pd.DataFrame:
    """One row for each word, those of the same text together."""
    table = pd.DataFrame({"count": count, "responses": responses}, index=pd.Index(found, dtype=object, name="word"))
    return table if table.index.is_unique else table.groupby(level=0, sort=False).sum()


COLUMNS: Final = ("word", "count_a", "count_b", "responses_a", "responses_b", "share_a", "share_b", "delta", "z")
"""Columns of `word_differences`, in order."""


def word_differences(a: WordUse, b: WordUse) -> pd.DataFrame:
    """A row for each word of either run, columns COLUMNS, those first that stand out most in B's responses, last those that do in A's.

    `delta` and `z` are the log-odds that a response holds the word, of B against A, with both runs as an informative Dirichlet prior
    (`board.analysis.stats.log_odds`): responses are counted, not words, so that one response that repeats a word says it once. Responses of one
    prompt are alike, so that z ranks and is no probability. Empty where either run has no response.
    """
    both = a.table.add_suffix("_a").join(b.table.add_suffix("_b"), how="outer").fillna(0).astype("int64")
    if not a.responses or not b.responses:
        both = both.iloc[:0]
    of_a, of_b = both["responses_a"].to_numpy(), both["responses_b"].to_numpy()
    odds = against_shared_prior(of_b, of_a, (b.responses, a.responses))
    shares = {"share_a": of_a / max(1, a.responses), "share_b": of_b / max(1, b.responses)}
    found = both.rename_axis("word").reset_index().assign(**shares, delta=odds.delta, z=odds.z)
    ordered = found.sort_values(["z", "word"], ascending=[False, True], kind="stable", ignore_index=True)
    return ordered[list(COLUMNS)]
