"""What the JavaScript is held to: lengths, format, unused names and types. `tests/run.sh` checks the sources themselves."""

import json
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
TOOLS = REPOSITORY / "node_modules" / ".bin"
SUFFIXES = (".js", ".mjs", ".d.ts")
FOUND = [path for folder in ("board", "tests") for path in (REPOSITORY / folder).rglob("*") if path.name.endswith(SUFFIXES)]
MODULES = [path for path in FOUND if path.parent.name not in ("vendored", "built")]
LONGEST = 400

needs_tools = pytest.mark.skipif(not TOOLS.exists(), reason="node_modules is not installed")


def test_no_module_is_too_long() -> None:
    """A module of ours has at most 400 lines, comments and types included."""
    lengths = {path.relative_to(REPOSITORY).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert len(lengths) > 50
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def lines(count: int) -> str:
    """So many statements of a function, a line each."""
    return "".join(f"  console.log({i});\n" for i in range(count))


LINTED = {
    "the longest function": (f"export function one() {{\n{lines(60)}}}\n", ""),
    "a longer function": (f"export function one() {{\n{lines(61)}}}\n", "noExcessiveLinesPerFunction"),
    "another format": ("export const one = 'two';\n", "format"),
    "an unused import": ('import { one } from "./two.js";\n', "noUnusedImports"),
}


@needs_tools
@pytest.mark.parametrize(("source", "told"), LINTED.values(), ids=LINTED)
def test_the_lint_refuses(source: str, told: str, tmp_path: Path) -> None:
    """A function has at most 60 lines; format and unused names are judged too."""
    module = tmp_path / "board" / "one.js"
    module.parent.mkdir()
    module.write_text(source, encoding="utf-8")
    (tmp_path / "biome.json").write_bytes((REPOSITORY / "biome.json").read_bytes())
    refused(TOOLS / "biome", "check", "--error-on-warnings", folder=tmp_path, told=told)


TYPED = {
    "typed": ("/** @param {string} name */\nexport const one = (name) => name.length;\n", ""),
    "without a type": ("export const one = (name) => name.length;\n", "TS7006"),
    "a wrong type": ("/** @param {number} size */\nexport const one = (size) => size.length;\n", "TS2339"),
    "perhaps null": ('export const one = () => document.querySelector("p").textContent;\n', "TS2531"),
}


@needs_tools
@pytest.mark.parametrize(("source", "told"), TYPED.values(), ids=TYPED)
def test_the_type_checker_refuses(source: str, told: str, tmp_path: Path) -> None:
    """Every parameter has a type, and what may be null is asked for it."""
    (tmp_path / "one.js").write_text(source, encoding="utf-8")
    settings = {"extends": str(REPOSITORY / "tsconfig.json"), "include": ["*.js"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    refused(TOOLS / "tsc", folder=tmp_path, told=told)


def refused(*command: str | Path, folder: Path, told: str) -> None:
    """A tool fails and says `told`; with nothing to tell it succeeds."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    said = done.stdout + done.stderr
    assert (done.returncode != 0, told in said) == (bool(told), True), said
