"""child_process.processors: what a process was given counts, not what the machine has."""

import os
import subprocess
import sys
from pathlib import Path

import board

TELL = """
import os
from board.runs.child_process import processors
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(processors())
"""


def test_one_of_the_machines_processors() -> None:
    """A process that was bound to one processor counts one."""
    environment = os.environ | {"PYTHONPATH": str(Path(board.__file__).parents[1])}
    told = subprocess.run([sys.executable, "-c", TELL], env=environment, capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "1"
