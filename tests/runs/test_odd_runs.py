"""Tests of odd runs: each folder of tests/odd_runs is seen as it should be."""

from typing import Any

import numpy as np
import pytest
from odd_cases import CASES, Seen, opened


@pytest.mark.parametrize(("case", "seen"), CASES.items(), ids=CASES)
def test_odd_run_is_seen_as_wished(case: str, seen: Seen) -> None:
    """Rows, steps, problems with their place and reason, and particular values; the wish stands in the table."""
    run = opened(case)
    problems = {
        severity: [(f"{one.shard}:{one.line}", one.reason) for one in run.report.problems if one.severity == severity]
        for severity in ("refused", "flagged")
    }

    assert (len(run.frame), run.report.rows, run.steps.tolist()) == (seen.rows, seen.rows, seen.steps), seen.wish
    for found, wanted in ((problems["refused"], seen.refused), (problems["flagged"], seen.flagged)):
        assert [place for place, _ in found] == [place for place, _ in wanted], seen.wish
        assert all(piece in reason for (_, reason), (_, piece) in zip(found, wanted, strict=True)), (seen.wish, found)
    assert run.report.unfinished == seen.unfinished
    for name in seen.absent:
        assert name not in {*run.frame.columns, *run.text_columns, *run.token_metrics}
    for column, values in seen.values.items():
        np.testing.assert_allclose(
            run.frame[column].to_numpy(float), values, rtol=1e-2, atol=1e-9, err_msg=f"{column}: {seen.wish}"
        )
    for name, value in seen.ids.items():
        assert set(run.frame[name]) == {value}
    for (key, name), text in seen.texts.items():
        assert run.rollout(key)[name] == text
        assert run.texts(name, [key]).to_pylist() == [text]
    for key, tokens in seen.tokens.items():
        assert run.rollout(key).tokens == tokens
    for (key, name), array in seen.arrays.items():
        assert_array(run.rollout(key)[name], array)


def assert_array(found: Any, expected: list[float] | None) -> None:
    """float32 of exactly these numbers, or no array."""
    if expected is None:
        assert found is None
        return
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array(expected, np.float32))
