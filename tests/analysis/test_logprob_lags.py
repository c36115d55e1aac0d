"""Distances at lags against a slow reference."""

from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from looked_at import opened
from rows import token_row

from board.analysis.rollouts.logprob_lags import LAGS, PAIRS, column, measure

_NUMBERS = st.one_of(st.floats(-9, 0, width=32), st.none())
_ROW = st.integers(1, 6).flatmap(
    lambda n: st.tuples(*(st.lists(kind, min_size=n, max_size=n) for kind in (_NUMBERS, _NUMBERS, st.integers(0, 1))))
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_ROW, min_size=1, max_size=5))
def test_distances_are_those_of_a_slow_loop(
    tmp_path_factory: object, rows: list[tuple[list[float | None], list[float | None], list[int]]]
) -> None:
    """Token by token, over those that count and have both numbers and both neighbours."""
    folder = tmp_path_factory.mktemp("run")  # type: ignore[attr-defined]
    written = [
        token_row(
            response_tokens=["a"] * len(x),
            response="a" * len(x),
            logprobs=x,
            ref_logprobs=y,
            loss_mask=mask,
            values=None,
            token_rewards=None,
        )
        for x, y, mask in rows
    ]
    (part,) = opened(Path(folder), written).parts
    found = measure(part)
    for at, (x, y, mask) in enumerate(rows):
        ours, theirs = (
            np.array([np.nan if one is None or not m else one for one, m in zip(some, mask, strict=True)]) for some in (x, y)
        )
        gaps = [[abs(ours[t] - theirs[t + lag]) for lag in LAGS] for t in range(1, len(x) - 1)]
        whole = [gap for gap in gaps if np.isfinite(gap).all()]
        expected = np.mean(whole, axis=0) if whole else np.full(3, np.nan)
        np.testing.assert_allclose([found[column("ref", lag)][at] for lag in LAGS], expected, rtol=1e-5, atol=1e-6)


def test_a_pair_that_is_not_there_has_no_distance(tmp_path: Path) -> None:
    """No tokens at all, and tokens without the second array."""
    for at, rows in enumerate(([{"step": 0, "response": "ok"}], [token_row(response_tokens=["a", "b"], ref_logprobs=None)])):
        (part,) = opened(tmp_path / str(at), rows).parts
        found = measure(part)
        assert {column(pair, lag) for pair in PAIRS for lag in LAGS} <= set(found)
        assert all(np.isnan(values).all() for values in found.values())


def test_engine_and_trainer(tmp_path: Path) -> None:
    """Tokens that were never filled in are counted, and left out of ratio, scale and agreement; the policy is that before the update."""
    engine = [-1.0, 0.0, -0.5, -2.0, -9.0]
    rows = [
        token_row(
            response_tokens=list("abcde"), rollout_logprobs=engine, old_logprobs=[2 * one for one in [-1, -4, -0.5, -2, -9]]
        )
    ]
    rows[0] |= {
        "logprobs": [-7.0] * 4 + [None],
        "loss_mask": [1, 1, 1, 1, 1],
        "values": None,
        "token_rewards": None,
        "ref_logprobs": None,
    }
    (part,) = opened(tmp_path, rows).parts

    found = {name: values[0] for name, values in measure(part).items()}

    kept = np.array([-1.0, -0.5, -2.0])
    assert (found["engine_unfilled_rollout_logprobs"], found["engine_unfilled_logprobs"], found["engine_tokens"]) == (1, 0, 3)
    np.testing.assert_allclose(
        [found["engine_ratio"], found["engine_scale"], found["engine_agreement"]], [np.exp(-kept).mean(), 2, 1], rtol=1e-6
    )
