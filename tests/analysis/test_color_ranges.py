"""board.analysis.tokens.color_ranges: the ends of colour scales over a step and a run, against a slow reader of one rollout after the other."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import row, token_row, write_run

from board import open_run
from board.analysis.tokens.color_ranges import ends_of, joint_ends, token_ranges
from board.metrics import formulas
from board.runs.run import Run

NAN = math.nan


def mixed(count: int) -> list[dict[str, Any]]:
    """Rows of two steps and many lengths: some lack a field, some mask or pad tokens, some hold NaN and infinities."""
    rng = np.random.default_rng(5)
    rows = []
    for i in range(count):
        n = int(rng.integers(1, 9))
        arrays: dict[str, Any] = {name: rng.normal(size=n).round(3).tolist() for name in ("logprobs", "values", "mine")}
        arrays["ref_logprobs"] = (np.array(arrays["logprobs"]) + rng.normal(0, 0.1, n)).round(3).tolist()
        arrays["loss_mask"] = rng.integers(0, 2, n).tolist()
        arrays["values"][0] = [NAN, math.inf, 7.0][i % 3]
        for name in [("ref_logprobs",), ("loss_mask", "mine"), (), ("values",)][i % 4]:
            del arrays[name]
        tokens = ["x"] * (n - 1) + ["<pad>"]
        rows.append(row(i % 2, response_tokens=tokens, reward=1.0, **arrays))
    return rows


def slow_values(run: Run, step: int | None, estimator: str) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    """All counted, finite numbers of each metric, rollout by rollout."""
    found: dict[str, list[float]] = {}
    for key in run.frame.index:
        rollout = run.rollout(int(key))
        if step is not None and rollout.step != step:
            continue
        for name, values in formulas.token_arrays(rollout.arrays, estimator).items():
            kept = np.asarray(values, np.float32)[rollout.counts]
            found.setdefault(name, []).extend(kept[np.isfinite(kept)])
    return {name: np.array(values, np.float32) for name, values in found.items()}


@pytest.mark.parametrize("step", [0, 1, None], ids=["step 0", "step 1", "run"])
@pytest.mark.parametrize("estimator", formulas.ESTIMATORS)
def test_the_ends_are_those_of_all_counted_tokens(tmp_path: Path, step: int | None, estimator: str) -> None:
    """Read part by part and field set by field set, the ends are those of every rollout's own arrays put together."""
    rows = mixed(300)
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows[:170], "rank_1.jsonl": rows[170:]}))
    found = token_ranges(run, step, estimator)
    wanted = {name: ends_of(values, name) for name, values in slow_values(run, step, estimator).items()}
    assert {name: (lo, hi) for name, lo, hi in zip(found.index, found["lo"], found["hi"], strict=True)} == wanted
    assert {"kl", "log_ratio", "prob", "value", "mine"} <= wanted.keys()
    total = len(run.frame) if step is None else int((run.frame["step"] == step).sum())
    assert found[["rollouts", "total"]].to_numpy().tolist() == [[total, total]] * len(found)


def test_of_very_many_tokens_a_sample_is_read_and_told(tmp_path: Path) -> None:
    """The same rollouts are drawn every time, as many as fit, and at least one."""
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": [token_row(0, values=[float(i), float(i)]) for i in range(200)]}))
    found = token_ranges(run, None, "k3", most=100)
    assert found[["rollouts", "total"]].iloc[0].tolist() == [50, 200]
    assert found.equals(token_ranges(run, None, "k3", most=100))
    one = token_ranges(run, None, "k3", most=0)
    assert one["rollouts"].iloc[0] == 1
    assert one["hi"]["value"] < token_ranges(run, None, "k3")["hi"]["value"]


def test_a_run_without_token_arrays_has_no_ends(tmp_path: Path) -> None:
    """Texts alone give an empty table."""
    assert token_ranges(open_run(write_run(tmp_path / "run", {"rank_0.jsonl": [row(0)]})), None, "k3").empty


CASES = [
    pytest.param("kl", [0.5, 1, 2], (0, 2), id="small values start at zero"),
    pytest.param("returned", [100, 101, 102], (100, 102), id="values far from zero keep their own range"),
    pytest.param("logprob", [-4, -0.5, -0.25], (-4, 0), id="log-probabilities end at zero"),
    pytest.param("value", [-1, 3], (-3, 3), id="a diverging scale is symmetric"),
    pytest.param("mine", [-1, 3], (-3, 3), id="an unknown metric of both signs diverges"),
    pytest.param("kl", [2, 2], (2, 2), id="a constant has one number"),
    pytest.param("kl", [*[0.0] * 1999, 1.0], (0, 1), id="almost always zero"),
    pytest.param("value", [*[0.0] * 1999, 1.0], (-1, 1), id="almost always zero, diverging"),
    pytest.param("kl", [*np.arange(1000) / 1000, 80], (0, np.float32(0.99)), id="one spike among a thousand"),
    pytest.param("ref_prob", [0.2, 0.4], (0, 1), id="probabilities span 0 to 1"),
    pytest.param("kl", [], None, id="no number"),
]


@pytest.mark.parametrize(("name", "values", "expected"), CASES)
def test_the_definition_is_that_of_the_view(name: str, values: list[float], expected: tuple[float, float] | None) -> None:
    """The cases of tests/ui/js/scale.test.mjs, which the browser's side meets, hold here too."""
    assert ends_of(np.array(values, np.float32), name) == expected


@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=400))
def test_at_most_one_in_a_hundred_lies_beyond_an_end(values: list[float]) -> None:
    """Whatever the numbers, the ends leave out no more than the tail, and a diverging metric's are symmetric."""
    array = np.array(values, np.float32)
    one, other = ends_of(array, "kl"), ends_of(array, "value")
    assert one is not None
    assert other is not None
    assert (array < one[0]).mean() <= 0.01
    assert (array > one[1]).mean() <= 0.01
    assert other[0] == -other[1]
    assert (np.abs(array) > other[1]).mean() <= 0.01


def test_ends_of_several_rollouts_are_those_of_all_their_tokens(tmp_path: Path) -> None:
    """Colours that two responses share are taken from the counted, finite tokens of both; a metric without a number has no ends."""
    run = open_run(write_run(tmp_path, {"a.jsonl": mixed(40)}))
    both = [run.rollout(key) for key in (0, 1)]

    found = joint_ends((formulas.token_arrays(one.arrays), one.counts) for one in both)

    for name in ("logprob", "value"):
        values = [formulas.token_arrays(one.arrays).get(name, np.zeros(len(one.counts)))[one.counts] for one in both]
        finite = np.concatenate(values).astype(np.float32)
        assert found.get(name) == ends_of(finite[np.isfinite(finite)], name)
    assert joint_ends([({"value": np.array([NAN])}, np.array([True]))]) == {}
