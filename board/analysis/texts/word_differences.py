"""Words that the responses of one run hold more than those of another."""

from typing import Final

import pandas as pd

from board.analysis.stats.log_odds import against_shared_prior
from board.analysis.texts.word_use import WordUse

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
