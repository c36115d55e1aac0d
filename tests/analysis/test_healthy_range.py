"""board.analysis.steps.healthy_range: what TRL's guide says of its metrics is marked from its first step on, under the names it has there."""

import numpy as np
import pytest

from board.analysis.steps.healthy_range import first_departure
from board.metrics.declared import resolve_any

LOSS = [0.4, 0.41, 0.39] * 6
CURVES = {
    "a KL below 0 for long": ("objective/kl", [-0.5] * 30, 0),
    "a KL below 0 from a step on": ("objective/kl", [0.1, *[-0.5] * 12], 1),
    "a KL below 0 for some steps": ("objective/kl", [0.1, *[-0.5] * 11, 0.1], None),
    "a ratio of 2": ("val/ratio", [1.0, 1.9, 2.0], 2),
    "a ratio of 0.1": ("val/ratio", [1.0, 0.11, 0.1], 2),
    "a ratio of 0.1 in 32 bits": ("val/ratio", np.array([1.0, 0.11, 0.1], np.float32), 2),
    "a ratio of 1000": ("val/ratio", [1.0, 1000.0], 1),
    "clipping that stops": ("policy/clipfrac_avg", [0.1, 0.0, 0.2, *[0.0] * 5], 3),
    "clipping that is back": ("policy/clipfrac_avg", [0.1, *[0.0] * 9, 0.1], None),
    "clipping that never was": ("policy/clipfrac_avg", [0.0] * 30, None),
    "clipping of values that stops": ("val/clipfrac_avg", [0.1, *[0.0] * 5], 1),
    "an update that stops": ("policy/approxkl_avg", [0.01, *[0.0] * 5], 1),
    "ROLL's clipping that stops": ("actor/ppo_ratio_clipfrac", [0.1, *[0.0] * 5], 1),
    "a value loss that spikes": ("loss/value_avg", [*LOSS, 9.0, *LOSS], len(LOSS)),
    "a value loss that wavers": ("loss/value_avg", [*LOSS, 0.9, *LOSS], None),
}


@pytest.mark.parametrize(("name", "values", "step"), CURVES.values(), ids=CURVES)
def test_a_curve_departs_at_its_first_step(name: str, values: list[float], step: int | None) -> None:
    """Where the guide calls it unhealthy, and nowhere else."""
    found = resolve_any(name)
    assert found is not None

    left = first_departure(found[1].reading, np.arange(len(values)), np.array(values, np.float64))

    assert (left.step if left else None) == step
