"""The README and the pages of docs/ tell the truth: about the row, the files, the commands and the house."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from board.serving.page_addresses import TABS

REPOSITORY = Path(__file__).parent.parent
READMES = ("README.md", "README.zh-CN.md")
PAGES = sorted(path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "docs").rglob("*.md"))
README_BYTES = 6_000


def text(name: str) -> str:
    """A file of the repository."""
    return (REPOSITORY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["docs/row.md", "docs/zh-CN/row.md"])
def test_row_table_is_the_schema(name: str) -> None:
    """The table of fields is what `board.schema` declares, letter for letter."""
    shown = re.search(r"<!-- schema: .*? -->\n(.*?)\n<!-- /schema -->", text(name), re.DOTALL)

    assert shown is not None
    assert shown[1] == runpy.run_path(str(REPOSITORY / "docs" / "row.py"))["table"]()


@pytest.mark.parametrize("name", [*READMES, *PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    """Every relative link and picture is in the repository."""
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text(name)) if "://" not in target]

    assert [target for target in targets if target and not (REPOSITORY / name).parent.joinpath(target).exists()] == []


@pytest.mark.parametrize("name", READMES)
def test_a_newcomer_reads_one_screenful(name: str) -> None:
    """What is longer than why, how to start and where to read on is in docs/, which the README leads to."""
    assert len(text(name).encode()) <= README_BYTES
    assert "docs/" in text(name)


def test_both_languages_have_the_same_pages() -> None:
    """Every page but the layout of the code, which is English, is there in Chinese."""
    english, chinese = ({Path(page).name for page in PAGES if ("zh-CN" in page) == there} for there in (False, True))
    assert english - chinese == {"architecture.md"}
    assert chinese <= english


@pytest.mark.parametrize("name", READMES)
def test_every_page_of_the_board_is_told(name: str) -> None:
    """The table of pages has a line for each tab, in the order of the tabs."""
    assert re.findall(r"^\| \*\*([A-Z][a-z ]+)", text(name), re.MULTILINE) == [tab.title for tab in TABS]


@pytest.mark.parametrize("name", READMES)
def test_the_two_commands_are_there(name: str) -> None:
    """A newcomer finds the command that starts the board and the one that checks a change."""
    assert "bash start.sh " in text(name)
    assert "bash tests/run.sh" in text(name)


def test_architecture_is_as_the_modules_say() -> None:
    """docs/architecture.md is what docs/architecture.py writes: every package there is, in the contract's order."""
    done = subprocess.run(
        [sys.executable, "-c", "import architecture; print(architecture.page(), end='')"],
        cwd=REPOSITORY / "docs",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8") == done.stdout
    assert all(f"\n- **`{path.parent.name}/`**: " in done.stdout for path in (REPOSITORY / "board").glob("*/__init__.py"))


def test_bundled_runs_are_named() -> None:
    """Each run that ships is in the README, and only those."""
    runs = {path.name for path in (REPOSITORY / "rollout_samples").iterdir() if path.is_dir()}

    for name in READMES:
        assert set(re.findall(r"\| `(tiny_ppo_\w+)` \|", text(name))) == runs
