"""Tests of what is handed out: the pins agree with each other, and an installed board has all its files."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    return dict(tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"])


def pins(name: str) -> list[str]:
    """The requirements in a requirements file, comments left out."""
    lines = (REPOSITORY / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def ranges(project: dict[str, Any]) -> dict[str, SpecifierSet]:
    """The releases of each dependency that the package allows, by its name."""
    return {one.name: one.specifier for one in map(Requirement, project["dependencies"])}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-lowest.txt"])
def test_pins_lie_within_the_ranges(project: dict[str, Any], name: str) -> None:
    """What start.sh installs, and the oldest that the tests are run with, are releases of the very packages that pip may install."""
    allowed = ranges(project)
    pinned = {one.name: next(iter(one.specifier)).version for one in map(Requirement, pins(name))}
    assert list(pinned) == list(allowed)
    assert [name for name, version in pinned.items() if version not in allowed[name]] == []


def test_lowest_pins_are_the_lower_ends(project: dict[str, Any]) -> None:
    """No release is promised that is older than those the tests are run with."""
    lowest = {one.name: Version(next(iter(one.specifier)).version) for one in map(Requirement, pins("requirements-lowest.txt"))}
    begins = {
        name: next(Version(one.version) for one in allowed if one.operator == ">=") for name, allowed in ranges(project).items()
    }
    assert begins == lowest


def test_test_requirements_are_the_test_extra(project: dict[str, Any]) -> None:
    """tests/run.sh and `pip install .[test]` bring the same tools."""
    assert pins("requirements-test.txt") == project["optional-dependencies"]["test"]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-lowest.txt", "requirements-test.txt"])
def test_requirements_are_exact(name: str) -> None:
    """Every requirement is one version, so that a clone of next year installs what was tested."""
    assert all("==" in line for line in pins(name))


def test_test_requirements_fit_the_lowest_pins() -> None:
    """What tests/run.sh installs beside the oldest releases can be: no test tool asks for newer ones, but what run.sh takes older."""
    lowest = {one.name: next(iter(one.specifier)).version for one in map(Requirement, pins("requirements-lowest.txt"))}
    taken_older = set(re.findall(r"s/\^(\w+)==", (REPOSITORY / "tests/run.sh").read_text()))
    asking = {
        tool.name
        for tool in map(Requirement, pins("requirements-test.txt"))
        for asked in map(Requirement, metadata.requires(tool.name) or [])
        if asked.marker is None or asked.marker.evaluate({"extra": ""})
        if asked.name in lowest and lowest[asked.name] not in asked.specifier
    }
    assert asking - taken_older == set()


def test_wheel_has_every_file(tmp_path: Path) -> None:
    """The wheel brings the entry script, modules, pages, scripts, styles, settings, samples, what is not ours with its licence; no tests."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "rl_logging_board.py", "board", "rollout_samples"):
        (source / name).symlink_to(REPOSITORY / name)
    build = "from setuptools import build_meta; import sys; print(build_meta.build_wheel(sys.argv[1]))"
    built = subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=source, capture_output=True, text=True, timeout=120)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    kept = {path for ending in ("py", "js", "css", "toml", "json") for path in (REPOSITORY / "board").rglob(f"*.{ending}")}
    kept |= {*(REPOSITORY / "rollout_samples").glob("*/*.jsonl*")}
    assert packed == {path.relative_to(REPOSITORY).as_posix() for path in kept} | {"rl_logging_board.py", "board/py.typed"}


def test_frame_is_as_the_theme() -> None:
    """The line that stays covers what scrolls below it in the page's own colour, light and dark."""
    theme = tomllib.loads((REPOSITORY / "board/serving/streamlit.toml").read_text())["theme"]
    pages = ", ".join(theme[half]["backgroundColor"] for half in ("light", "dark"))
    assert f"light-dark({pages})" in (REPOSITORY / "board/ui/frame/frame.css").read_text()


def test_licence_is_apache_2(project: dict[str, Any]) -> None:
    """The licence named is the licence given."""
    assert project["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in (REPOSITORY / "LICENSE").read_text()
