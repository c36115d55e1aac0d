"""Two runs by their numbers: whose rollouts and prompts enter."""

from pathlib import Path

import pytest
from looked_at import opened as run_of
from rows import row

from board.analysis.compare.run_shift import run_means, run_shift
from board.analysis.prompts.shared_prompts import shared_prompts, shared_share
from board.errors import FieldMissing
from board.runs.run import Run


@pytest.fixture
def two(tmp_path: Path) -> tuple[Run, Run]:
    """Two runs that share two prompts; one rollout has no reward, and one no prompt."""
    a = [row(0, prompt=f"p{at % 3}", reward=float(at)) for at in range(6)]
    b = [row(4, prompt=f"p{at % 2}", reward=at + 10.0) for at in range(4)]
    extra = [row(4, prompt="p0", reward=None), row(4, reward=1.0)]
    return run_of(tmp_path / "a", a), run_of(tmp_path / "b", [*b, *extra])


def test_a_shift(two: tuple[Run, Run]) -> None:
    """Rollouts without the number are left out; prompts are shared by their texts, whatever their steps."""
    found = run_shift(*two, "reward")

    assert found.mean.value == pytest.approx((10 + 11 + 12 + 13 + 1) / 5 - 2.5)
    assert (found.prompts, found.shared) == ((3, 3), 2)
    with pytest.raises(FieldMissing, match="entropy"):
        run_shift(*two, "entropy")


def test_means_of_many_numbers(two: tuple[Run, Run]) -> None:
    """The same mean for the same number; what a run lacks is left out."""
    found = run_means(*two, ["response_chars", "reward", "entropy"]).set_index("number")

    assert {*found.index} == {"reward", "response_chars"}
    assert found["difference"]["reward"] == pytest.approx(run_shift(*two, "reward").mean.value)
    assert found["low"]["reward"] == pytest.approx(run_shift(*two, "reward").mean.low)


def test_how_much_is_of_shared_prompts(two: tuple[Run, Run]) -> None:
    """Of the rollouts of both; one without a prompt is of none that both have."""
    assert shared_share(shared_prompts(*two)) == pytest.approx((4 + 5) / 12)
    assert shared_share(shared_prompts(two[0], two[0])) == 1
