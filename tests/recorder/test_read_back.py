"""What is recorded is what the board opens: every field, to the last bit of a float32, however it was written."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from board import open_run
from board.recorder import RolloutRecorder
from board.schema import TOKEN_METRICS

NO_PAD = st.characters(codec="utf-8", exclude_characters="<[>]｜|")
"""What no pad is written in: a text such as "<pad>" is no text but padding."""
TEXT = st.text(NO_PAD, max_size=8)
TOKEN = st.text(NO_PAD, min_size=1, max_size=4)
NUMBERS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": np.ndarray.tolist,
    "float32": np.asarray,
    "float64": lambda array: array.astype(np.float64),
}
"""The forms in which a trainer may hold the same float32 numbers."""


@st.composite
def rollouts(draw: st.DrawFn) -> dict[str, Any]:
    """A rollout: texts, a reward, tokens, some of the token metrics as float32, and alternatives."""
    length = draw(st.integers(1, 6))
    array = hnp.arrays(np.float32, length, elements=st.floats(width=32))
    pair = st.tuples(TEXT, st.floats(width=32, allow_nan=False))
    return {
        "step": draw(st.integers(0, 3)),
        "prompt": draw(TEXT),
        "response": draw(TEXT),
        "reward": draw(st.floats(allow_nan=False)),
        "response_tokens": draw(st.lists(TOKEN, min_size=length, max_size=length)),
        "top_logprobs": draw(st.lists(st.lists(pair, max_size=2), min_size=length, max_size=length)),
        **draw(st.fixed_dictionaries({}, optional=dict.fromkeys([*TOKEN_METRICS, "my_metric"], array))),
    }


def as_given(row: dict[str, Any], form: str) -> dict[str, Any]:
    """The row as a trainer that holds its numbers in one form hands it over."""
    return {name: NUMBERS[form](value) if isinstance(value, np.ndarray) else value for name, value in row.items()}


@settings(max_examples=25)
@given(
    st.lists(rollouts(), min_size=1, max_size=3),
    st.sampled_from(sorted(NUMBERS)),
    st.fixed_dictionaries(
        {}, optional={"wait": st.booleans(), "file_per": st.sampled_from(["rank", "step"]), "step_bytes": st.just(10**9)}
    ),
)
def test_what_is_recorded_is_what_is_opened(rows: list[dict[str, Any]], form: str, options: dict[str, Any]) -> None:
    """Texts, numbers, tokens, alternatives and token arrays come back as given, and a field that a row lacks is missing in it."""
    with tempfile.TemporaryDirectory() as folder:
        with RolloutRecorder(folder, **options) as recorder:
            for number, row in enumerate(rows):
                recorder.write(number=number, **as_given(row, form))
        run = open_run(folder)
        found = {int(run.frame["number"][key]): key for key in run.frame.index}

        assert (recorder.dropped, sorted(found)) == (0, [*range(len(rows))])
        for number, row in enumerate(rows):
            back, scalars = run.rollout(found[number]), run.frame.loc[found[number]]
            assert (row["step"], row["reward"]) == (scalars["step"], scalars["reward"])
            for name in ("prompt", "response", "response_tokens"):
                assert row[name] == back[name]
            assert [[tuple(pair) for pair in pairs] for pairs in row["top_logprobs"]] == list(back["top_logprobs"])
            for name in (*TOKEN_METRICS, "my_metric"):
                missing = back[name] is None
                assert missing == (name not in row)
                if not missing:
                    np.testing.assert_array_equal(row[name], back[name])


@pytest.mark.parametrize("form", sorted(NUMBERS))
def test_a_batch_is_opened_as_given(tmp_path: Path, form: str) -> None:
    """A batch of ragged token arrays is read back row by row."""
    rows = [np.linspace(-9, 0, length, dtype=np.float32) for length in (1, 5, 3)]
    with RolloutRecorder(tmp_path, rank=4) as recorder:
        recorder.write_batch(
            step=2,
            response_tokens=[["t"] * len(row) for row in rows],
            logprobs=[NUMBERS[form](row) for row in rows],
            reward=np.array([0.5, 1.5, -1], np.float32),
        )
    run = open_run(tmp_path)

    assert [*run.frame["reward"]] == [0.5, 1.5, -1]
    assert [*run.frame["rank"]] == ["4"] * 3
    for key, row in zip(run.frame.index, rows, strict=True):
        np.testing.assert_array_equal(row, run.rollout(key)["logprobs"])
