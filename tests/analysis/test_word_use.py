"""Which words and tokens the responses of a run hold, how many responses, and which of them another run holds more."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import row, write_run

from board.analysis.stats.log_odds import PRIOR_SHARE
from board.analysis.texts import word_use
from board.analysis.texts.word_use import COLUMNS, WordUse, word_differences
from board.runs.opening import opened_whole
from board.runs.run import Run


def run_of(folder: Path, responses: list[str | None], **fields: list[object]) -> Run:
    """A run of these responses, all of step 0."""
    rows = [row(0, response=text, **{name: of[at] for name, of in fields.items()}) for at, text in enumerate(responses)]
    return opened_whole(write_run(folder, {"rank_0.jsonl": rows}))


def counted(found: WordUse) -> dict[str, tuple[int, int]]:
    """How often each word is written, and in how many responses."""
    return {str(word): (int(one["count"]), int(one["responses"])) for word, one in found.table.iterrows()}


CUT: dict[str, tuple[list[str | None], dict[str, tuple[int, int]]]] = {
    "words by spaces": (["a b  a", "a\tc"], {"a": (3, 2)}),
    "apostrophes and digits": (["don't 12", "don't 12."], {"don't": (2, 2), "12": (2, 2)}),
    "capitals are told apart": (["The the", "the"], {"the": (2, 2)}),
    "marks, and many as a few": (["a--------b", "c------ d"], {"--------": (2, 2)}),
    "ends of lines": (["a\nb", "c\nd"], {"\n": (2, 2)}),
    "scripts without spaces by two": (["我们好", "我们 好"], {"我们": (2, 2)}),
    "one letter of such a script alone": (["好 a", "x 好"], {"好": (2, 2)}),
    "no response": (["a", None, "a"], {"a": (2, 2)}),
}


@pytest.mark.parametrize("name", CUT)
def test_words(tmp_path: Path, name: str) -> None:
    """What two responses hold at least; one that repeats a word counts once among the responses."""
    texts, expected = CUT[name]

    found = word_use.words(run_of(tmp_path, texts))

    assert counted(found) == expected
    assert found.responses == sum(text is not None for text in texts)


@settings(max_examples=15)
@given(texts=st.lists(st.lists(st.sampled_from(["so", "then", "x1", "A"]), max_size=6), min_size=1, max_size=6))
def test_words_are_counted_as_a_counter_does(tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]]) -> None:
    """Against the standard library."""
    found = word_use.words(run_of(tmp_path_factory.mktemp("run"), [" ".join(words) for words in texts]))

    every, held = Counter(word for words in texts for word in words), Counter(word for words in texts for word in {*words})
    assert counted(found) == {word: (every[word], held[word]) for word in every if held[word] >= word_use.LEAST}


def test_tokens(tmp_path: Path) -> None:
    """As they read, those that count; names of bytes that read alike are one token."""
    tokens = [["Ġa", "Ċ", "Ġb"], ["Ġa", "Ġb", "Ġa"], None]
    run = run_of(tmp_path, [" a\n b", " a b a", "a"], response_tokens=[*tokens], loss_mask=[[1, 1, 0], [1, 1, 1], None])

    found = word_use.tokens(run)

    assert counted(found) == {" a": (3, 2)}
    assert (found.responses, found.of) == (2, 3)


def test_a_run_without_responses_or_tokens_has_no_words(tmp_path: Path) -> None:
    """Nothing is told of it, and nothing fails."""
    run = run_of(tmp_path, [None], reward=[1.0])

    assert word_use.words(run).table.empty
    assert word_use.tokens(run).table.empty
    assert (word_use.words(run).responses, word_use.tokens(run).responses) == (0, 0)


def use(responses: int, **held: int) -> WordUse:
    """Words by how many responses hold them, each written twice there."""
    table = pd.DataFrame({"count": [2 * one for one in held.values()], "responses": [*held.values()]}, index=[*held])
    return WordUse(table.astype("int64"), responses, responses)


def test_what_one_run_alone_says_stands_at_its_end() -> None:
    """B's own words first, A's last, what both say between; log-odds as Monroe and others have them, written out."""
    found = word_differences(use(100, both=50, mine=30), use(200, both=100, yours=60))

    assert list(found.columns) == list(COLUMNS)
    assert found["word"].tolist() == ["yours", "both", "mine"]
    assert found[["count_a", "responses_b"]].to_numpy().tolist() == [[0, 60], [100, 100], [60, 0]]
    assert found[["share_a", "share_b"]].to_numpy().tolist() == [[0, 0.3], [0.5, 0.5], [0.3, 0]]
    alpha, prior = PRIOR_SHARE * 60, PRIOR_SHARE * 300
    odds = [(held + alpha) / (total + prior - held - alpha) for held, total in ((60, 200), (0, 100))]
    assert found["delta"].iloc[0] == pytest.approx(np.log(odds[0] / odds[1]))
    assert found["z"].iloc[1] == pytest.approx(0, abs=0.01)
    assert (found["z"].iloc[0] > 3, found["z"].iloc[2] < -3) == (True, True)


def test_the_other_way_round() -> None:
    """Swapping the runs turns the signs."""
    a, b = use(100, both=50, mine=30), use(200, both=100, yours=60)

    forth, back = (word_differences(*sides).set_index("word")["z"] for sides in ((a, b), (b, a)))

    pd.testing.assert_series_equal(forth, -back.loc[forth.index], check_index=False)


def test_against_nothing_nothing_stands_out() -> None:
    """A run without responses says nothing of the other's words."""
    assert word_differences(use(0), use(10, a=5)).empty
    assert word_differences(use(0), use(0)).empty
