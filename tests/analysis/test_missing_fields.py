"""Tests of metrics per step of runs that lack a field, or a number in some rows: nothing is invented."""

import json
import math
from pathlib import Path

import pytest
from metric_rows import rows_of_a_run, write

from board.analysis.steps.step_metrics import computable, per_step_values
from board.errors import BoardError
from board.metrics.declared import METRICS
from board.runs.opening import open_run

NAN = math.nan


def test_without_old_logprobs_the_rows_own_are_those_that_sampled(tmp_path: Path) -> None:
    """The mismatch is that of the policy that sampled: of `old_logprobs` where a row has them, of `logprobs` where it has no others."""
    row = {"step": 1, "prompt": "p", "response": "r", "reward": 1, "response_tokens": ["r"], "logprobs": [-1.0]}
    rows = [row | {"rollout_logprobs": [-1.5]}, row | {"rollout_logprobs": [-1.5], "old_logprobs": [-1.25]}]

    found = per_step_values(write(tmp_path / "run", rows), ["mismatch/abs_mean", "mismatch/abs_max", "policy/old_logprob_mean"])

    assert found.to_numpy().tolist() == [pytest.approx([(0.5 + 0.25) / 2, 0.5, -(1 + 1.25) / 2])]


NEEDED = ("reward", "ref_logprobs", "rollout_logprobs", "old_logprobs", "values", "token_rewards", "returns", "finish_reason")


@pytest.mark.parametrize("missing", NEEDED)
def test_without_a_field_its_metrics_are_not_there(missing: str, tmp_path: Path) -> None:
    """Nothing is estimated in place of a field that no row has; everything else stays."""
    run = write(tmp_path / "run", [{name: value for name, value in row.items() if name != missing} for row in rows_of_a_run()])
    wanted = {key for key, metric in METRICS.items() if metric.needs and missing not in metric.needs}

    found = set(computable(run))

    assert not {key for key in found if key in METRICS and missing in METRICS[key].needs}
    assert wanted <= found
    assert set(per_step_values(run)) <= found


def test_a_metric_the_run_cannot_give_is_refused(tmp_path: Path) -> None:
    """With its name."""
    run = write(tmp_path / "run", [{"step": 1, "prompt": "p", "response": "r", "reward": 1}])

    with pytest.raises(BoardError, match=r"critic/bias"):
        per_step_values(run, ["critic/bias"])


def test_rollouts_without_a_number_enter_nothing(tmp_path: Path) -> None:
    """A missing or infinite reward is no zero: the mean is of the others, and a step without any has none."""
    rows = [(1, 2.0), (1, None), (1, 4.0), (2, None)]
    run = write(
        tmp_path / "run",
        [{"step": step, "prompt": f"p{at}", "response": "r", "reward": one} for at, (step, one) in enumerate(rows)],
    )

    found = per_step_values(run, ["reward/mean", "reward/sum", "counts/rollouts"])

    assert found["reward/mean"].tolist() == pytest.approx([3, NAN], nan_ok=True)
    assert found["reward/sum"].tolist() == pytest.approx([6, NAN], nan_ok=True)
    assert found["counts/rollouts"].tolist() == [3, 1]


def test_run_without_a_counted_token_has_no_token_metric(tmp_path: Path) -> None:
    """Where every token is masked nothing is derived from tokens: their metrics are not there, and the others are."""
    fields = {"logprobs": [-1.0], "ref_logprobs": [-2.0], "token_rewards": [1.0], "values": [0.5], "loss_mask": [0]}
    row = {"step": 1, "response": "a", "response_tokens": ["a"], "reward": 1.0, **fields}
    (tmp_path / "rank_0.jsonl").write_text(json.dumps(row) + "\n")

    values = per_step_values(open_run(tmp_path))

    assert values["reward/mean"].tolist() == [1.0]
    assert not [key for key in values if str(key).startswith(("kl/", "critic/", "reward/shaped"))]


def test_truncated_as_a_number_is_believed(tmp_path: Path) -> None:
    """Rows that say `truncated` need no reason of ending."""
    rows = [{"step": 1, "prompt": "p", "response": "r", "reward": 1, "truncated": cut} for cut in (True, False, False, False)]

    assert per_step_values(write(tmp_path / "run", rows))["length/truncated_share"].tolist() == [0.25]
