"""Names of one curve: columns, keys of the catalogue, and the keys of columns that are in no catalogue."""

import pytest

from board.analysis.steps import metric_names


@pytest.mark.parametrize(
    ("name", "has", "has_not"),
    [
        ("reward", {"reward", "reward/mean"}, {"reward/std", "groups/std_mean", "evaluation/mean"}),
        ("reward/mean", {"reward", "reward/mean"}, {"reward/best_mean"}),
        ("valid_reward", {"reward/validation_mean"}, {"reward/mean"}),
        ("kl/k3_mean", {"kl_k3_mean", "kl/k3_rollout_mean"}, {"kl_k2_mean", "kl/k3_sum_mean"}),
        ("response_length", {"length/mean"}, set()),
        ("own_number", {"own_number", "column/own_number/mean"}, set()),
        ("reward/std", {"reward/std"}, {"reward", "reward/mean"}),
    ],
)
def test_names_of_one_curve(name: str, has: set[str], has_not: set[str]) -> None:
    """Other statistics of the same column are other curves."""
    found = metric_names.alike(name)

    assert has <= found
    assert not has_not & found
