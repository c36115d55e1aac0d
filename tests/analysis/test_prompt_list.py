"""board.analysis.prompts.prompt_list: which prompts are listed, in which order, how each went, and what names them elsewhere."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.prompts.cohorts import CohortRule, cohorts
from board.analysis.prompts.prompt_list import (
    MOST_POINTS,
    counts,
    ids,
    listing,
    of_cohort,
    ordered,
    text_column,
    trends,
    with_text,
)
from board.analysis.prompts.prompt_visits import leaderboard, visits
from board.runs.run import Run

WENT: dict[str, list[Any]] = {
    "sums": [0.0, 1.0],
    "names": [1.0, 0.0],
    "rhymes": [0.5, 0.5, 0.5],
    "Sums again": [None, 0.0],
    "none": [0.0, 0.0],
}


def followed(folder: Path, went: dict[str, list[Any]] = WENT, **fields: Any) -> tuple[Run, pd.DataFrame, pd.DataFrame]:
    """A run in which every prompt's rewards are these at steps 0, 1 and so on; its visits, and its listing by halves of them."""
    rows = [
        row(step, prompt=name, **({} if reward is None else {"reward": reward}), **fields)
        for name, rewards in went.items()
        for step, reward in enumerate(rewards)
    ]
    run = open_run(write_run(folder, {"a.jsonl": rows}))
    visited = visits(run)
    return run, visited, listing(leaderboard(visited), cohorts(visited, CohortRule(0.5, 1, 1, 1)))


def names(run: Run, listed: pd.DataFrame, keys: Any) -> list[str]:
    """The prompts with these keys."""
    return run.texts("prompt", listed.loc[pd.Index(keys)]["rollout"].to_numpy()).to_pylist()


ORDERS: dict[str, tuple[str, str, str, bool, list[str]]] = {
    "by gain": ("", "", "gain", True, ["sums", "rhymes", "none", "names", "Sums again"]),
    "by gain, the least first": ("", "", "gain", False, ["names", "rhymes", "none", "sums", "Sums again"]),
    "learned ones": ("learned", "", "gain", True, ["sums"]),
    "solved at every visit": ("always", "", "visits", True, ["rhymes"]),
    "with a text": ("", "SUMS", "visits", True, ["sums", "Sums again"]),
    "neither": ("forgotten", "sums", "visits", True, []),
    "losing, where there is no reference": ("losing", "", "visits", True, []),
}


@pytest.mark.parametrize(("cohort", "query", "by", "descending", "expected"), ORDERS.values(), ids=ORDERS)
def test_which_prompts_are_listed(
    tmp_path: Path, cohort: str, query: str, by: str, descending: bool, expected: list[str]
) -> None:
    """Those of the cohort with the text, missing numbers last either way, ties as they were first sampled."""
    run, _, listed = followed(tmp_path)
    kept = of_cohort(listed, cohort)
    if query:
        kept &= with_text(run, listed, query)

    assert names(run, listed, ordered(listed, kept, by, descending=descending)) == expected
    assert counts(listed) == {"": 1, "learned": 1, "forgotten": 1, "flipping": 0, "always": 1, "never": 1, "losing": 0}


def test_how_prompts_went(tmp_path: Path) -> None:
    """Mean rewards of the visits that have one; of very many some, the first and the last among them."""
    long = [at / 200 for at in range(200)]
    _, visited, listed = followed(tmp_path, {"few": [0.0, None, 1.0], "many": long})

    few, many = trends(visited, listed)

    assert few == [0.0, 1.0]
    assert (len(many), many[0], many[-1]) == (MOST_POINTS, long[0], long[-1])
    assert set(many) <= set(long)


def test_ids_name_prompts_elsewhere(tmp_path: Path) -> None:
    """The trainer's id where there is one, else the text; the key is text, as 64 bits are too many for JSON's readers."""
    run, _, listed = followed(tmp_path / "a")
    found = ids(run, listed, listed.index[:2].tolist())
    assert found.columns.tolist() == ["prompt_key", "cohort", "visits", "first", "last", "last_seen", "prompt"]
    assert found["prompt"].tolist() == ["sums", "names"]
    assert found["cohort"].tolist() == ["learned", "forgotten"]
    assert found["prompt_key"].tolist() == [str(key) for key in listed.index[:2]]

    named, _, of_named = followed(tmp_path / "b", {"x": [0.0, 1.0]}, prompt_id="p7", data_source="d")
    only = ids(named, of_named, of_named.index.tolist())
    assert only[["prompt_id", "data_source"]].to_numpy().tolist() == [["p7", "d"]]
    assert "prompt" not in only


def test_prompts_without_text_are_read_by_their_tokens(tmp_path: Path) -> None:
    """Where a run has ids of tokens alone, these are the text; where it has nothing, there is none to be searched."""
    rows = [row(step, prompt_token_ids=[7, 8], reward=0.0) for step in range(2)]
    run = open_run(write_run(tmp_path / "a", {"a.jsonl": rows}))
    visited = visits(run)
    listed = listing(leaderboard(visited), cohorts(visited, CohortRule(0.5, 1, 1, 1)))
    assert (text_column(run), len(listed), with_text(run, listed, "8").tolist()) == ("prompt_token_ids", 1, [True])

    named = open_run(write_run(tmp_path / "b", {"a.jsonl": [row(0, prompt_id=1, reward=math.nan)]}))
    visited = visits(named)
    listed = listing(leaderboard(visited), cohorts(visited, CohortRule(0.5, 1, 1, 1)))
    assert (text_column(named), with_text(named, listed, "1").tolist()) == (None, [False])
    assert ids(named, listed, listed.index.tolist())["prompt_id"].tolist() == ["1"]
