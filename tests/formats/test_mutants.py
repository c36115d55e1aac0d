"""Tests that chance damage to any golden run ends in rollouts or reasons: 20,000 mutants where CI is true, fewer elsewhere."""

import json
import os

from bounded import run_bounded

COUNT = 20_000 if os.environ.get("CI") == "true" else 4_000


def test_mutants_of_golden_runs_are_loaded_or_refused() -> None:
    """No mutant ends in a traceback, none is lost and none invented, within 60 s of CPU time and bounded memory."""
    code = "import sys; sys.path[:0] = ['tests/helpers', '.']; import mutants; mutants.main(*map(int, sys.argv[1:]))"

    told = json.loads(run_bounded(code, str(COUNT), "11", cpu_seconds=60))

    assert told["loaded"] + told["refused"] + told["empty"] >= COUNT
    assert min(told["loaded"], told["refused"]) > COUNT // 4
    assert told["empty"] < COUNT // 20
