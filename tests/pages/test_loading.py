"""Every page by AppTest, on good runs and bad ones: nothing breaks, and what was not read is said."""

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from drawn_panels import panels
from opened_pages import ENTRY, GOOD, TEXT_ALONE, every_page, linked, opened, opening_links, sent, texts, when_read, whole_row
from range_server import range_server
from rows import add_run
from streamlit.testing.v1 import AppTest
from top_line import the_list

from board import open_run
from board.runs.cache.store import Store
from board.runs.library import list_runs
from board.settings import run_choices
from board.sources.remote import listings

ODD_RUNS = sorted(path for path in (Path(__file__).parents[1] / "odd_runs").iterdir() if path.is_dir())

ODD_FILES = (63, 64, 66, 67, 68, 71, 87)
"""Runs whose rows are sound."""

SOME_PAGES = ("rewards", "responses", "tokens")
"""Those that show a run's rows as they are."""

RUNS = {
    "good": (GOOD, "4 rollouts of step 2"),
    "without token fields": ([TEXT_ALONE, TEXT_ALONE | {"step": 1}], ""),
    "without reward": ([whole_row(s, reward=..., ref_reward=...) for s in range(2)], ""),
    "one rollout": ([whole_row(7)], "1 rollout of step 7"),
    "tokens alone": ([whole_row(0, response=..., prompt=..., ref_response=...)], ""),
    "no arrays": ([whole_row(0, logprobs=..., ref_logprobs=..., values=..., token_rewards=...)], ""),
    "arrays without tokens": ([whole_row(0, response_tokens=...)], ""),
    "nothing but step and response": ([{"step": 0, "response": "x"}], ""),
    "all masked": ([whole_row(0, loss_mask=[0, 0, 0, 0])], ""),
}


@pytest.mark.parametrize("name", RUNS)
def test_every_page_draws_every_run(root: Path, name: str) -> None:
    """No run the loader accepts breaks a page."""
    rows, wanted = RUNS[name]
    add_run(root, "run", rows)

    for page, test in every_page():
        assert not test.exception, page
        if page == "responses":
            assert wanted in texts(test)


@pytest.mark.parametrize("pages", [SOME_PAGES, pytest.param((), marks=pytest.mark.slow)], ids=["some pages", "all pages"])
@pytest.mark.parametrize("folder", ODD_RUNS, ids=lambda folder: folder.name)
def test_odd_runs_break_no_page(root: Path, folder: Path, pages: tuple[str, ...]) -> None:
    """Each page shows what is in a run folder or says in words why not; of sound rows in odd files the first page does."""
    copytree(folder, root / folder.name, symlinks=True)

    if int(folder.name[:2]) in ODD_FILES:
        pages = SOME_PAGES[:1]
    for page, test in ((page, opened(page, run=folder.name)) for page in pages) if pages else every_page(run=folder.name):
        assert not test.exception, page
        assert linked(test, "run") == folder.name, page


@pytest.mark.parametrize(
    ("there", "said"), [(True, ("No run folders under {}", "bash start.sh PATH")), (False, ("'{}' is not a folder",))]
)
def test_a_root_without_runs_is_named(root: Path, monkeypatch: pytest.MonkeyPatch, there: bool, said: tuple[str, ...]) -> None:
    """The board says where it looked and how to name another root; a root that is no folder is an error in words, no traceback."""
    looked = root if there else root / "none"
    monkeypatch.setenv("RL_BOARD_ROOT", str(looked))
    test = opened("rewards")
    assert not test.exception
    assert all(one.format(looked) in texts(test) for one in said)


def test_empty_folder_says_what_was_looked_for(root: Path) -> None:
    """An empty run folder can be chosen, and every page says which files it wants."""
    (root / "empty").mkdir()

    for page, test in every_page(run="empty"):
        assert not test.exception, page
        assert "No rollouts in 'empty': looked for *.jsonl, *.jsonl.gz, *.jsonl.zst, *.jsonl.xz" in texts(test), page
        assert (the_list(test, "run").chosen, sent(test, "picker")[1:]) == ("empty", []), page


