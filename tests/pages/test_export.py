"""Export in the top line, and what its link asks for. What is written has tests of its own, and so has how it is sent."""

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from opened_pages import GOOD, opened, texts, whole_row
from rows import add_run
from streamlit.testing.v1 import AppTest

from board.cli.main import main
from board.errors import BoardError, RunNotFound
from board.serving import downloads
from board.ui.frame import export_file


@pytest.fixture
def served() -> Iterator[None]:
    """The board's own server."""
    downloads.SERVED.set()
    yield
    downloads.SERVED.clear()


def opened_choices(**place: str | int) -> AppTest:
    """A page with the choices of Export open."""
    test = opened("steps", **place)
    test.session_state["export_choices"] = True
    return test.run()


def linked(test: AppTest) -> dict[str, str]:
    """The parameters of the link."""
    (link,) = [one.proto.body for one in test.get("html") if "<a href" in one.proto.body]
    address, _, rest = unescape(link.removeprefix('<a href="')).partition('"')
    assert rest.startswith(' download=""')
    path, _, query = address.partition("?")
    assert path == downloads.PATH
    return dict(parse_qsl(query))


def sent(**query: str) -> tuple[str, bytes]:
    """The name and the bytes of what an address asks for."""
    file = export_file.requested(query)
    return file.name, b"".join(piece.data for piece in file.pieces)


def test_the_link_asks_for_what_the_page_shows(root: Path, served: None) -> None:
    """The rollouts that the filter and the split leave, with what was chosen; the page says how many they are."""
    add_run(root, "run", [*GOOD, whole_row(0, reward=3.0, split="evaluation")])
    test = opened_choices(filter="reward > 2", split="train")
    assert "6 rollouts, about" in texts(test)
    assert "begins with =" in texts(test)
    assert linked(test) == {"run": "run", "filter": "reward > 2", "split": "train", "format": "csv"}

    test.radio(key="export_format").set_value("jsonl")
    test.toggle(key="export_arrays").set_value(True)
    test.run()

    assert "begins with =" not in texts(test)
    name, data = sent(**linked(test))
    rows = [json.loads(line) for line in data.splitlines()]
    assert (name, [row["reward"] for row in rows]) == (
        "run-6-rollouts.jsonl",
        [row["reward"] for row in GOOD if row["reward"] > 2],
    )
    assert all(len(row["logprobs"]) == 4 for row in rows)
    assert sent(run="run", filter="reward > 2", format="csv")[0] == "run-7-rollouts.csv"


def test_a_name_of_any_letters(root: Path, served: None) -> None:
    """A run whose name means something in HTML and in addresses has a link to itself."""
    name = '"><b>&run=x #?%ü'
    add_run(root, name, GOOD)
    assert linked(opened_choices())["run"] == name
    assert sent(run=name)[0] == f"{name}.csv"


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("arrays", ["0", "1"])
def test_it_is_the_file_of_the_command(root: Path, tmp_path_factory: pytest.TempPathFactory, form: str, arrays: str) -> None:
    """Byte for byte, in every format, with and without arrays; again when the run has grown."""
    add_run(root, "run", GOOD)
    for number in range(2):
        out = tmp_path_factory.mktemp("out") / f"{number}.{form}"
        options = ["--where", "reward > 2 AND step < 9", *(["--arrays"] if arrays == "1" else [])]
        main(["export", str(root / "run"), str(out), *options], standalone_mode=False)
        asked = {"run": "run", "filter": "reward > 2 AND step < 9", "format": form, "arrays": arrays}
        assert sent(**asked)[1] == out.read_bytes()
        add_run(root, "run", [*GOOD, whole_row(5, reward=9.0)])


REFUSED = {
    "no run": ({"run": "other"}, "There is no run 'other' under this root."),
    "no run at all": ({}, "There is no run '' under this root."),
    "outside the root": ({"run": "../outside"}, "There is no run"),
    "a link out": ({"run": "led/outside"}, "There is no run"),
    "an absolute path": ({"run": "/etc"}, "There is no run '/etc' under this root."),
    "a NUL": ({"run": "run\0"}, "There is no run"),
    "format": ({"run": "run", "format": "xlsx"}, "format is one of csv, jsonl, parquet."),
    "arrays": ({"run": "run", "arrays": "yes"}, "arrays is 1"),
    "split": ({"run": "run", "split": "evaluation"}, "no rollouts of the split 'evaluation'"),
    "column": ({"run": "run", "filter": "nothing > 2"}, "nothing"),
    "filter": ({"run": "run", "filter": "reward >"}, "reward >|syntax"),
    "a statement": ({"run": "run", "filter": "1 = 1); COPY rollouts TO 'x' --"}, "closes a bracket that it did not open"),
    "unknown": ({"run": "run", "fliter": "reward > 2"}, "An export has no 'fliter'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_asked_for(root: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Each is told in a sentence, before anything is sent; what is not under the root is no run."""
    (served := root / "served").mkdir()
    monkeypatch.setenv("RL_BOARD_ROOT", str(served))
    add_run(served, "run", GOOD)
    add_run(root, "outside", GOOD)
    (served / "led").symlink_to(root)
    query, said = REFUSED[what]
    with pytest.raises(BoardError, match=said) as refused:
        export_file.requested(query)
    assert isinstance(refused.value, RunNotFound) == ("no run" in str(refused.value))


def test_another_server_names_the_command(root: Path) -> None:
    """Under plain Streamlit there is no address for files: the command is named."""
    add_run(root, "run", GOOD)
    assert "rl-logging-board export" in texts(opened_choices())
