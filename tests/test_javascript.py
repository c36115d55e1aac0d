"""What the JavaScript is held to: the limits of a module and a function. `tests/run.sh` checks the sources themselves."""

import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
TOOLS = REPOSITORY / "node_modules" / ".bin"

pytestmark = pytest.mark.skipif(not TOOLS.exists(), reason="node_modules is not installed")


def lines(count: int, indent: str) -> str:
    """So many statements, a line each."""
    return "".join(f"{indent}console.log({i});\n" for i in range(count))


SOURCES = {
    "the longest function": (f"export function one() {{\n{lines(60, '  ')}}}\n", ""),
    "a longer function": (f"export function one() {{\n{lines(61, '  ')}}}\n", "noExcessiveLinesPerFunction"),
    "the longest module": (lines(400, ""), ""),
    "a longer module": (lines(401, ""), "noExcessiveLinesPerFile"),
    "another format": ("export const one = 'two';\n", "format"),
    "an unused import": ('import { one } from "./two.js";\n', "noUnusedImports"),
}


@pytest.mark.parametrize(("source", "told"), SOURCES.values(), ids=SOURCES)
def test_the_lint_refuses(source: str, told: str, tmp_path: Path) -> None:
    """A module has at most 400 lines and a function 60; format and unused names are judged too."""
    module = tmp_path / "board" / "one.js"
    module.parent.mkdir()
    module.write_text(source, encoding="utf-8")
    (tmp_path / "biome.json").write_bytes((REPOSITORY / "biome.json").read_bytes())
    done = subprocess.run(
        [TOOLS / "biome", "check", "--error-on-warnings"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode != 0, told in done.stdout + done.stderr) == (bool(told), True), done.stdout + done.stderr
