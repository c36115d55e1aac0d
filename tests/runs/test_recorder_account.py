"""Tests of what a recorder says it lost."""

import json
from pathlib import Path

import pytest
from rows import token_row, write_run

from board import open_run
from board.recorder.loss_counts import WARNED
from board.runs.parsing import recorder_account
from board.runs.parsing.recorder_account import LOST_ROWS, UNTRACKED
from board.sources.shards import find_shards

ACCOUNTS: dict[str, tuple[object, list[str]]] = {
    "nothing lost": ({"rows": 2, "lost": {}, "token_arrays_left_out": 0, "ended": True}, []),
    "dropped": ({"lost": {"queue": 3}}, ["While recording, 3 rollouts were dropped because the disk was slower than training."]),
    "left out": (
        {"token_arrays_left_out": 1200},
        ["The recorder's budget left 1,200 rollouts without token arrays; their means and sums were recorded."],
    ),
    "not tracked": (
        {"lost": {"tracker": 2, "tracker_late": 1, "row": 4}},
        [
            "While recording, 4 rollouts could not be written.",
            "While tracking, 2 handovers to the tracker failed.",
            "While tracking, 1 rollouts came after the numbers of their step had left, and are not in them.",
        ],
    ),
    "a reason of tomorrow": ({"lost": {"<b>": 3}}, []),
    "no numbers": ({"lost": {"queue": "3", "disk": True, "row": -1}, "token_arrays_left_out": None}, []),
    "no losses": ({"lost": [3]}, []),
    "a list": ([1], []),
}


@pytest.mark.parametrize(("account", "sentences"), ACCOUNTS.values(), ids=ACCOUNTS)
def test_accounts_are_told(tmp_path: Path, account: object, sentences: list[str]) -> None:
    """Counts become sentences; whatever else stands in the file is not believed, and the run opens."""
    write_run(tmp_path, {"rank_0.jsonl": [token_row(0)], "rank_1.jsonl": [token_row(0)]})
    (tmp_path / "rank_0.jsonl.account.json").write_text(json.dumps(account))

    assert recorder_account.loss_sentences(find_shards(tmp_path)[0]) == sentences
    report = open_run(tmp_path).report
    assert (report.recording, report.rows, report.skipped) == (sentences, 2, {})


def test_accounts_of_all_ranks_are_added(tmp_path: Path) -> None:
    """One sentence for the run; damaged and enormous files say nothing."""
    write_run(tmp_path, {f"rank_{rank}.jsonl": [token_row(0)] for rank in range(4)})
    for rank, text in enumerate(['{"lost": {"disk": 1}}', '{"lost": {"disk": 2}}', "{", "[" * 100_000]):
        (tmp_path / f"rank_{rank}.jsonl.account.json").write_text(text)

    assert recorder_account.loss_sentences(find_shards(tmp_path)[0]) == ["While recording, 3 rollouts were refused by the disk."]


def test_every_reason_of_the_recorder_has_words(tmp_path: Path) -> None:
    """Whatever the recorder counts is told; what a tracker did not get is no loss of the run, and is told apart."""
    words = {**LOST_ROWS, **UNTRACKED}
    assert WARNED.keys() - {"account"} == words.keys()  # which costs nothing that is told
    for number, reason in enumerate(words):
        write_run(tmp_path / reason, {"rank_0.jsonl": [token_row(0)]})
        (tmp_path / reason / "rank_0.jsonl.account.json").write_text(json.dumps({"lost": {reason: number + 1}}))
        (sentence,) = recorder_account.loss_sentences(find_shards(tmp_path / reason)[0])
        assert sentence.startswith("While tracking, " if reason in UNTRACKED else "While recording, ")
        assert sentence.endswith(f" {words[reason]}.")
