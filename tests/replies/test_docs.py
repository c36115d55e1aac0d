"""docs/scripts.md and the shipped schema are what the replies' shapes say."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

WRITTEN = {"page": "docs/scripts.md", "schema": "board/cli/replies/replies.schema.json"}


@pytest.mark.parametrize(("function", "file"), WRITTEN.items(), ids=WRITTEN)
def test_they_are_as_the_shapes_say(function: str, file: str) -> None:
    """`python docs/scripts.py` writes both."""
    done = subprocess.run(
        [sys.executable, "-c", f"import scripts; print(scripts.{function}(), end='')"],
        cwd=REPOSITORY / "docs",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert (REPOSITORY / file).read_text(encoding="utf-8") == done.stdout
