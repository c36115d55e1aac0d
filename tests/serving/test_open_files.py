"""Tests of the limit of open files: raised as far as is allowed, and never lowered."""

import subprocess
import sys

import pytest

from board.serving import open_files

CODE = """
import resource, sys
from board.serving import open_files
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(open_files.allow_many(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "then"),
    [
        pytest.param(256, 512, "512 512 512", id="raised to what is allowed"),
        pytest.param(512, 512, "512 512 512", id="nothing to raise"),
    ],
)
def test_raised_as_far_as_allowed(soft: int, hard: int, then: str) -> None:
    """The process may open as many as its user may, and the user's own bound stays."""
    code = CODE.format(soft=soft, hard=hard)
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == then


def test_enough_is_enough() -> None:
    """No process asks for more than it could need."""
    allowed = open_files.allow_many()
    assert allowed is None or allowed > 0
