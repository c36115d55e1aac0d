"""The pure half of the token view's JavaScript, tested by Node's own test runner where Node exists.

The board itself never needs it.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from board.serving.script_bundle import Modules

HERE = Path(__file__).parent
SUITES = sorted((HERE / "js").glob("*.test.mjs"))
NODE = shutil.which("node") or ""

pytestmark = pytest.mark.skipif(not NODE, reason="Node is not installed")


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name.removesuffix(".test.mjs"))
def test_the_arithmetic_of_the_view(suite: Path) -> None:
    """Every suite passes against the sources as they are shipped."""
    done = _node(HERE, "--test", str(suite))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "entry",
    [
        "token_view/view.js",
        "token_view/choice_bridge.js",
        "key_list/key_list.js",
        "curves/curves.js",
        "curves/choice_bridge.js",
        "prompt_timeline/timeline.js",
        "table/table.js",
        "picker/picker.js",
        "page_links/page_links.js",
    ],
)
def test_the_joined_script_is_one_module(entry: str, tmp_path: Path) -> None:
    """No two files use the same top-level name, and nothing of what they import was dropped on the way."""
    joined = tmp_path / "joined.mjs"
    joined.write_text(Modules().script(entry), encoding="utf-8")
    assert _node(tmp_path, "--check", str(joined)).stderr == ""
    loaded = _node(tmp_path, "--input-type=module", "-e", "console.log(typeof (await import('./joined.mjs')).default)")
    assert loaded.stdout.strip() == "function", loaded.stderr


def _node(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NODE, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )
