"""The budget of the recorder: who keeps token arrays, what the others keep, and that the choice is ours to repeat."""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import account, rows_of

from board import open_run
from board.recorder import RolloutRecorder
from board.recorder.token_budget import Candidate, choose
from board.schema import TOKEN_METRICS

NUMBER = st.floats(-5, 5) | st.just(math.nan)
CANDIDATES = st.lists(
    st.builds(Candidate, size=st.integers(0, 100), kl=NUMBER, reward=NUMBER, truncated=st.booleans()), max_size=20
)


@given(CANDIDATES, st.integers(0, 1000), st.integers())
def test_a_choice_fits_and_is_full(candidates: list[Candidate], limit: int, seed: int) -> None:
    """What is chosen fits the budget, nothing left out would still fit, and the same seed chooses the same."""
    chosen = choose(candidates, limit, str(seed))
    left = limit - sum(candidates[index].size for index in chosen)

    assert left >= 0
    assert all(candidate.size > left for index, candidate in enumerate(candidates) if index not in chosen)
    assert chosen == choose(candidates, limit, str(seed))


def plain(**fields: Any) -> Candidate:
    """A candidate of size 1 with nothing special about it."""
    return Candidate(**{"size": 1, "kl": 0.1, "reward": 0.5, "truncated": False, **fields})


@pytest.mark.parametrize(
    "extreme",
    [plain(kl=3.0), plain(reward=-1.0), plain(reward=2.0), plain(truncated=True)],
    ids=["largest KL", "lowest reward", "highest reward", "truncated"],
)
@pytest.mark.parametrize("seed", range(5))
def test_extremes_come_first(extreme: Candidate, seed: int) -> None:
    """One rollout unlike a hundred others is among the first four chosen, whatever the seed."""
    candidates = [plain() for _ in range(100)]
    candidates.insert(40 + seed, extreme)

    assert 40 + seed in choose(candidates, 4, str(seed))


def test_ordinary_rollouts_are_among_the_chosen() -> None:
    """A fifth of the places goes to rollouts drawn at random, so that extremes can be compared with something."""
    candidates = [plain(kl=float(index), reward=float(index), truncated=True) for index in range(1000)]
    middle = {index for index in choose(candidates, 100, "0") if 100 < index < 900}

    assert len(middle) >= 25  # four fifths of the fifth that is random, and of the truncated, which all are


