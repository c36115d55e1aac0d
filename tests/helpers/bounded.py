"""A piece of Python in a process of its own that may take so much CPU time and memory, and no more."""

import resource
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def run_bounded(code: str, *arguments: str | Path, cpu_seconds: int = 20, megabytes: int = 4_000) -> str:
    """What the code prints; a failure with what it said when it ends otherwise, by the system's hand or its own.

    The address space is bounded, of which libraries take some 2,000 MB before the first line of ours.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=REPOSITORY, preexec_fn=limit, capture_output=True, text=True
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2_000:]}"
    return done.stdout
