"""Tests that chance damage to any golden run ends in rollouts or reasons: 20,000 mutants in the slow part, fewer else."""

import json

import pytest
from bounded import run_bounded


@pytest.mark.parametrize("count", [1_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_mutants_of_golden_runs_are_loaded_or_refused(count: int) -> None:
    """No mutant ends in a traceback, none is lost and none invented, within 60 s of CPU time and bounded memory."""
    code = "import sys; sys.path[:0] = ['tests/helpers', '.']; import mutants; mutants.main(*map(int, sys.argv[1:]))"

    told = json.loads(run_bounded(code, str(count), "11", cpu_seconds=60))

    assert told["loaded"] + told["refused"] + told["empty"] >= count
    assert min(told["loaded"], told["refused"]) > count // 4
    assert told["empty"] < count // 20
