"""What is there twice, and what lacks: counted as a person would, and blamed on nothing that chance does."""

from pathlib import Path

import pytest
from rows import write_run
from sound_run import examined, found, names, sound

from board import open_run
from board.findings.checks.all_checks import run_checks


@pytest.mark.parametrize(("logprob", "again"), [(-0.1, False), (-2.0, True)], ids=["likely", "unlikely"])
def test_a_response_that_is_sampled_twice_is_no_row_twice(tmp_path: Path, logprob: float, again: bool) -> None:
    """What the policy says nearly always it says twice, with equal numbers; what it hardly ever says is one row twice."""
    rows = [one | {name: [logprob] * len(one["logprobs"]) for name in ("logprobs", "rollout_logprobs")} for one in sound()]
    rows = [{name: value for name, value in one.items() if name not in ("sample_id", "ref_logprobs")} for one in rows]
    assert ("same-row" in names(run_checks(open_run(write_run(tmp_path / "run", {"data.jsonl": [*rows, rows[-1]]}))))) is again


@pytest.mark.parametrize(("twins", "told"), [(1, False), (4, True)])
def test_few_equal_responses_are_no_note(tmp_path: Path, twins: int, told: bool) -> None:
    """One or two of a hundred rollouts are what every policy samples."""
    rows = [one | {"sample_id": None, "step": one["step"] + 9 * turn} for turn in range(3) for one in sound()]
    last = [one | {"response": rows[-1]["response"]} for one in rows[-1 - twins : -1]]
    assert ("same-response" in names(examined(tmp_path / "run", [*rows[: -1 - twins], *last, rows[-1]]))) is told


def test_the_data_source_without_rewards_is_named(tmp_path: Path) -> None:
    """Where all that lack a reward are of one source it is said which, and how much of it."""
    rows = [one | {"data_source": "ab"[at % 2], "reward": one["reward"] if at % 2 else None} for at, one in enumerate(sound())]
    assert "all of the data source `a` (100 % of its rollouts)" in found(examined(tmp_path / "run", rows), "missing-rewards").what


def test_steps_that_every_rank_writes_again_are_counted_once(tmp_path: Path) -> None:
    """What is counted are steps, not files."""
    rows = sound()
    again = [*rows, *(one for one in rows if one["step"] in (2, 3))]
    files = {f"rank_{rank}.jsonl": [one for one in again if one["rank"] == rank] for rank in (0, 1)}
    assert "2 steps written more than once" in found(run_checks(open_run(write_run(tmp_path / "run", files))), "resumed").what
