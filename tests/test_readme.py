"""The README tells the truth: about the row, the files and the commands."""

import re
from pathlib import Path

import pytest

from board.schema import markdown_table

REPOSITORY = Path(__file__).parent.parent
READMES = ("README.md", "README.zh-CN.md")


def text(name: str) -> str:
    """A file of the repository."""
    return (REPOSITORY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", READMES)
def test_row_table_is_the_schema(name: str) -> None:
    """The table of fields is what `board.schema` declares, letter for letter."""
    shown = re.search(r"<!-- schema: .*? -->\n(.*?)\n<!-- /schema -->", text(name), re.DOTALL)

    assert shown is not None
    assert shown[1] == markdown_table()


@pytest.mark.parametrize("name", READMES)
def test_links_lead_somewhere(name: str) -> None:
    """Every relative link and picture is in the repository."""
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text(name)) if "://" not in target]

    assert targets
    assert [target for target in targets if target and not (REPOSITORY / target).exists()] == []


@pytest.mark.parametrize("name", READMES)
def test_the_two_commands_are_there(name: str) -> None:
    """A newcomer finds the command that starts the board and the one that checks a change."""
    assert "bash start.sh\n" in text(name)
    assert "bash tests/run.sh" in text(name)


def test_layout_lists_every_module() -> None:
    """The tree in the README names every module of the package, and none that is not there."""
    tree = text("README.md").split("## How the code is laid out")[1].split("```")[1]
    named = {word.strip("/") for line in tree.splitlines() for word in line.split()[:1]}
    modules = {path.name for path in (REPOSITORY / "board").iterdir() if path.suffix == ".py" and not path.name.startswith("__")}
    packages = {path.parent.name for path in (REPOSITORY / "board").glob("*/__init__.py")}

    assert modules | packages <= named
    assert {name for name in named if name.endswith(".py")} <= {path.name for path in REPOSITORY.rglob("*.py")}


def test_bundled_runs_are_named() -> None:
    """Each run that ships is in the README, and only those."""
    runs = {path.name for path in (REPOSITORY / "rollout_samples").iterdir() if path.is_dir()}

    for name in READMES:
        assert set(re.findall(r"\| `(tiny_ppo_\w+)` \|", text(name))) == runs