def test_broken_lines_are_counted_and_the_rest_is_shown(root: Path) -> None:
    """Bad lines stand in the report with their place; the good rows are on the page."""
    folder = add_run(root, "run", [whole_row(0), whole_row(1)])
    with (folder / "rank_0.jsonl").open("a") as shard:
        shard.write('not json\n{"step": 3}\n')

    test = opened("responses")

    assert not test.exception
    assert "2 rows · 2 problems" in _popovers(test.main)


def _popovers(block: Any) -> list[str]:
    """Labels of all popovers in a block."""
    inside = list(getattr(block, "children", {}).values())
    labels = [child.proto.popover.label for child in inside if child.type == "popover"]
    return [*labels, *(label for child in inside for label in _popovers(child))]


def test_run_without_a_readable_row_names_the_missing_keys(root: Path) -> None:
    """Another trainer's rows are refused with the keys seen and what they may be called here."""
    add_run(root, "run", [{"input": "q", "output": "a", "score": 0.5, "global_step": 1}])

    test = opened("rewards")

    assert "No rows could be read: 1 line refused" in texts(test)
    assert 'step = "global_step"' in "".join(one.value for one in test.code)


@pytest.mark.parametrize(("name", "count"), [("a.jsonl", 2), ("one_object.json", 1)])
def test_a_suggested_mapping_is_shown_and_taken(root: Path, name: str, count: int) -> None:
    """Where nobody knows the format the page shows the guess, rows as it reads them, and a button that keeps it among the settings."""
    rows = [{"question": f"Q{at}?", "generated": f"I say {at}.", "right": at == 1} for at in range(count)]
    folder = add_run(root, "run", rows, name)
    assert [one.shards for one in list_runs(root)] == [1]
    test = opened("rewards")
    assert "response: I say 0." in texts(test)
    next(one for one in test.button if one.key == "take_mapping").click().run()

    assert not test.exception
    assert "No rows could be read" not in texts(test)
    assert (run_choices.mapping_path(folder).is_file(), (folder / "rollouts.toml").exists()) == (True, False)
    assert open_run(folder).frame["reward"].tolist() == [0.0, 1.0][:count]


def test_a_folder_of_metrics_is_told_as_such(root: Path) -> None:
    """Logs of a trainer are no refused rollouts: the page says what they are and how rollouts are written."""
    add_run(root, "run", [{"step": at, "optim/lr": 0.1, "reward/mean": 0.5} for at in range(3)], "metrics.jsonl")

    assert "holds metrics and no rollouts: metrics.jsonl (steps 0 to 2). tinker-cookbook" in texts(opened("rewards"))


def test_a_recording_offers_the_dump_next_to_it(root: Path) -> None:
    """The load report of a recording leads to the trainer's own dump, which is in the list of runs and has a link."""
    folder = add_run(root, "run", [whole_row(0), whole_row(1), whole_row(2)])
    (folder / "rank_0.jsonl.account.json").write_text('{"ended": true}')
    add_run(root, "run", [{"input": "q", "output": "a", "score": 1.0, "step": 7}], "7.jsonl")

    page, dump = when_read(opened("rewards", run="run"), folder), opened("rewards", run="run (verl)")
    page.session_state["report"] = True
    page.run()

    (link,) = opening_links(page)
    assert (link.label, link.proto.query_string) == ("Open what verl wrote", "run=run+%28verl%29")
    assert "This recording's folder also holds verl's own dump (1 file, such as 7.jsonl)." in texts(page)
    assert the_list(page, "run").options == ["run", "run (verl)"]
    assert "3 rows · nothing refused · 1 note" in _popovers(page.main)
    assert (linked(dump, "run"), linked(dump, "step")) == ("run (verl)", "7")


def test_a_part_of_a_run_leads_to_it(root: Path) -> None:
    """TRL's output folder and its completions are one run in the list, and a link to the latter opens the former."""
    add_run(root, "trl_grpo/completions", [whole_row(0), whole_row(1)])

    test = opened("rewards", run="trl_grpo/completions", step=0)

    assert the_list(test, "run").options == ["trl_grpo"]
    assert (linked(test, "run"), linked(test, "step"), [*test.exception]) == ("trl_grpo", "0", [])


def test_the_pad_token_is_asked_for_where_loading_is_told(root: Path) -> None:
    """It is in the load report, which is opened by a link here; there is no sidebar."""
    add_run(root, "run", [whole_row(0)])
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    test.session_state["report"] = True

    test.run()

    assert [one.value for one in test.text_input if one.label == "Pad tokens of this run"] == [""]
    assert not test.sidebar.children


