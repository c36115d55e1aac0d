"""Tests of the rules of the house that a program can check: who imports whom, and how long things may get."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from marked import MARKED

REPOSITORY = Path(__file__).parent.parent
BOARD = REPOSITORY / "board"
MODULES = sorted(BOARD.rglob("*.py"))
TESTS = REPOSITORY / "tests"

KNOW_STREAMLIT = ("ui", "serving")
"""The packages that may know Streamlit. The command line gets it through `serving`, when it serves."""

MODULE_LINES = 400
FUNCTION_LINES = 60


def offending(paths: Iterable[Path], offences: Callable[[Path], object]) -> dict[str, object]:
    """What is wrong with each path that something is wrong with, by its name within the repository. One test for all: they are many."""
    return {path.relative_to(REPOSITORY).as_posix(): found for path in paths if (found := offences(path))}


@cache
def parsed(path: Path) -> ast.Module:
    """A module's syntax tree, parsed once for all tests."""
    return ast.parse(path.read_text())


def imported(tree: ast.AST) -> Iterator[str]:
    """The name of every module a syntax tree imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def below_the_line(path: Path) -> bool:
    """Whether a module of board/ reads or computes rather than draws."""
    return path.relative_to(BOARD).parts[0] not in KNOW_STREAMLIT


def test_streamlit_stays_above_the_line() -> None:
    """Nothing that reads or computes imports Streamlit, so that it runs in notebooks, jobs and tests."""
    below = filter(below_the_line, MODULES)

    assert offending(below, lambda path: [name for name in imported(parsed(path)) if name.split(".")[0] == "streamlit"]) == {}


OWNERS = {
    "session_state": ("place.py", "linked.py"),
    "query_params": ("place.py", "linked.py"),
    "cache_data": ("caches.py",),
    "cache_resource": ("caches.py",),
}
"""What of Streamlit keeps something from one run of the script to the next, and the modules of ui/ that own it."""


def test_only_place_and_caches_touch_the_browser_session() -> None:
    """Streamlit's session state and query parameters have their owners, its caches another."""

    def stolen(path: Path) -> set[str]:
        attributes = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.Attribute))
        used = {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "st"}
        return {name for name in used & OWNERS.keys() if path.parent != BOARD / "ui" / "state" or path.name not in OWNERS[name]}

    assert offending(MODULES, stolen) == {}


def test_open_run_without_streamlit(tmp_path: Path) -> None:
    """A notebook without Streamlit can open a run, for which nothing is loaded that only other runs or the board need."""
    (tmp_path / "rank_0.jsonl").write_text('{"step": 1, "response": "a", "reward": 0.5}\n')
    code = f"""
import sys
sys.modules["streamlit"] = None
from board import open_run
run = open_run({str(tmp_path)!r})
assert len(run.frame) == 1
unneeded = {{"pyarrow.parquet", "plotly", "duckdb", "click"}} & set(sys.modules)
assert not unneeded, unneeded
"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True, timeout=60)


def test_importing_the_package_imports_nothing_of_it() -> None:
    """Every process of ours begins with `import board`, and pays for no more than what it then asks for."""
    code = "import sys, board; assert not [name for name in sys.modules if name.startswith('board.')]; board.RolloutRecorder"
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True, timeout=60)


def test_recorder_needs_numpy_and_orjson_alone() -> None:
    """A trainer that records imports no viewer."""
    code = """
import sys
from board.recorder import RolloutRecorder
heavy = {"pandas", "pyarrow", "platformdirs", "filelock", "plotly", "streamlit", "torch", "click"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True, timeout=60)


def test_import_contract() -> None:
    """The layers of pyproject.toml hold."""
    lint_imports = shutil.which("lint-imports", path=Path(sys.executable).parent)
    assert lint_imports
    ended = subprocess.run([lint_imports, "--no-logo"], cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_class_name_has_one_meaning() -> None:
    """No two modules define a class of the same name; one that only its module knows begins with an underscore."""
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path.relative_to(REPOSITORY).as_posix())

    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_lengths() -> None:
    """No module grows over 400 lines and no function over 60."""

    def too_long(path: Path) -> list[str]:
        functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        long = [node.name for node in functions if (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_LINES]
        lines = len(path.read_text().splitlines())
        return [*([f"{lines} lines"] if lines > MODULE_LINES else []), *long]

    assert offending([*MODULES, REPOSITORY / "rl_logging_board.py", *TESTS.rglob("*.py")], too_long) == {}


def test_every_test_says_its_rule() -> None:
    """Each test's docstring is the rule it holds, in a sentence."""

    def silent(path: Path) -> list[str]:
        tests = [node for node in parsed(path).body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        return [node.name for node in tests if not (ast.get_docstring(node) or "").endswith(".")]

    assert offending(TESTS.rglob("test_*.py"), silent) == {}


def test_only_browser_tests_need_a_browsers_library() -> None:
    """All others can be collected where Playwright is not installed: none imports it, nor a helper that does."""
    trees = {path.relative_to(TESTS): parsed(path) for path in TESTS.rglob("*.py")}
    helpers = {path for path in trees if path.parts[0] == "helpers" and "playwright.sync_api" in imported(trees[path])}
    libraries = {"playwright", *(path.stem for path in helpers)}
    others = {path: tree for path, tree in trees.items() if path.parts[0] != "browser" and path not in helpers}

    assert [path for path, tree in others.items() if libraries & {name.split(".")[0] for name in imported(tree)}] == []


@pytest.mark.parametrize("place", sorted(place for places in MARKED.values() for place in places))
def test_what_is_marked_is_there(place: str) -> None:
    """A folder or file of tests that was moved takes its markers along."""
    assert (TESTS / place).exists()
