"""Tests of tokens that are proposed as pads."""

from pathlib import Path
from typing import Any

import pytest
from rows import add_run, write_run

from board import open_run


def rows(tokens: list[str], mask: list[int], count: int = 8) -> list[dict[str, Any]]:
    """So many rollouts of these tokens."""
    return [{"step": 1, "prompt": "p", "response": "r", "response_tokens": tokens, "loss_mask": mask} for _ in range(count)]


CASES = {
    "behind": (rows(["a", "<x>", "<x>"], [1, 0, 0]), '"<x>" stands again and again at the ends of 8 rollouts'),
    "in front": (rows(["<x>", "<x>", "a"], [0, 0, 1]), '"<x>" stands again and again at the ends of 8 rollouts'),
    "an id": (rows([" 7", " 7", "a"], [0, 0, 1]), 'write pads = ["7"] at the top of rollouts.toml'),
    "too few": (rows(["a", "<x>", "<x>"], [1, 0, 0], 7), ""),
    "trained on elsewhere": (rows(["a", "<x>", "<x>"], [1, 0, 0]) + rows(["<x>", "b"], [1, 1], 1), ""),
    "not masked": (rows(["a", "<x>", "<x>"], [1, 1, 1]), ""),
    "once": (rows(["a", "<x>"], [1, 0]), ""),
    "white space": (rows(["a", "\n", "\n"], [1, 0, 0]), ""),
    "known": (rows(["a", "<pad>", "<pad>"], [1, 0, 0]), ""),
    "a small share": (rows(["a", "<x>", "<x>"], [1, 0, 0]) + rows(["a", "b"], [1, 1], 80), ""),
}


@pytest.mark.parametrize(("made", "expected"), CASES.values(), ids=CASES)
def test_what_stands_at_many_ends_is_proposed(tmp_path: Path, made: list[dict[str, Any]], expected: str) -> None:
    """Twice or more at the ends of many rollouts where the loss mask is 0, and trained on nowhere; with the line to add."""
    problems = [one.reason for one in open_run(add_run(tmp_path, "run", made)).report.problems]

    assert len(problems) == bool(expected)
    assert all(expected in one for one in problems)


def test_what_is_named_is_proposed_no_more(tmp_path: Path) -> None:
    """The line that was proposed makes another run of it: it is read anew."""
    folder = add_run(tmp_path, "run", rows(["a", "<x>", "<x>"], [1, 0, 0]))
    assert open_run(folder).report.problems

    (folder / "rollouts.toml").write_text('pads = ["<x>"]\n', encoding="utf-8")

    read = open_run(folder)
    assert (read.report.problems, read.rollout(0).tokens) == ([], ["a"])


ENDED = {"response_tokens": ["a", "</s>", "</s>"], "response": "a</s></s>", "loss_mask": [1, 1, 0], "logprobs": [-1, -2, 0]}
CUT = {
    "response_tokens": ["a", "b", "</s>", "</s>"],
    "response": "ab </s></s>",
    "loss_mask": [1, 1, 0, 0],
    "logprobs": [-1, -2, 0, 0],
}
MASKED_ENDS = {
    "padded with the end token": (CUT, "ab", ["a", "b"]),
    "padded, and more keys": (CUT | {"own": ["x"]}, "ab", ["a", "b"]),
    "ended": (ENDED, "a</s>", ["a", "</s>"]),
    "the environment's": (CUT | {"loss_mask": [1, 0, 0, 0]}, "ab </s>", ["a", "b", "</s>"]),
    "without a mask": ({**CUT, "loss_mask": None}, "ab </s>", ["a", "b", "</s>"]),
}


@pytest.mark.parametrize(("row", "text", "tokens"), MASKED_ENDS.values(), ids=MASKED_ENDS)
def test_an_end_token_that_pads_a_cut_off_response_is_taken_off(
    tmp_path: Path, row: dict[str, Any], text: str, tokens: list[str]
) -> None:
    """Where the loss mask trains on end tokens, one with mask 0 behind what the policy wrote is a pad; where it trains on none, none is."""
    made = [{"step": 1, "prompt": "p"} | one for one in (row, ENDED)]

    run = open_run(add_run(tmp_path, "run", made))

    assert (run.rollout(0)["response"], run.rollout(0).tokens) == (text, tokens)
    assert len(run.rollout(0)["logprobs"]) == len(tokens)


def test_the_whole_run_says_whether_an_end_token_pads(tmp_path: Path) -> None:
    """Another shard, or one that comes later, may show that the loss mask trains on end tokens: what was read before is read anew."""
    cut, ended = ({"step": 1, "prompt": "p"} | one for one in (CUT, ENDED))
    folder = write_run(tmp_path / "run", {"rank_0.jsonl": [cut], "rank_1.jsonl": [cut]})
    assert open_run(folder).rollout(1).tokens == ["a", "b", "</s>"]

    write_run(folder, {"rank_1.jsonl": [cut, ended]})

    for run in (open_run(folder), open_run(folder)):
        assert [run.rollout(key).tokens for key in run.frame.index] == [["a", "b"], ["a", "b"], ["a", "</s>"]]
        assert run.report.counts.total() == 0


def test_a_text_and_its_mask_tell_it_without_tokens(tmp_path: Path) -> None:
    """What the loss mask leaves out at either end, as much as pads the text there, goes of the arrays, too."""
    made = [{"step": 1, "prompt": "p"} | one | {"response_tokens": None} for one in (CUT, ENDED)]
    made[1] |= {"response": "<pad>a</s></s>", "loss_mask": [0, 1, 1, 0], "logprobs": [0, -1, -2, 0]}

    run = open_run(add_run(tmp_path, "run", made))

    assert [run.rollout(key)["response"] for key in (0, 1)] == ["ab ", "a</s>"]
    assert [run.rollout(key)["logprobs"].tolist() for key in (0, 1)] == [[-1, -2], [-1, -2]]
