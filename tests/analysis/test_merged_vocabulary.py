"""Tests of names that are counted in bounded memory: exact while they are few, and of many it is known what may be missed."""

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from board.analysis.merged_vocabulary import NamesTally, TokenStretches, VocabularyGrid
from board.analysis.vocabulary import LEAST, RARE

Batches = list[dict[str, int]]

BATCHES = st.lists(st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(0, 40), max_size=12), max_size=8)


def table(counts: dict[str, int]) -> pa.Table:
    """As `summed` makes it of one stretch; a name with no token is among the names alone."""
    names = [*counts]
    rows = [at for at, name in enumerate(names) if counts[name]]
    token = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), pa.array(names, pa.large_string()))
    n = pa.array([counts[names[at]] for at in rows], pa.int64())
    return pa.table({"token": token, "stretch": pa.array([0] * len(rows), pa.int32()), "n": n})


def counted(batches: Batches, most: int) -> NamesTally:
    """A tally of them all."""
    tally = NamesTally(most)
    for one in batches:
        tally.add(table(one))
    return tally


@given(BATCHES)
def test_few_names_are_counted_exactly(batches: Batches) -> None:
    """In the order in which they came."""
    names, totals = counted(batches, 1_000).result()
    wanted: Counter[str] = Counter()
    for one in batches:
        wanted.update({**dict.fromkeys(one, 0), **one})
    assert dict(zip(names.to_pylist(), totals.tolist(), strict=True)) == wanted
    assert names.to_pylist() == [*wanted]


@given(BATCHES)
def test_of_many_names_what_is_missed_is_bounded(batches: Batches) -> None:
    """A name that is not remembered, or counted too low, was written at most so much more often than is told."""
    tally = counted(batches, 8)
    names, totals = tally.result()
    assert len(names) <= 8
    found = dict(zip(names.to_pylist(), totals.tolist(), strict=True))
    wanted: Counter[str] = Counter()
    for one in batches:
        wanted.update(one)
    for name, count in wanted.items():
        assert found.get(name, 0) <= count <= found.get(name, 0) + tally.missed


@given(BATCHES)
def test_the_rows_of_a_vocabulary_are_exact(batches: Batches) -> None:
    """Each token with a row of its own has all its tokens there, and the rest of them are among the rare ones."""
    tally = counted(batches, 8)
    grid = VocabularyGrid(tally, TokenStretches(np.array([3])))
    wanted: Counter[str] = Counter()
    for one in batches:
        grid.add(table(one))
        wanted.update(one)
    found = grid.vocabulary([])
    counts = dict(zip(found.names, found.counts[:, 0].tolist(), strict=True))
    assert sum(counts.values()) == wanted.total()
    assert all(counts[name] == wanted[name] >= LEAST for name in counts if name != RARE)
    assert found.missed == tally.missed
