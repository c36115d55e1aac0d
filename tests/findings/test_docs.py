"""docs/findings.md is what the kinds declare; the Chinese page names every kind."""

import subprocess
import sys
from pathlib import Path

from board.checks.all_checks import CHECKS
from board.findings.all_kinds import KINDS

REPOSITORY = Path(__file__).parents[2]


def test_the_page_is_as_the_kinds_say() -> None:
    """`python docs/findings.py` writes it."""
    done = subprocess.run(
        [sys.executable, "-c", "import findings; print(findings.page(), end='')"],
        cwd=REPOSITORY / "docs",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert (REPOSITORY / "docs" / "findings.md").read_text(encoding="utf-8") == done.stdout


def test_the_chinese_page_names_every_kind() -> None:
    """By hand: a kind without a line there has none for its readers."""
    page = (REPOSITORY / "docs" / "zh-CN" / "findings.md").read_text(encoding="utf-8")
    checks = {check.name for check in CHECKS}

    assert not [kind.name for kind in KINDS if kind.name not in checks and f"| `{kind.name}` |" not in page]
