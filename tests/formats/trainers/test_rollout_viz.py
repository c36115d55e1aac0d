"""Tests of the rows of rollout_viz."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from golden_runs import read_one

from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.trainers import rollout_viz

RECORD: dict[str, Any] = {
    "tokens": ["2", "+", "2 ✓"],
    "metrics": {"logprob": [-0.1, None, -0.3], "surprise": [1, 2, 3]},
    "next_tokens": [{"2": 0.9}, {"+": 0.8}, {"2": 0.7}],
    "annotations": [{"start": 0, "end": 2, "label": "sum"}],
}
read = partial(read_one, rollout_viz, name="step_3/samples.jsonl")


def test_fields() -> None:
    """Tokens are the response; each metric is one number per token, and everything else is kept."""
    row = read(RECORD)

    assert row.step == 3
    assert row.tokens == ["2", "+", "2 ✓"]
    np.testing.assert_allclose(row.arrays["logprobs"], [-0.1, np.nan, -0.3], rtol=1e-6)
    np.testing.assert_array_equal(row.arrays["surprise"], [1, 2, 3])
    assert '"label": "sum"' in row.texts["annotations"]
    assert '{"+": 0.8}' in row.texts["next_tokens"]
    assert row.flags == []


NAMES: dict[str, tuple[dict[str, Any], dict[str, list[float]]]] = {
    "singular": ({"metrics": {"ref_logprob": [1], "value": [2]}}, {"ref_logprobs": [1], "values": [2]}),
    "ours": ({"metrics": {"advantages": [1], "loss_mask": [0]}}, {"advantages": [1], "loss_mask": [0]}),
    "both": ({"metrics": {"logprob": [1], "logprobs": [2]}}, {"metrics.logprob": [1], "logprobs": [2]}),
    "a reward per token": ({"metrics": {"reward": [1]}, "reward": 3.0}, {"token_rewards": [1]}),
    "two rewards": ({"metrics": {"reward": [1], "token_rewards": [2]}}, {"metrics.reward": [1], "token_rewards": [2]}),
    "what the board computes": ({"metrics": {"kl": [1]}}, {"kl (logged)": [1]}),
    "a name that means something else": ({"metrics": {"step": [1], "prompt": [2]}}, {"metrics.step": [1], "metrics.prompt": [2]}),
    "a name the row has too": ({"metrics": {"seed": [1]}, "seed": 5}, {"metrics.seed": [1]}),
}


@pytest.mark.parametrize(("fields", "arrays"), NAMES.values(), ids=NAMES)
def test_metrics_have_our_names_and_none_is_lost(fields: dict[str, Any], arrays: dict[str, list[float]]) -> None:
    """A metric the board knows is called so here; two that would have one name are told apart."""
    row = read({"tokens": ["a"], **fields})

    assert {name: array.tolist() for name, array in row.arrays.items()} == arrays


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "no tokens": ({"metrics": {}}, "has no `tokens`"),
    "tokens that are ids": ({"tokens": [1], "metrics": {}}, "`tokens` holds 1 at position 0, not text"),
    "no metrics": ({"tokens": ["a"]}, "has no `metrics`"),
    "metrics in a list": ({"tokens": ["a"], "metrics": [1]}, "`metrics` is .*, not an object"),
    "a metric that is a number": ({"tokens": ["a"], "metrics": {"kl": 1.0}}, "`kl` is 1.0, not a list"),
    "a metric too short": ({"tokens": ["a", "b"], "metrics": {"kl": [1.0]}}, "`kl` has 1 item for 2 tokens"),
}


@pytest.mark.parametrize(("record", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_records_are_refused_by_their_key(record: dict[str, Any], reason: str) -> None:
    """Numbers that cannot be told to belong to the tokens are refused by their name."""
    with pytest.raises(RowRefused, match=reason):
        read(record)


def test_recognised_by_keys() -> None:
    """Tokens as text and an object of metrics; ids or a list are someone else's."""
    assert rollout_viz.recognise(Head("x.jsonl", (RECORD,)))
    assert not rollout_viz.recognise(Head("x.jsonl", ({"tokens": [1], "metrics": {}},)))
    assert not rollout_viz.recognise(Head("x.jsonl", ({"tokens": ["a"], "metrics": [1]},)))


def test_note_says_what_is_not_known() -> None:
    """Rows without a prompt and a path without a step are said."""
    assert "prompt" in rollout_viz.note(Head("samples.jsonl", (RECORD,)))
    assert "step" in rollout_viz.note(Head("samples.jsonl", (RECORD,)))