EMPTY = {
    "an empty file beside rows": ([whole_row(0)], b"", "b.jsonl: 0 rows, the file is empty."),
    "nothing but an empty file": ([], b"", "b.jsonl: 0 rows, the file is empty."),
    "blank lines": ([whole_row(0)], b"\n\n", "b.jsonl: 0 rows, there is no row in it."),
    "half a line": ([whole_row(0)], b'{"step": 1, "resp', "b.jsonl: 0 rows, its only line is still being written."),
    "refused lines": (
        [whole_row(0)],
        b'{"step": "x", "prompt": "p", "response": "r", "reward": 1.0}\n',
        "b.jsonl: 0 rows, every line of it was refused.",
    ),
}


@pytest.mark.parametrize(("rows", "data", "said"), EMPTY.values(), ids=EMPTY)
def test_an_empty_shard_is_0_rows_with_its_reason(root: Path, rows: list[dict[str, Any]], data: bytes, said: str) -> None:
    """In the load report, or in the place of the page where no shard has rows."""
    folder = add_run(root, "run", rows, "a.jsonl")
    if not rows:
        (folder / "a.jsonl").unlink()
    (folder / "b.jsonl").write_bytes(data)
    test = AppTest.from_file(str(ENTRY), default_timeout=60)
    test.session_state["report"] = True

    assert said in texts(when_read(test.run(), folder))


def test_run_deleted_while_open_stays_on_the_screen(root: Path) -> None:
    """What was loaded is still shown when the folder has gone, live or not."""
    folder = add_run(root, "run", [whole_row(0)])
    test = opened("responses")
    (folder / "rank_0.jsonl").unlink()

    test.run()

    assert not test.exception
    assert "1 rollout of step 0" in texts(test)


def test_a_large_run_that_lies_elsewhere_waits_to_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is fetched by a button or a link that tells what it takes; one on this machine is opened whatever its size, unasked."""
    monkeypatch.setattr("board.ui.frame.header.MOST_AUTOMATIC_BYTES", 10)
    add_run(tmp_path / "served", "run", GOOD)
    monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path / "served"))
    assert len(panels(opened("rewards"))) > 0
    with range_server(tmp_path / "served") as server:
        monkeypatch.setenv("RL_BOARD_ROOT", str(listings.mounted(server.address)))
        test = opened("rewards")

        assert "Fetched once, up to" in texts(test)
        assert panels(test) == {}
        next(button for button in test.button if button.label.startswith("Load")).click().run()
        assert len(panels(test)) > 0


def test_a_run_without_rewards_says_so_on_every_page(root: Path) -> None:
    """Whichever page is opened first, it stands at the top that there is no reward, and that no response says anything."""
    add_run(root, "run", [{"step": 0, "response": ""}, {"step": 0, "response": ""}])

    for page, test in every_page():
        assert "No rollout has a reward (2 rollouts)." in texts(test), page
        assert "All 2 responses are empty." in texts(test), page


def test_files_without_rollouts_are_listed(root: Path) -> None:
    """What was left out, whose format was read and what to know of the numbers stand in the load report."""
    add_run(root, "run", [{"input": "q", "output": "a", "score": 1.0, "step": 1}], "1.jsonl")
    add_run(root, "run", [{"loss": 1}], "metrics.jsonl")

    page = when_read(opened("responses"), root / "run")
    page.session_state["report"] = True
    page.run()

    said = texts(page)
    assert "Format: verl (1 shard)." in said
    assert "Left out: metrics.jsonl holds no rollouts that the board knows; its keys are loss." in said


def test_damaged_cache_is_told(root: Path) -> None:
    """A reader hears that something in the cache was damaged and read again from the shard, in the count of notes and beneath it."""
    add_run(root, "run", [whole_row(0), whole_row(1)])
    open_run(root / "run")
    part = next(Store(root / "run").folder.glob("*.arrow"))
    data = part.read_bytes()
    part.unlink()
    part.write_bytes(bytes(len(data)))

    page = opened("responses", run="run")
    page.session_state["report"] = True
    page.run()

    assert "What the cache held of rank_0.jsonl was damaged, and was read again from the run itself." in texts(page)
    assert "2 rows · nothing refused · 1 note" in _popovers(page.main)
