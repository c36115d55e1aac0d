"""Tests of ART's trajectories, as rows of Parquet and as groups of JSON lines."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from environments import python_with
from golden_runs import GOLDEN, read_all

from board import open_run
from board.analysis.steps.logged_curves import CurveReader, find
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import art

ROOT = Path(__file__).parents[3]
USER = {"role": "user", "content": "2+2?"}
CALLS = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}]
TOOL = {"role": "tool", "content": "4", "tool_call_id": "c1"}
NAME = "trajectories/train/0003.parquet"
SPOKEN = 'assistant:\n→ add({"a": 2})\n\ntool:\n4\n\nassistant:\n4 ✓'
read = partial(read_all, art, name=NAME, line=5)


def choice(content: str | None, *tokens: tuple[Any, ...], **fields: Any) -> dict[str, Any]:
    """What the policy wrote, with (token, logprob, alternatives) of each token."""
    entries = [{"token": token, "logprob": logprob, "top_logprobs": list(top)} for token, logprob, *top in tokens]
    message = {"role": "assistant", "content": content, **fields}
    return {"finish_reason": "stop", "index": 0, "message": message, "logprobs": {"content": entries} if entries else None}


def trajectory(*turns: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A trajectory as ART's model has it."""
    return {
        "reward": 1.0,
        "metrics": {"correct": 1},
        "metadata": {"source": "gsm8k", "row": 3},
        "messages_and_choices": list(turns),
        "tools": None,
        "additional_histories": [],
        "logs": ["ok"],
        **fields,
    }


