"""Tests of standard output as a tracker."""

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.errors import BoardError
from board.trackers import stdout
from board.trackers.contract import plain

VALUES = {"reward/mean": 0.123456789, "kl/k1_mean": -3e-9, "counts/rollouts": 64}
ROWS: list[Mapping[str, str | int | float]] = [{"reward": 1.5, "response": "first\nsecond \x1b[31mred \ud800"}]


def written(run: str = "run", **options: Any) -> str:
    """What two steps with an example look like."""
    stream = io.StringIO()
    writer = stdout.open_writer(run, stream=stream, **options)
    writer.scalars(3, VALUES)
    writer.examples(3, "examples/best", ROWS)
    writer.scalars(4, {})
    writer.close()
    assert not stream.closed
    return stream.getvalue()


def test_table() -> None:
    """A step is a head line and its numbers in columns that line up; a text of several lines is set in, its commands shown."""
    wide = {f"metric/{number}": number / 3 for number in range(30)}
    stream = io.StringIO()
    stdout.open_writer("run", stream=stream).scalars(1, wide)

    assert written() == (
        "step 3\n"
        "reward/mean      0.123457   kl/k1_mean         -3e-09   counts/rollouts        64\n\n"
        "step 3, examples/best\n"
        "    reward: 1.5\n    response:\n        first\n        second \\u001b[31mred \\ud800\n\n"
        "step 4\n\n"
    )
    assert max(map(len, stream.getvalue().splitlines())) <= 120
    assert all(f"metric/{number} " in stream.getvalue() for number in range(30))


def test_json_lines() -> None:
    """Each line is an object of its own, numbers at full precision, and nothing in it moves a terminal."""
    text = written(format="jsonl")
    first, second, third = map(json.loads, text.splitlines())

    assert first == {"step": 3, **VALUES}
    assert second == {
        "step": 3,
        "examples": "examples/best",
        "rows": [{"reward": 1.5, "response": plain(str(ROWS[0]["response"]))}],
    }
    assert third == {"step": 4}
    assert text.isascii()


def test_an_unknown_format_is_refused() -> None:
    """A format that is not there names those that are."""
    with pytest.raises(BoardError, match="a table or jsonl, not 'yaml'"):
        stdout.open_writer("run", format="yaml")  # type: ignore[arg-type]


def test_a_terminal_without_unicode(tmp_path: Path) -> None:
    """Where standard output is ASCII, other characters are written by their numbers."""
    code = "from board.trackers import stdout; stdout.open_writer('r').scalars(1, {'Ä∑': 1.0})"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
        env={"PYTHONIOENCODING": "ascii"},
    )

    assert run.stdout == b"step 1\n\\xc4\\u2211  1\n\n"


def test_a_closed_stream_is_an_error() -> None:
    """Writing to a stream that somebody closed raises, so that the caller can count it."""
    stream = io.StringIO()
    writer = stdout.open_writer("run", stream=stream)
    stream.close()

    with pytest.raises(ValueError, match="closed"):
        writer.scalars(1, VALUES)


@given(st.text(alphabet=st.characters()))
def test_plain_text_has_no_commands(text: str) -> None:
    """No control, format or half character is left of any text, and what is printable stays as it is."""
    shown = plain(text)

    assert all(character.isprintable() or character in "\n\t\u200c\u200d" or character.isspace() for character in shown)
    assert not any(character in shown for character in "\x1b\r\x07\x9b\u202e\u2066\u2028")
    shown.encode()
    assert plain(text) == text or not text.isprintable()
