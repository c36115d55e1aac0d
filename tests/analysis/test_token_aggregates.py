"""Aggregates of a rollout's tokens as columns: which are offered, what they are called, and their numbers against loops."""

import math
from pathlib import Path

import numpy as np
from rows import token_row, write_run

from board.analysis.rollouts.selection import sort
from board.analysis.rollouts.token_aggregates import available, heading, meaning, with_aggregates
from board.runs.opening import open_run

ROWS = [
    token_row(0, rollout_logprobs=[-1.5, -1.0], entropies=[0.5, 2.5]),
    token_row(0, rollout_logprobs=[-1.0, -2.25], entropies=[3.5, None]),
    token_row(1, response_tokens=..., logprobs=..., ref_logprobs=..., values=..., token_rewards=...),
    token_row(1, rollout_logprobs=[-1.25, -9.0], entropies=[0.25, 9.0], loss_mask=[1, 0]),
]

COLUMNS: dict[str, list[float]] = {
    "entropy/max": [2.5, 3.5, math.nan, 0.25],
    "entropy/sum": [3.0, 3.5, math.nan, 0.25],
    "mismatch_abs/max": [1.0, 0.25, math.nan, 0.25],
    "mismatch_abs/mean": [0.75, 0.125, math.nan, 0.25],
    "mismatch_weight/mean": [(math.exp(0.5) + math.exp(-1)) / 2, (1 + math.exp(0.25)) / 2, math.nan, math.exp(0.25)],
    "value/max": [0.5, 0.5, math.nan, 0.5],
}


def rows() -> list[dict[str, object]]:
    """Without the fields that a row is said to lack."""
    return [{name: value for name, value in row.items() if value is not ...} for row in ROWS]


def test_columns_against_loops(tmp_path: Path) -> None:
    """Each is what the counted tokens add up to, missing where the row has no such array; a run with no array offers none."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows()}))

    found = with_aggregates(run, run.frame, [*COLUMNS, "reward", "no such/max"])

    assert set(COLUMNS) <= set(available(run))
    for name, wanted in COLUMNS.items():
        np.testing.assert_allclose(found[name], wanted, rtol=1e-6, err_msg=name)
    assert "no such/max" not in found
    assert [*found.columns[:-6]] == [*run.frame.columns]
    bare = open_run(write_run(tmp_path / "bare", {"a.jsonl": [rows()[2]]}))
    assert available(bare) == []


def test_some_rows_in_another_order_sort_alike(tmp_path: Path) -> None:
    """Rows are found by their keys, wherever they stand; missing numbers come last."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows(), "b.jsonl": rows()[:1]}))
    some = run.frame.loc[[3, 2, 4, 1]][["step"]]

    ordered = sort(with_aggregates(run, some, ["entropy/max"]), "entropy/max", descending=True)

    assert ordered.index.tolist() == [1, 4, 3, 2]
    assert ordered["entropy/max"].tolist()[:3] == [3.5, 2.5, 0.25]


def test_what_the_frame_holds_is_not_offered_twice(tmp_path: Path) -> None:
    """Means and KLs that are columns already are left out, and a trainer's own number of such a name keeps it."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [rows()[0] | {"entropy/max": 7.0}]}))

    names = available(run)

    assert not {"entropy/mean", "kl_k3/mean", "kl_k3/max", "log_ratio/sum", "entropy/max"} & set(names)
    assert with_aggregates(run, run.frame, ["entropy/max"])["entropy/max"].tolist() == [7.0]


def test_words() -> None:
    """An aggregate has a heading and a meaning of its own; any other column those it has everywhere."""
    assert heading("entropy/max") == "entropy, max"
    assert heading("mismatch_abs/mean") == "|mismatch|, mean"
    assert heading("rewards/accuracy/mean") == "rewards/accuracy/mean"
    assert heading("entropy_mean") == "entropy, mean"
    assert meaning("mismatch_abs/max") == "largest of a token: |logprob − rollout_logprob|"
    assert meaning("reward") == ""
