"""Custom metrics kept by name: what a name may be, two boards at once, and files that were damaged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from board.errors import BoardError
from board.user_files import saved_queries
from board.user_files.saved_queries import LONGEST_NAME, SavedMetric, delete, load, save

REPOSITORY = Path(__file__).parents[2]
QUERY = "SELECT step, avg(reward) FROM rollouts GROUP BY ALL"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the metrics of this test are kept."""
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path))
    return tmp_path / "custom_metrics"


def names() -> list[str]:
    """The names that are listed; there is nothing damaged."""
    found = load()
    assert found.damaged == ()
    return [one.name for one in found.metrics]


def test_saved_chosen_and_deleted(folder: Path) -> None:
    """A metric is there under its name until it is deleted; saving it again replaces it."""
    assert names() == []

    save("solved", QUERY)
    save(" Best ", f"\n{QUERY}\n")
    save("solved", "SELECT 1")

    assert load().metrics == (SavedMetric("Best", QUERY), SavedMetric("solved", "SELECT 1"))
    delete("solved")
    delete("never there")
    assert names() == ["Best"]


GOOD_NAMES = [
    "a",
    "A",
    "ä",
    "a/b",
    "../../etc/passwd",
    "C:\\x",
    ".",
    "..",
    "~",
    "值",
    "名" * LONGEST_NAME,
    "💡 idea",
    "<b>x</b>",
    "a b",
    "a_b",
    "-",
    "con",
]


def test_names_are_free(folder: Path) -> None:
    """Names that differ at all are different metrics, whatever a file system makes of them, and none leads out of the folder."""
    for name in GOOD_NAMES:
        save(name, f"SELECT '{name}'")

    assert {one.name: one.query for one in load().metrics} == {name: f"SELECT '{name}'" for name in GOOD_NAMES}
    assert {path.parent for path in folder.parent.rglob("*.json")} == {folder}
    assert len({path.name.lower() for path in folder.iterdir()}) == len(GOOD_NAMES)


BAD_NAMES = {
    "": "needs a name",
    " \t": "needs a name",
    "x" * (LONGEST_NAME + 1): "81 characters",
    "a\nb": "cannot be shown",
    "a\0": "cannot be shown",
    "a\u202eb": "cannot be shown",
    "a\x1b[31m": "cannot be shown",
    "\ud800": "cannot be shown",
}


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_cannot_be_shown(name: str, folder: Path) -> None:
    """A name is one line of 1 to 80 characters that can be seen."""
    with pytest.raises(BoardError, match=BAD_NAMES[name]):
        save(name, QUERY)

    assert not folder.exists()


@pytest.mark.parametrize(("query", "wanted"), [(" \n", "no query"), ("SELECT '\ud800'", "no text")])
def test_queries_that_cannot_be_kept(query: str, wanted: str, folder: Path) -> None:
    """There must be a query, and it must be text."""
    with pytest.raises(BoardError, match=wanted):
        save("a", query)

    assert names() == []


PRINTABLE = st.text(st.characters().filter(str.isprintable), min_size=1, max_size=LONGEST_NAME)


@settings(max_examples=50)
@given(PRINTABLE, st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_read_back_as_written(name: str, query: str) -> None:
    """Whatever can be saved is read back letter for letter, but for space around it."""
    assume(query.strip())
    try:
        saved = save(name, query)
    except BoardError:
        assume(False)
        raise

    assert saved == SavedMetric(name.strip(), query.strip())
    assert saved in load().metrics
    delete(saved.name)
    assert saved not in load().metrics


DAMAGE: dict[str, str | bytes] = {
    "empty": "",
    "cut off": '{"name": "a", "que',
    "another kind": "[1, 2]",
    "no query": '{"name": "a"}',
    "query of numbers": '{"name": "a", "query": 3}',
    "another's name": '{"name": "b", "query": "SELECT 1"}',
    "no UTF-8": b"\xff\xfe",
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_told_and_kept(name: str, folder: Path) -> None:
    """A damaged file is named and left; the others are listed; saving under its name moves it aside with all it held."""
    save("a", QUERY)
    (path,) = folder.iterdir()
    save("other", QUERY)
    damage = DAMAGE[name]
    damaged = damage if isinstance(damage, bytes) else damage.encode()
    path.write_bytes(damaged)

    found = load()

    assert [one.name for one in found.metrics] == ["other"]
    assert len(found.damaged) == 1
    assert str(path) in found.damaged[0]
    assert path.read_bytes() == damaged
    save("a", QUERY)
    assert names() == ["a", "other"]
    assert [one.read_bytes() for one in folder.glob("*.damaged-*")] == [damaged]


def test_a_damaged_file_of_any_name_is_told_as_text(folder: Path) -> None:
    """Bytes that are no UTF-8, line ends and marks of direction are written out: the sentence goes to a page."""
    save("a", QUERY)
    (folder / os.fsdecode(b"\xff\n\xe2\x80\xae.json")).write_text("{}")

    (told,) = load().damaged

    assert told.startswith(f"{folder}/\\xff\\x0a\\xe2\\x80\\xae.json holds no custom metric")


def test_what_is_left_of_a_crash_is_not_listed(folder: Path) -> None:
    """A file that was being written when the machine fell is neither a metric nor damage."""
    save("a", QUERY)
    (folder / "0123.tmp").write_text('{"name": "b", "que')

    assert names() == ["a"]


def test_folder_that_cannot_be_read_is_told(folder: Path) -> None:
    """A file where the folder should be is named, not taken for an empty folder."""
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("")

    with pytest.raises(BoardError, match="cannot be read: Not a directory"):
        load()


SAVER = """
import sys
from board.user_files.saved_queries import load, save
for number in range(30):
    save(f"{sys.argv[1]} {number}", f"SELECT {number}")
    save("shared", f"SELECT '{sys.argv[1]}'" + " " * 5_000 + "AS a")
    assert not load().damaged
"""


def test_boards_that_save_at_once_lose_nothing(folder: Path) -> None:
    """Several processes save and read at the same time: every metric is there afterwards, and nobody ever reads half of one."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    started = [subprocess.Popen([sys.executable, "-c", SAVER, board], env=environment) for board in "abc"]

    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]

    assert set(names()) == {"shared", *(f"{board} {number}" for board in "abc" for number in range(30))}
    assert [path for path in folder.iterdir() if path.suffix != ".json"] == []


def test_files_are_for_people(folder: Path) -> None:
    """A metric is a small JSON file that says its name and query, so that it can be copied to another machine."""
    save("值 over steps", QUERY)

    (path,) = folder.iterdir()

    assert json.loads(path.read_text(encoding="utf-8")) == {"name": "值 over steps", "query": QUERY}
    assert "值" in path.read_text(encoding="utf-8")
    assert saved_queries.load().metrics[0].query == QUERY