def row(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A row of version 1."""
    return {
        "group_index": 4,
        "group_metrics": '{"spread": 0.5}',
        "reward": 1.0,
        "metrics": '{"correct": 1}',
        "metadata": '{"source": "gsm8k", "row": 3}',
        "tools": None,
        "logs": ["ok"],
        "messages": list(messages),
        **fields,
    }


def message(role: str, content: str | None, trainable: bool = False, **fields: Any) -> dict[str, Any]:
    """A message as a row's struct has it: every field there, tool calls as JSON."""
    return {"role": role, "content": content, "tool_calls": None, "tool_call_id": None, "trainable": trainable, **fields}


def full(*turns: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A row of version 2."""
    whole = json.dumps(trajectory(*turns, **fields))
    return row(format_version=2, trajectory_index=1, group_json="{}", trajectory_json=whole, messages=None)


COMMON = {"reward": 1.0, "metrics.correct": 1.0, "metadata.row": 3.0}
TURNS = (USER, choice(None, tool_calls=CALLS), TOOL, choice("4 ✓"))
STRUCTS = (
    message("user", "2+2?"),
    message("assistant", None, True, tool_calls=json.dumps(CALLS)),
    message("tool", "4", tool_call_id="c1"),
    message("assistant", "4 ✓", True),
)
SHAPES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "version 1": (row(*STRUCTS), {"group_id": "4"}),
    "version 2": (full(*TURNS), {"group_id": "4", "sample_id": "1"}),
    "a group as a line": ({"trajectories": [trajectory(*TURNS)]}, {"group_id": "5", "sample_id": "0"}),
}


@pytest.mark.parametrize(("record", "ids"), SHAPES.values(), ids=SHAPES)
def test_every_shape_tells_the_same(record: dict[str, Any], ids: dict[str, str]) -> None:
    """Turns, tool calls, reward and its parts come out alike, whatever the year they were written in."""
    (found,) = read(record)

    assert found.step == 3
    assert found.ids == ids
    assert {"prompt": "user:\n2+2?", "response": SPOKEN, "logs": '["ok"]'}.items() <= found.texts.items()
    assert COMMON.items() <= found.numbers.items()
    assert "additional_histories" not in found.texts
    assert found.tokens is None
    assert found.flags == []


def test_group_is_told_by_its_own_names() -> None:
    """What a group has is kept beside each of its trajectories and not mixed with theirs."""
    rows = read({"trajectories": [trajectory(*TURNS), trajectory(*TURNS, reward=0.0)], "metadata": {"seed": 7}})

    assert [one.numbers["reward"] for one in rows] == [1.0, 0.0]
    assert [one.numbers["group_metadata.seed"] for one in rows] == [7.0, 7.0]
    assert read(row(*STRUCTS))[0].numbers["group_metrics.spread"] == 0.5


def test_prompt_ends_where_the_policy_begins() -> None:
    """An assistant's message that is not trained on is an example in the prompt."""
    (found,) = read(
        row(message("user", "1+1?"), message("assistant", "2"), message("user", "2+2?"), message("assistant", "4", True))
    )

    assert found.texts["prompt"] == "user:\n1+1?\n\nassistant:\n2\n\nuser:\n2+2?"
    assert found.texts["response"] == "4"


def test_tokens_of_choices() -> None:
    """Tokens, logprobs and alternatives of all choices follow each other; a null logprob is NaN."""
    alternative = {"token": "5", "logprob": -1.8}
    first, second = choice("Let me add.", ("Let", -0.2, alternative), (" me", None)), choice("4", ("4", -0.5))

    (found,) = read(full(USER, first, TOOL, second))

    assert found.tokens == ["Let", " me", "4"]
    np.testing.assert_allclose(found.arrays["rollout_logprobs"], [-0.2, np.nan, -0.5], rtol=1e-6)
    assert found.alternatives == [[("5", -1.8)], None, None]


def test_tokens_that_are_ids() -> None:
    """`token_id:19` is the token of id 19, and no text."""
    (mapped,) = art.rollouts(full(USER, choice("4", ("token_id:19", -0.2), ("token_id:2", -0.1))), Place(NAME, 1))

    assert mapped["response_token_ids"] == [19, 2]
    assert "response_tokens" not in mapped


def test_tokens_need_every_choice() -> None:
    """When one choice kept no logprobs, the others' tokens would be taken for the whole response."""
    (found,) = read(full(USER, choice("4", ("4", -0.2)), TOOL, choice("4")))

    assert found.tokens is None
    assert found.arrays == {}


def test_a_group_without_trajectories_is_none() -> None:
    """Where all trajectories of a group failed, ART writes a row for the group alone: no rollout, and nothing to refuse."""
    nothing = dict.fromkeys(("trajectory_index", "trajectory_json", "reward", "messages"))

    assert read(row(format_version=2, group_json="{}") | nothing) == []


BY_TOOL = 'assistant:\n→ add({"a": 2, "b": 2})\n\ntool:\n4\n\nassistant:\nIt is 4.'
WRITTEN = {"tiny": {}, "newer": {"sample_id": ["0", "1", "0"]}}
"""Golden models as ART 0.5.18 and 0.5.23 wrote them, and what only one of them says."""


@pytest.mark.parametrize(("model", "more"), WRITTEN.items(), ids=WRITTEN)
def test_what_art_wrote(model: str, more: dict[str, list[str]]) -> None:
    """Both releases tell the same of the same trajectories, and nothing is refused; the log of metrics beside them holds no rollouts."""
    run = open_run(GOLDEN / "art/models" / model)
    first = run.frame[run.frame["shard"] == "trajectories/train/0001.parquet"]

    assert (run.report.formats, run.report.problems, [*run.report.skipped]) == ({"ART": 3}, [], ["history.jsonl"])
    assert (run.steps.tolist(), run.splits, len(run.frame)) == ([1, 2], ("train", "evaluation"), 9)
    assert run.texts("response", first.index.to_numpy()).to_pylist() == [BY_TOOL, "5", "6 ✓"]
    assert run.texts("prompt", first.index.to_numpy()).to_pylist() == [*["system:\nBe brief.\n\nuser:\n2+2?"] * 2, "user:\n3+3?"]
    assert [*first["group_id"]] == ["0", "0", "1"]
    assert [*first["reward"]] == [1, 0, 1]
    assert [*first["metrics.turns"].fillna(-1)] == [2, -1, -1]
    assert {name: [*first[name]] for name in more} == more


RELEASES = {"0.5.18": (3, 11), "0.5.23": (3, 12)}
"""Releases of ART, and the Python that each needs at least."""


@pytest.mark.installs
@pytest.mark.parametrize(("release", "least"), RELEASES.items(), ids=RELEASES)
def test_art_itself(tmp_path: Path, release: str, least: tuple[int, int]) -> None:
    """A run that ART logs now opens whole. RL_BOARD_ART_0_5_18_PYTHON and the like name an interpreter that has it."""
    named = f"RL_BOARD_ART_{release.replace('.', '_')}_PYTHON"
    newer = sys.executable if sys.version_info >= least else shutil.which("python{}.{}".format(*least))
    if not (newer or os.environ.get(named)):
        pytest.skip(f"ART {release} needs Python {least[0]}.{least[1]}")
    wanted = (f"openpipe-art=={release}", "numpy", "pyarrow", "duckdb")
    python = python_with(tmp_path / "env", named, *wanted, python=newer or sys.executable)

    subprocess.run([python, ROOT / "tests/writers/art_log.py", tmp_path / "out"], check=True, timeout=300)

    run = open_run(tmp_path / "out/sums/models/tiny")
    assert (run.report.formats, run.report.problems, len(run.frame)) == ({"ART": 3}, [], 9)
    assert [*run.frame["reward"]] == [1, 0, 1] * 3
    (source,) = find(run.location, None, tmp_path)
    logged = {one.name: one.curve for one in CurveReader().read([source]).logged}
    assert logged["train/turns"].steps.tolist() == [1, 2]
    assert logged["train/turns"].values.tolist() == [2.0, 2.0]


def test_evaluation_is_told_by_the_folder() -> None:
    """Each split has a folder of its own."""
    assert read(row(*STRUCTS), name="trajectories/val/0003.parquet")[0].ids["split"] == "evaluation"


DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "exchanges instead of turns": (full(messages_and_choices=None), "`messages` is null"),
    "a trajectory that is no JSON": (row(trajectory_json='{"reward": 1'), "`trajectory_json` is "),
    "a trajectory that is a number": (row(trajectory_json="5"), "`trajectory_json` is "),
    "messages without roles": (row({"content": "4"}), "`messages` holds "),
    "no messages at all": (row(), "`messages` holds "),
    "a turn that is text": (
        {"trajectories": [trajectory(*TURNS, messages_and_choices=["hi"])]},
        '`messages_and_choices` holds "hi"',
    ),
    "a trajectory that is text": (
        {"trajectories": [trajectory(*TURNS), "failed"]},
        '`trajectories` holds "failed" at position 1',
    ),
    "a token that is none": (full(USER, choice("4", (None, -0.2))), "`logprobs.content`"),
}


@pytest.mark.parametrize(("record", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_records_are_refused_by_their_key(record: dict[str, Any], reason: str) -> None:
    """A trajectory whose turns cannot be told is refused with the key that should hold them."""
    with pytest.raises(RowRefused, match=reason):
        read(record)


RECOGNISED: dict[str, tuple[dict[str, Any], bool]] = {
    "version 1": (row(*STRUCTS), True),
    "version 2": (full(*TURNS), True),
    "a group": ({"trajectories": [trajectory(*TURNS)]}, True),
    "someone's trajectories": ({"trajectories": [{"steps": []}]}, False),
    "the first version, without what a group has": (
        {key: value for key, value in row(*STRUCTS).items() if not key.startswith("group_m")},
        True,
    ),
    "with histories": (row(*STRUCTS, additional_histories=None), True),
    "someone's messages": ({"group_index": 1, "messages": [USER], "reward": 1.0}, False),
    "its log of metrics": ({"train/reward": 0.5, "training_step": 1, "step": 1, "recorded_at": "2026-11-22"}, False),
}


@pytest.mark.parametrize(("record", "known"), RECOGNISED.values(), ids=RECOGNISED)
def test_recognised_by_keys(record: dict[str, Any], known: bool) -> None:
    """Messages and trajectories are common words; the columns beside them and choices are ART's."""
    assert art.recognise(Head(NAME, (record,))) is known
