"""The pure half of the token view's JavaScript, tested by Node's own test runner where Node exists.

The board itself never needs it.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUITES = sorted((HERE / "js").glob("*.test.mjs"))
NODE = shutil.which("node") or ""

pytestmark = pytest.mark.skipif(not NODE, reason="Node is not installed")


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name.removesuffix(".test.mjs"))
def test_the_arithmetic_of_the_view(suite: Path) -> None:
    """Every suite passes against the sources as they are shipped."""
    done = _node(HERE, "--test", str(suite))
    assert done.returncode == 0, done.stdout + done.stderr


def _node(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NODE, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )
