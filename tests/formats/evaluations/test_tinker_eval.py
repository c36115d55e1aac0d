"""Tests of tinker-cookbook's benchmark runs."""

from functools import partial
from typing import Any

import pytest
from golden_runs import read_one

from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.evaluations import tinker_eval

RECORD: dict[str, Any] = {
    "idx": 7,
    "benchmark": "gsm8k",
    "example_id": "gsm8k-7",
    "turns": [{"role": "user", "content": "2+2?", "token_count": 4}, {"role": "assistant", "content": "4 ✓", "token_count": 2}],
    "reward": 1.0,
    "metrics": {"correct": 1.0},
    "error": None,
    "time_seconds": 0.5,
}
read = partial(read_one, tinker_eval, name="gsm8k/trajectories.jsonl")


def test_fields() -> None:
    """Turns become prompt and response; the benchmark is the data's source and every row an evaluation."""
    row = read(RECORD)

    assert row.step == 0
    assert row.texts == {"prompt": "user:\n2+2?", "response": "4 ✓", "metrics": '{"correct": 1.0}'}
    assert row.ids == {
        "data_source": "gsm8k",
        "split": "evaluation",
        "group_id": "gsm8k-7",
        "prompt_id": "gsm8k-7",
        "sample_id": "7",
    }
    assert row.numbers == {"reward": 1.0, "metrics.correct": 1.0, "time_seconds": 0.5}
    assert read(RECORD, name="step_20/gsm8k/trajectories.jsonl").step == 20


def test_nobody_answered() -> None:
    """An example that failed before the first answer has a prompt, an error, and an empty response."""
    row = read({**RECORD, "turns": RECORD["turns"][:1], "error": "timed out"})

    assert (row.texts["prompt"], row.texts["response"], row.texts["error"]) == ("user:\n2+2?", "", "timed out")


DAMAGED: dict[str, tuple[Any, str]] = {
    "none": (None, "`turns` is null, not a list"),
    "empty": ([], "`turns` is "),
    "without roles": ([{"content": "4"}], "`turns` is "),
    "text": (["4"], '`turns` holds "4" at position 0, not an object'),
}


@pytest.mark.parametrize(("turns", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_turns_are_refused(turns: Any, reason: str) -> None:
    """Turns of which nobody knows who spoke are refused by their key."""
    with pytest.raises(RowRefused, match=reason):
        read({**RECORD, "turns": turns})


def test_recognised_by_keys() -> None:
    """Turns beside a benchmark's example, in a file of any name."""
    assert tinker_eval.recognise(Head("x.jsonl", (RECORD,)))
    assert not tinker_eval.recognise(Head("trajectories.jsonl", ({"example_id": 1, "turns": []},)))
