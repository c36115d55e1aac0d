"""A recorder's examples: a few rollouts of a step, the telling ones first."""

import json
from pathlib import Path
from typing import Any

import pytest

from board.push.recorder_numbers import RecordedSteps
from board.recorder import RolloutRecorder
from board.recorder.values import encode


def shown(count: int, rows: list[dict[str, Any]], seed: int = 0) -> list[dict[str, Any]]:
    """The rollouts of a step that are shown."""
    return [dict(row) for row in RecordedSteps("board", (), count, seed).of([encode({"step": 1, **row}) for row in rows])[1]]


def chosen(count: int, rewards: list[float | None], seed: int = 0) -> list[tuple[Any, Any]]:
    """Which rollouts of a step are shown, and why."""
    rows = shown(count, [{"response": f"r{number}", "reward": reward} for number, reward in enumerate(rewards)], seed)
    return [(row["which"], row["response"]) for row in rows]


CASES: dict[str, tuple[int, list[float | None], list[tuple[str, str]]]] = {
    "none asked for": (0, [1.0], []),
    "one": (1, [0.5, 2.0, -1.0], [("best", "r1")]),
    "two": (2, [0.5, 2.0, -1.0], [("best", "r1"), ("worst", "r2")]),
    "three of three": (3, [0.5, 2.0, -1.0], [("best", "r1"), ("worst", "r2"), ("random", "r0")]),
    "more than there are": (5, [2.0, -1.0], [("best", "r0"), ("worst", "r1")]),
    "the only one": (2, [2.0], [("best", "r0")]),
    "no reward": (1, [None], [("random", "r0")]),
    "the first of equals": (1, [1.0, 1.0], [("best", "r0")]),
    "no rollout": (2, [], []),
}


@pytest.mark.parametrize(("count", "rewards", "expected"), CASES.values(), ids=CASES)
def test_which_are_shown(count: int, rewards: list[float | None], expected: list[tuple[str, str]]) -> None:
    """The best, then the worst, then others; each once and no more than asked for."""
    assert chosen(count, rewards) == expected


def test_the_seed_draws() -> None:
    """Whether a rollout comes early or late, it can be drawn; the same seed draws the same, each rollout once."""
    drawn = [chosen(3, [None] * 10, seed) for seed in range(60)]

    assert {row for rows in drawn for _, row in rows} == {f"r{number}" for number in range(10)}
    assert all(len({row for _, row in rows}) == 3 for rows in drawn)
    assert chosen(3, [None] * 50, 7) == chosen(3, [None] * 50, 7)


def test_messages_are_text_and_tokens_stand_in_for_a_response() -> None:
    """A list of messages is shown as the board shows it; a response that is tokens alone as their text."""
    messages = [{"role": "user", "content": "hi"}]
    (row,) = shown(1, [{"prompt": messages, "response_tokens": ["a", "bc"]}])

    assert (row["prompt"], row["response"]) == ("user:\nhi", "abc")


def test_they_reach_the_tracker_as_they_were_redacted(tmp_path: Path) -> None:
    """Beside its numbers each step has its examples, of the rows as they are written."""
    with (tmp_path / "out").open("w") as stream:
        options: dict[str, Any] = {
            "track_with": "stdout",
            "tracker_kwargs": {"stream": stream, "format": "jsonl"},
            "examples_per_step": 2,
        }
        with RolloutRecorder(tmp_path / "run", redact=lambda row: {**row, "prompt": "X"}, **options) as recorder:
            for step in range(2):
                recorder.write_batch(step=step, prompt=["Alice"] * 3, response=["a", "b", "c"], reward=[1.0, 3.0, 2.0])
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    expected = [
        {"which": "best", "reward": 3.0, "prompt": "X", "response": "b"},
        {"which": "worst", "reward": 1.0, "prompt": "X", "response": "a"},
    ]

    assert [line["step"] for line in lines] == [0, 0, 1, 1]
    assert [(line["examples"], line["rows"]) for line in lines[1::2]] == [("board/rollouts", expected)] * 2
