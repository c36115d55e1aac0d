"""One rollout whole: which, its group, its texts, its tokens."""

import math
from pathlib import Path
from typing import Any

import pytest
from asked import asked_run, plain_run
from rows import row, write_run

from board.cli.replies.messages import rollout_as_text
from board.cli.replies.one_rollout import RolloutRequest, one_rollout
from board.errors import ArgumentRefused
from board.runs.opening import open_run
from board.runs.run import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run of two steps."""
    return open_run(asked_run(tmp_path_factory.mktemp("root")))


def test_by_name(run: Run) -> None:
    """Numbers as they were written, texts whole, the group with the best first."""
    told = one_rollout(run, "run", RolloutRequest("rank_0.jsonl:7"))

    assert (told.rollout, told.step, told.split, told.token_count, told.tokens, told.cut) == (
        "rank_0.jsonl:7",
        1,
        "train",
        2,
        [],
        {},
    )
    assert told.numbers["reward"] == 1.0
    assert told.texts == {"prompt": "q", "response": "r12 中文"}
    assert [(one.rollout, one.reward) for one in told.group] == [("rank_0.jsonl:8", 3.0), ("rank_0.jsonl:7", 1.0)]


def test_the_best_of_a_step(run: Run) -> None:
    """Where a step alone is named."""
    assert one_rollout(run, "run", RolloutRequest(step=1)).rollout == "rank_0.jsonl:8"


def test_tokens(run: Run) -> None:
    """All in their order, or the most extreme first; KL k3 by its closed form exp(-d) - 1 + d of the log-ratio d."""
    whole = one_rollout(run, "run", RolloutRequest("rank_0.jsonl:8", tokens="all")).tokens
    loudest = one_rollout(run, "run", RolloutRequest("rank_0.jsonl:8", extremes_of="kl", top=1)).tokens

    assert [(one.position, one.token, one.counts) for one in whole] == [(0, "a", True), (1, " b", True)]
    difference = -5.0 + 2.5
    assert whole[1].values["kl"] == pytest.approx(math.exp(-difference) - 1 + difference, rel=1e-6)
    assert [one.position for one in loudest] == [1]


def test_long_texts_are_cut_where_that_is_asked(run: Run) -> None:
    """And it is told how long they are."""
    told = one_rollout(run, "run", RolloutRequest("rank_0.jsonl:1", longest=3))

    assert (told.texts["response"], told.cut) == ("r00", {"response": 6})


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing named": ({}, "Which rollout"),
    "no such line": ({"rollout": "rank_0.jsonl:99"}, "no rollout 'rank_0.jsonl:99'"),
    "no such shard": ({"rollout": "../../etc/passwd:1"}, "no rollout"),
    "another step's": ({"rollout": "rank_0.jsonl:1", "step": 1}, "at step 1"),
    "no such step": ({"step": 10**17}, "no step"),
    "no such metric": ({"step": 0, "extremes_of": "anger"}, "anger.*kl"),
}


@pytest.mark.parametrize(("wanted", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(wanted: dict[str, Any], why: str, run: Run) -> None:
    """In one sentence that names what was asked for."""
    with pytest.raises(ArgumentRefused, match=why):
        one_rollout(run, "run", RolloutRequest(**wanted))


def test_a_response_alone(tmp_path: Path) -> None:
    """No group, no tokens, no reward; the first of the step stands for the best."""
    told = one_rollout(open_run(plain_run(tmp_path)), "run", RolloutRequest(step=7, tokens="all"))

    assert (told.rollout, told.group, told.tokens, told.texts) == ("rank_0.jsonl:1", [], [], {"response": "ok"})


NAMES = ["ä»", "Ĭ", "Ġthe", "Ġend", "Ċ"]


@pytest.mark.parametrize(
    ("wanted", "shown"), [({"tokens": "all"}, ["'今 (1 of 2)'", "' the'", r"'\n'"]), ({"extremes_of": "logprob"}, ["' the'"])]
)
def test_tokens_are_printed_as_text(tmp_path: Path, wanted: dict[str, Any], shown: list[str]) -> None:
    """Where a tokenizer's names are of bytes: its letters for them say nothing to a reader."""
    rows = [row(0, response="今 the end\n", response_tokens=NAMES, logprobs=[-0.1, -0.2, -3.0, -2.0, -0.1])]
    told = one_rollout(open_run(write_run(tmp_path, {"a.jsonl": rows})), "run", RolloutRequest(step=0, top=4, **wanted))

    printed = rollout_as_text(told)

    assert [text for text in shown if text not in printed] == []
    assert "Ġ" not in printed
