"""docs/findings.md and its Chinese page are what the kinds declare; the Chinese of every declared text is there, and no other."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
CHINESE = REPOSITORY / "docs" / "zh-CN" / "findings.json"


def printed(what: str) -> str:
    """What Python prints of an expression of docs/findings.py."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, findings; print({what}, end='')"],
        cwd=REPOSITORY / "docs",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(("language", "page"), [("en", "docs/findings.md"), ("zh", "docs/zh-CN/findings.md")])
def test_the_page_is_as_the_kinds_say(language: str, page: str) -> None:
    """`python docs/findings.py` writes it."""
    assert (REPOSITORY / page).read_text(encoding="utf-8") == printed(f"findings.page({language!r})")


def test_every_text_has_its_chinese() -> None:
    """A sentence that was changed is another one; what nothing declares any more is taken away."""
    declared = set(json.loads(printed("json.dumps([*findings.declared()])")))
    chinese = json.loads(CHINESE.read_text(encoding="utf-8"))

    assert sorted(declared - set(chinese)) == []
    assert sorted(set(chinese) - declared) == []
    assert [text for text, said in chinese.items() if not said.strip()] == []
