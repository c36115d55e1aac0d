"""What is known of a rollout besides its tokens, as lines, and which others are like it."""

import json
from pathlib import Path
from typing import Any

import pytest
from rows import row, write_run

from board import open_run
from board.analysis.rollouts.rollout_facts import (
    LINE_CHARS,
    MOST_MEMBERS,
    SHOWN_CHARS,
    Particular,
    conditions_of_alike,
    particulars,
)
from board.sql.condition import matching
from board.text.system_prompts import Hiding

HOSTILE = "<img src=x onerror=alert(1)>"
ROW = {
    "step": 3,
    "prompt": f"a {HOSTILE}\nb",
    "response": "r",
    "reward": 2.0,
    "valid_reward": 0.5,
    "ground_truth": "42",
    "rank": 1,
}


def told(folder: Path, rows: list[dict[str, Any]], line: int = 1, **hidden: Any) -> dict[str, Particular]:
    """The lines of one rollout, by name."""
    folder.mkdir(exist_ok=True)
    (folder / "rank_0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = open_run(folder)
    key = run.key_of(f"rank_0.jsonl:{line}")
    assert key is not None
    return {one.name: one for one in particulars(run, run.rollout(key), **hidden)}


def test_a_line_for_each_that_the_row_has(tmp_path: Path) -> None:
    """Numbers, prompt, ground truth and place, folded to one line each; the texts letter for letter beneath."""
    found = told(tmp_path / "run", [ROW | {"bonus": 1.25, "advantages": [0.5, 1.5], "response_tokens": ["a", "b"]}])

    assert list(found) == ["reward", "prompt", "ground truth", "row"]
    assert found["reward"].line == "2 · valid_reward 0.500 · advantage, mean 1 · tokens 2"
    assert "bonus: 1.25" in found["reward"].text.splitlines()
    assert (found["prompt"].line, found["prompt"].text) == (f"a {HOSTILE} ↵ b", f"a {HOSTILE}\nb")
    assert found["prompt"].note == f"{len(HOSTILE) + 4} characters"
    assert found["ground truth"].text == "42"
    assert found["row"].line == "step 3 · rank_0.jsonl:1 · rank 1"
    assert not any("\n" in one.line for one in found.values())


def test_a_group_says_how_many_and_where_this_one_stands(tmp_path: Path) -> None:
    """Rewards of the whole group, the place of this one among them, and each member by its place in the shard; a missing reward is none."""
    rows = [ROW | {"reward": reward, "group_id": "g1"} for reward in (2.0, 4.0, None)] + [ROW | {"group_id": "g2"}]
    group = told(tmp_path / "run", rows)["group"]

    assert group.line == "g1 · 3 rollouts · reward 2 to 4, mean 3 · this one number 2 of 2"
    members = group.text.splitlines()
    assert [member.split(" · ")[0] for member in members] == [f"rank_0.jsonl:{line}" for line in (1, 2, 3)]
    assert [member.endswith("this one") for member in members] == [True, False, False]
    assert "reward" not in members[2].replace("valid_reward", "")


def test_a_large_group_is_not_listed_whole(tmp_path: Path) -> None:
    """So many are listed, the others counted."""
    members = told(tmp_path / "run", [ROW] * (MOST_MEMBERS + 5))["group"].text.splitlines()

    assert (len(members), members[-1]) == (MOST_MEMBERS + 1, "and 5 more")


ABSENT: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a response alone": ({"step": 0, "response": "r"}, ["numbers", "row"]),
    "a reward that is not a number": ({"step": 0, "response": "r", "reward": None, "bonus": 1}, ["numbers", "row"]),
    "an empty prompt": ({"step": 0, "response": "r", "prompt": ""}, ["numbers", "prompt", "row"]),
}


@pytest.mark.parametrize(("row", "names"), ABSENT.values(), ids=ABSENT)
def test_what_a_row_lacks_has_no_line(tmp_path: Path, row: dict[str, Any], names: list[str]) -> None:
    """Nothing is made up: a missing reward, prompt, truth or group leaves its line out, an empty text is called empty."""
    found = told(tmp_path / "run", [row])

    assert list(found) == names
    assert "prompt" not in found or (found["prompt"].line, found["prompt"].text) == ("(empty)", "")
    assert not any("nan" in one.line + one.text for one in found.values())


def test_what_is_hidden_or_cut_is_said(tmp_path: Path) -> None:
    """A system prompt is left out as on the Responses page, and of a very long text the beginning is sent."""
    prompt = "system<end>" + "x" * (SHOWN_CHARS + 10) + ""
    found = told(tmp_path / "run", [ROW | {"prompt": prompt}], hiding=Hiding("<end>"))["prompt"]

    assert found.note == f"system prompt hidden · the first {SHOWN_CHARS:,} of {SHOWN_CHARS + 10:,} characters"
    assert (len(found.text), len(found.line)) == (SHOWN_CHARS, LINE_CHARS)


def test_each_holds_for_those_that_share_it(tmp_path: Path) -> None:
    """By step, prompt, group and source, quotes in a source included, the rollouts that satisfy it are those that share it."""
    rows = [
        row(step, prompt=f"prompt {at // 2}", data_source=("it's", "b")[at % 2], reward=float(at))
        for step in range(2)
        for at in range(4)
    ]
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))

    found = {said: run.frame.index[matching(run, condition)].tolist() for said, condition in conditions_of_alike(run, 4).items()}

    assert found == {"its step": [4, 5, 6, 7], "its prompt": [0, 1, 4, 5], "its group": [4, 5], "its data_source": [0, 2, 4, 6]}


def test_what_is_missing_is_no_condition(tmp_path: Path) -> None:
    """Of a row without prompt and source only its step is shared."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [row(0), row(0, data_source="a")]}))

    assert set(conditions_of_alike(run, 0)) <= {"its step", "its group"}
