"""How few tokens hold the KL: against one rollout at a time, and steps without their largest tokens against a loop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import row, token_row, write_run

from board import open_run
from board.analysis.rollouts import rollout_measures
from board.analysis.rollouts.kl_concentration import COLUMNS, LARGEST, NAME, curve_without_largest, measure, without_largest
from board.metrics.formulas import concentration, token_arrays


def rows() -> list[dict[str, Any]]:
    """Rollouts of 1 to 300 tokens, some masked, some numbers missing; one equals the reference, one has no arrays."""
    dice = np.random.default_rng(2)
    found = []
    for length in (1, 2, 5, 6, 99, 100, 250, 300):
        own, reference = dice.normal(-1, 1, (2, length)).round(4).tolist()
        found.append(row(0, logprobs=own, ref_logprobs=reference, loss_mask=[0] * (length // 7) + [1] * (length - length // 7)))
    found[4]["logprobs"][3] = None
    found.insert(2, row(0, logprobs=[-0.5, -100.0, -1.0], ref_logprobs=[-0.5, -0.1, -0.5]))  # exp(99.9) is no float32
    return [*found, token_row(0, ref_logprobs=[-1.0, -2.0]), row(0), token_row(0, ref_logprobs=...)][:-1]


def test_one_rollout_at_a_time(tmp_path: Path) -> None:
    """Every column is as the formulas have it for that rollout."""
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows()}))
    found = rollout_measures.of_run(run, {"kl_concentration": measure})
    assert tuple(found.columns) == COLUMNS
    for key in run.frame.index.tolist():
        rollout, got = run.rollout(key), found.loc[key]
        arrays = token_arrays(rollout.arrays)
        one = concentration(arrays["log_ratio"], rollout.counts) if "log_ratio" in arrays else None
        if one is None:
            assert got.drop([name for name in COLUMNS if "peak" in name]).isna().all()
            continue
        told = (got["kl_top_share"], got["kl_top_percent_share"], got["kl_gini"], got["kl_half"])
        assert told == pytest.approx((one.top_five_share, one.top_percent_share, one.gini, one.half), rel=1e-5, abs=1e-6)
        k3 = np.where(rollout.counts, arrays["kl"], np.nan)
        peaks = np.minimum(np.sort(k3[np.isfinite(k3)])[::-1][:LARGEST], np.finfo(np.float32).max)
        np.testing.assert_allclose(got[[f"kl_k3_peak_{n}" for n in range(1, len(peaks) + 1)]].astype(float), peaks, rtol=1e-5)
        assert got["kl_k3_peak_at"] == np.nanargmax(k3)


@given(st.lists(st.tuples(st.integers(0, 2), st.lists(st.floats(0, 9, width=32), min_size=1, max_size=9)), max_size=8))
def test_without_the_largest(rollouts: list[tuple[int, list[float]]]) -> None:
    """By step the mean of all tokens, and of all but the largest five."""
    steps = np.array([step for step, _ in rollouts], np.int64)
    sums, counts = (np.array([how(values) for _, values in rollouts], float) for how in (sum, len))
    peaks = np.full((len(rollouts), LARGEST), np.nan)
    for at, (_, values) in enumerate(rollouts):
        largest = sorted(values, reverse=True)[:LARGEST]
        peaks[at, : len(largest)] = largest
    whole, rest = without_largest(steps, sums, counts, peaks)
    for step in range(len(whole)):
        values = sorted(value for own, tokens in rollouts for value in tokens if own == step)
        for got, wanted in ((whole[step], values), (rest[step], values[:-LARGEST])):
            assert got == pytest.approx(np.mean(wanted) if wanted else np.nan, nan_ok=True, abs=1e-5)


def test_the_curve_of_a_run(tmp_path: Path) -> None:
    """There is one once the run was measured: by step the mean of all tokens but its five largest."""
    steps = [{**one, "step": at % 2} for at, one in enumerate(rows())]
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": steps}))
    assert curve_without_largest(run) is None
    rollout_measures.of_run(run, {NAME: measure})
    found = curve_without_largest(run)
    assert found is not None
    for step in (0, 1):
        rollouts = [run.rollout(int(key)) for key in run.frame.index[run.frame["step"] == step]]
        values = [token_arrays(one.arrays)["kl"][one.counts] for one in rollouts if "ref_logprobs" in one.arrays]
        k3 = np.concatenate([one for one in values if not (one > 1e38).any()])
        assert found[step] == pytest.approx(np.sort(k3[np.isfinite(k3)])[:-LARGEST].mean(), rel=1e-5)


def test_a_run_without_kl_has_no_curve(tmp_path: Path) -> None:
    """There is nothing to take the largest tokens from."""
    assert curve_without_largest(open_run(write_run(tmp_path / "run", {"rank_0.jsonl": [row(0)]}))) is None
