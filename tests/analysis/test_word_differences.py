"""Words that one run's responses hold and another's do not."""

import numpy as np
import pandas as pd
import pytest

from board.analysis.stats.log_odds import PRIOR_SHARE
from board.analysis.texts.word_use import COLUMNS, WordUse, word_differences


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
