"""board.metrics.pooling: what parts say of themselves is enough to say it of the whole."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.metrics.pooling import Pooled, pool, pooled_mean

PARTS = st.lists(st.lists(st.integers(-1000, 1000).map(lambda tenths: tenths / 10), max_size=5), min_size=1, max_size=5)


def total(values: np.ndarray) -> np.ndarray:
    """The sum of the finite numbers of all parts, of one whole."""
    known = values[np.isfinite(values)]
    return np.array(known.sum() if known.size else math.nan)


def described(parts: list[list[float]]) -> Pooled:
    """What numpy says of each part, (parts,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        means = np.array([np.mean(part) for part in parts])
        powers = [
            np.array([sum((one - mean) ** by for one in part) for part, mean in zip(parts, means, strict=True)]) for by in (2, 3)
        ]
    return Pooled(np.array([float(len(part)) for part in parts]), means, *powers)


@given(PARTS)
def test_the_whole_is_what_its_parts_say(parts: list[list[float]]) -> None:
    """However values are cut into parts, empty ones among them, the whole's mean and moments are numpy's over all; NaN without any."""
    values = np.array([one for part in parts for one in part])
    found = pool(described(parts), total, lambda of_whole: of_whole)

    if not values.size:
        assert math.isnan(found.mean)
        assert math.isnan(found.variance)
        return
    assert found.count == values.size
    assert found.mean == pytest.approx(values.mean(), abs=1e-9)
    assert found.sum == pytest.approx(values.sum(), abs=1e-9)
    assert found.variance == pytest.approx(values.var(), abs=1e-9)
    assert found.std == pytest.approx(values.std(), abs=1e-6)
    assert found.mean_square == pytest.approx(np.square(values).mean(), abs=1e-9)
    assert found.m3 == pytest.approx(((values - values.mean()) ** 3).sum(), rel=1e-9, abs=1e-6)


def test_a_part_without_a_mean_weighs_nothing() -> None:
    """What is not known of one part changes nothing of the whole."""
    assert pooled_mean(np.array([1.0, 5.0, 1.0]), np.array([2.0, math.nan, 4.0]), total) == 3
