"""How large the code may be. Size is a cost that every later change pays, so the ceilings only fall.

A commit that raises one says in its message what it buys.
"""

import ast
import io
import tokenize
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
OTHERS = ("vendored", "built", "node_modules")
"""Folders of what others wrote, and of what is built of our own."""

NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def files(folder: str, *endings: str) -> list[Path]:
    """Files below a folder of the repository with one of these endings, those that hold nothing and those of others left out."""
    found = [path for ending in endings for path in sorted((REPOSITORY / folder).rglob(f"*{ending}"))]
    return [path for path in found if path.stat().st_size and not set(OTHERS) & set(path.relative_to(REPOSITORY).parts)]


def lines(paths: Iterable[Path]) -> int:
    """Line ends in files."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def tokens(text: str) -> int:
    """Tokens of Python without comments, docstrings and white space: neither long lines nor missing docstrings change them."""
    bodies = [body for node in ast.walk(ast.parse(text)) if isinstance(body := getattr(node, "body", None), list)]
    docstrings = {
        (one.lineno, one.col_offset)
        for body in bodies
        for one in body
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
    }
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(one.type not in NO_CODE and not (one.type == tokenize.STRING and one.start in docstrings) for one in found)


CEILINGS: dict[str, tuple[Callable[[], int], int]] = {
    "lines of Python in board/": (lambda: lines(files("board", ".py")), 68_285),
    "tokens of Python in board/": (lambda: sum(tokens(path.read_text()) for path in files("board", ".py")), 526_970),
    "modules in board/": (lambda: len(files("board", ".py")), 569),
    "lines of JavaScript and CSS in board/": (lambda: lines(files("board", ".js", ".css")), 15_563),
    "lines of Python in tests/": (lambda: lines(files("tests", ".py")), 69_801),
}
"""What is measured → how, and how much it may be: what it was on 2026-11-28."""


@pytest.mark.parametrize("what", CEILINGS)
def test_size_only_falls(what: str) -> None:
    """No part of the code is larger than its ceiling."""
    measured, ceiling = CEILINGS[what]

    assert measured() <= ceiling


def test_tokens_are_those_of_code() -> None:
    """Comments, docstrings and line breaks are not counted; names, numbers, texts and signs are."""
    text = '"""Doc."""\n\nx = 1  # why\n\n\ndef f(a):\n    """Doc."""\n    return "b" + a\n'

    assert tokens(text) == len(["x", "=", "1", "def", "f", "(", "a", ")", ":", "return", "b", "+", "a"])
