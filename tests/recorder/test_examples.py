"""board.recorder.examples: a few rollouts of a step, the telling ones first, and no more of them held."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from board.recorder import RolloutRecorder
from board.recorder.examples import TEXT_CHARS, StepExamples


def chosen(count: int, rewards: list[float | None], seed: str = "") -> list[tuple[Any, Any]]:
    """Which rollouts of a step are shown, and why."""
    examples = StepExamples(count, seed)
    for number, reward in enumerate(rewards):
        examples.add({"response": f"r{number}", "reward": reward})
    return [(row["which"], row["response"]) for row in examples.rows()]


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


def test_all_have_the_same_chance() -> None:
    """Whether a rollout comes early or late, it is drawn as often; the same seed draws the same."""
    drawn = Counter(row for seed in range(2_000) for _, row in chosen(1, [None] * 10, str(seed)))

    assert len(drawn) == 10
    assert all(120 < count < 280 for count in drawn.values())
    assert chosen(3, [None] * 50, "a") == chosen(3, [None] * 50, "a")


def test_texts_are_cut_and_messages_are_json() -> None:
    """A long text loses its middle, which is said; tokens stand in for a response; a list of messages is shown as JSON."""
    examples = StepExamples(1, "")
    messages = [{"role": "user", "content": "hi"}]
    examples.add({"prompt": messages, "response_tokens": ["a" * TEXT_CHARS, "bc"]})
    (row,) = examples.rows()

    assert json.loads(str(row["prompt"])) == messages
    assert row["response"] == "a" * 1000 + "\n[2 characters left out]\n" + "a" * 998 + "bc"


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
