"""Runs, folders and shards of every kind of name: odd bytes, control characters, long ones and twins; all open, none harms another."""

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Final

import pytest
from opened_pages import ENTRY, opened
from rows import row, token_row, write_shard
from streamlit.testing.v1 import AppTest
from top_line import the_list

from board import open_run
from board.push.pushing import settled
from board.runs import library
from board.text.path_names import shown

PARTS: Final[dict[str, bytes]] = {
    "no UTF-8": b"bad\xff",
    "a backslash that looks like it": rb"bad\xff",
    "a line end": b"a\nb",
    "an escape sequence": b"\x1b[2Ja",
    "a mark of direction": "a\u202eb".encode(),
    "a surrogate": b"a\xed\xa0\x80",
    "as long as can be": b"x" * 249,
    "composed": unicodedata.normalize("NFC", "é").encode(),
    "decomposed": unicodedata.normalize("NFD", "é").encode(),
    "small": b"twin",
    "large": b"TWIN",
    "Markdown": b"**a** ![](x)",
    "HTML": b"<img src=x onerror=1>",
    "spaces": b" a ",
    "a question": b"a?b=c&d#e%2e",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a run for each name, which is also that of a folder in it and of a shard."""
    folder = tmp_path / "root"
    for step, name in enumerate(PARTS.values()):
        part = os.fsdecode(name)
        write_shard(folder / part / part / f"{part}.jsonl", [token_row(step)])
    write_shard(folder / "plain/a.jsonl", [row(99)])
    return folder


def test_every_run_is_listed_and_opened_by_its_name(root: Path) -> None:
    """As many names as runs; each resolves to its own folder, whose shard and rows are there, also out of the cache."""
    listed = {folder.name: folder for folder in library.list_runs(root)}

    assert len({name for name in listed if "/" not in name}) == len(PARTS) + 1
    for step, name in enumerate(PARTS.values()):
        part = os.fsdecode(name)
        assert library.resolve(root, shown(part)) == root / part
        for _ in range(2):
            run = open_run(root / part, within=root)
            assert (run.name, run.frame["step"].tolist()) == (shown(part), [step])
            assert run.frame["shard"].tolist() == [shown(Path(part, f"{part}.jsonl"))]
            assert run.report.problems == []
        key = int(run.frame.index[0])
        assert run.key_of(run.sources(run.frame.index.to_numpy())[0]) == key
        assert json.loads(run.raw(key))["step"] == step
        assert settled(run, 1e9).tolist() == []


@pytest.mark.parametrize("page", ["rewards", "responses", "tokens", "metrics", "data"])
def test_every_page_opens_a_link_to_an_odd_run(root: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """The run's name in the link is the one in the list, with its odd bytes visible; the others are listed beside it."""
    monkeypatch.setenv("RL_BOARD_ROOT", str(root))

    test = opened(page, run=r"bad\xff")

    assert list(test.exception) == []
    assert the_list(test, "run").chosen == r"bad\xff"
    assert {r"bad\xff", r"bad\x5cxff", "plain"} <= set(the_list(test, "run").options)
    assert test.query_params["run"] in (r"bad\xff", [r"bad\xff"])


def test_a_root_that_is_no_utf8_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only what lies in the root may have such a name."""
    folder = tmp_path / os.fsdecode(b"root\xff")
    write_shard(folder / "a.jsonl", [token_row(1)])
    monkeypatch.setenv("RL_BOARD_ROOT", str(folder))
    test = AppTest.from_file(str(ENTRY), default_timeout=60).run()

    assert list(test.exception) == []
    assert the_list(test, "run").options == [r"root\xff"]


COMMANDS = {
    "check": (["check"], []),
    "check --json": (["check", "--json"], []),
    "export": (["export", "--layout", "run"], ["out\udcfe"]),
    "push": (["push", "--to", "stdout", "--no-examples"], []),
}


@pytest.mark.parametrize(("command", "more"), COMMANDS.values(), ids=COMMANDS)
def test_commands_take_odd_names_and_print_text(root: Path, command: list[str], more: list[str]) -> None:
    """Their output is UTF-8 without control characters, and names the odd bytes where it names the path."""
    run = root / os.fsdecode(b"bad\xff")
    write_shard(run / "broken\udcff.jsonl", b"no JSON\n")
    environment = os.environ | {"RL_BOARD_STATE": str(root.parent / "state"), "PYTHONPATH": str(ENTRY.parent)}

    done = subprocess.run(
        [sys.executable, "-m", "board", command[0], str(run), *[str(root.parent / one) for one in more], *command[1:]],
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    said = (done.stdout + done.stderr).decode()

    assert done.returncode in (0, 1), said
    assert "Traceback" not in said
    assert all(letter.isprintable() or letter == "\n" for letter in said)
    if command[0] == "export":
        assert r"broken\xff.jsonl:1" in said
        assert (root.parent / "out\udcfe" / "bad\udcff" / "bad\udcff.jsonl").is_file()