def step_of(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """A step of rollouts of 5 to 30 tokens with every token metric; some tokens are masked and some rollouts truncated."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        length = int(rng.integers(5, 30))
        arrays = {name: rng.normal(size=length).astype(np.float32) for name in TOKEN_METRICS}
        arrays["loss_mask"] = (rng.random(length) < 0.8).astype(np.float32)
        rows.append(
            {
                "response": "x" * length,
                "response_tokens": ["x"] * length,
                "my_metric": arrays["logprobs"] * 2,
                "top_logprobs": [[["x", -0.5]]] * length,
                "reward": float(rng.normal()),
                "finish_reason": "length" if number % 10 == 0 else "stop",
                **arrays,
            }
        )
    return rows


def record(folder: Path, rows: list[dict[str, Any]], **options: Any) -> RolloutRecorder:
    """Two steps of the same rows."""
    with RolloutRecorder(folder, **options) as recorder:
        for step in (0, 1):
            for number, row in enumerate(rows):
                recorder.write(step=step, number=number, **row)
    return recorder


def test_the_budget_holds_and_scalars_are_kept_for_all(tmp_path: Path) -> None:
    """Token arrays of a step stay within the budget; every rollout keeps its text and its numbers, in the order given."""
    rows = step_of(40)
    whole, small = record(tmp_path / "whole", rows), record(tmp_path / "small", rows, step_bytes=20_000)
    everything, kept = rows_of(whole.path()), rows_of(small.path())
    left_out = [row for row in kept if "token_arrays_left_out" in row]

    assert [row["number"] for row in kept] == [*range(40)] * 2
    assert [row["response"] for row in kept] == [row["response"] for row in everything]
    assert [row["reward"] for row in kept] == [row["reward"] for row in everything]
    assert 0 < len(left_out) == account(small.path())["token_arrays_left_out"] < 80
    assert all("logprobs" not in row and "response_tokens" not in row and "top_logprobs" not in row for row in left_out)
    texts = sum(len(row["response"]) + 1500 for row in kept)
    assert small.path().stat().st_size < 2 * 20_000 + texts
    assert small.dropped == 0


def test_a_row_without_its_arrays_keeps_what_the_board_derives(tmp_path: Path) -> None:
    """Tokens, KL, log-ratio and the mean of each metric, masked tokens left out, are the numbers the board computes from the arrays."""
    rows = step_of(6)
    record(tmp_path / "whole", rows)
    small = record(tmp_path / "small", rows, step_bytes=0)
    derived = open_run(tmp_path / "whole").frame
    names = [name for name in derived.columns if name.endswith(("_mean", "_sum", "_max"))] + ["response_length"]

    assert {"kl_k3_mean", "kl_k1_mean", "log_ratio_max", "entropy_mean", "token_reward_sum", "my_metric_mean"} - {*names} == {
        "kl_k1_mean"
    }
    for at, row in enumerate(rows_of(small.path())):
        for name in names:
            assert row[name] == pytest.approx(derived.iloc[at][name], rel=1e-6), name


def test_tokens_stay_where_they_are_the_text(tmp_path: Path) -> None:
    """A rollout without `response` keeps its tokens, or the board could not read it."""
    row = {"response_tokens": ["a", "b"], "logprobs": [-1.0, -2.0]}
    with RolloutRecorder(tmp_path, step_bytes=0) as recorder:
        recorder.write(step=0, **row)
    (kept,) = rows_of(recorder.path())

    assert (kept["response_tokens"], "logprobs" in kept) == (["a", "b"], False)
    assert open_run(tmp_path).report.refused == 0


def test_the_seed_decides_between_equals(tmp_path: Path) -> None:
    """Of equal rollouts the same seed keeps the same, another seed others."""
    rows = [{"response": "ab", "response_tokens": ["a", "b"], "logprobs": [-1.0, -2.0], "reward": 1.0}] * 60

    def kept(name: str, seed: int) -> list[int]:
        shard = record(tmp_path / name, rows, step_bytes=300, seed=seed).path()
        return [row["number"] for row in rows_of(shard) if "logprobs" in row]

    assert kept("a", 1) == kept("b", 1) != kept("c", 2)


@pytest.mark.parametrize("why", [{"truncated": True}, {"stop_reason": "length"}, {"finish_reason": "max_tokens"}], ids=str)
def test_every_word_for_the_limit_counts_as_truncated(tmp_path: Path, why: dict[str, Any]) -> None:
    """A response that was cut off keeps its token arrays before others like it, whatever its engine says of it."""
    row = {"response": "ab", "response_tokens": ["a", "b"], "logprobs": [-1.0, -2.0]}
    rows = [row] * 9 + [row | why] + [row] * 9

    kept = rows_of(record(tmp_path, rows, step_bytes=60).path())
    assert [one["number"] for one in kept if "logprobs" in one] == [9, 9]


def test_a_row_the_board_will_refuse_is_written_whole(tmp_path: Path) -> None:
    """What cannot be measured is neither lost nor cut: a row with no response, and one with odd values."""
    odd: list[dict[str, Any]] = [{"prompt": "no response"}, {"response": "r", "response_tokens": "text", "logprobs": {"a": 1}}]
    with RolloutRecorder(tmp_path, step_bytes=0) as recorder:
        for row in odd:
            recorder.write(step=0, **row)

    assert rows_of(recorder.path()) == [{"step": 0, "rank": 0, **row} for row in odd]


def test_without_a_budget_nothing_is_held(tmp_path: Path) -> None:
    """Rows of the step in progress are on disk without a budget, and wait for their step's end with one."""
    cases: list[tuple[dict[str, Any], int]] = [({}, 1), ({"step_bytes": 10**6}, 0)]
    for options, expected in cases:
        with RolloutRecorder(tmp_path / str(expected), **options) as recorder:
            recorder.write(step=0, response="r")
            recorder.flush()
            assert len(rows_of(recorder.path()) if recorder.path().exists() else []) == expected
        assert len(rows_of(recorder.path())) == 1


def test_the_choice_does_not_disturb_pythons_random(tmp_path: Path) -> None:
    """Training's own random numbers stay as seeded."""
    random.seed(3)
    expected = random.random()
    random.seed(3)
    record(tmp_path, step_of(5), step_bytes=500)

    assert random.random() == expected


def test_means_of_a_step_do_not_depend_on_the_budget(tmp_path: Path) -> None:
    """The board takes the kept numbers of rows without arrays for the ones it derives, so that no step's mean is of the extremes alone."""
    rows = step_of(40)
    record(tmp_path / "whole", rows)
    record(tmp_path / "small", rows, step_bytes=20_000)
    whole, small = open_run(tmp_path / "whole").frame, open_run(tmp_path / "small").frame

    assert small["token_arrays_left_out"].sum() > 20
    assert not [name for name in small.columns if name.endswith("(logged)")]
    for name in ("kl_k3_mean", "kl_k3_max", "log_ratio_sum", "entropy_mean", "my_metric_mean", "response_length"):
        np.testing.assert_allclose(small[name], whole[name], rtol=1e-6, err_msg=name)
