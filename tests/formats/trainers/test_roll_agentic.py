"""Tests of ROLL's rollout dump of agents."""

import json
from typing import Any

import pytest
from golden_runs import flat, golden, golden_head, read_one

from board import formats
from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.trainers import roll_agentic

FILE = "rollout_dump_data.step_7.jsonl"
TALK = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


def columns(trajectory: Any, messages: Any = TALK, **fields: Any) -> dict[str, Any]:
    """A dump of one trajectory, packed as ROLL packs it."""
    return {"trajectory_data": [json.dumps(trajectory)], "messages": [json.dumps(messages)], "global_step": [1], **fields}


def test_a_trajectory() -> None:
    """Its parts are unpacked: turns, the episode's reward and its parts, the group of the environment."""
    row = flat(golden(roll_agentic, FILE)[0])

    assert json.loads(row.pop("env_info"))["seed"] == 11
    assert row == {
        "step": 7,
        "prompt": "system:\nFix it.\n\nuser:\nls",
        "response": 'assistant:\n→ bash({"cmd": "ls"})\n\ntool:\na.py\n\nassistant:\nFertig ✓',
        "reward": 1.0,
        "reward.step_rewards": "[0.0, 1.0]",
        "reward.final_reward": 1.0,
        "group_id": "swe/3/0",
        "sample_id": "t0",
        "data_source": "swe",
        "exp_name": "swe",
        "tools": "[]",
        "timestamp": "2026-01-05",
        "current_step": 7.0,
        "env_info.env_id": 0.0,
        "env_info.group_id": 3.0,
        "env_info.seed": 11.0,
        "env_info.episode_id": 0.0,
        "length_info": '{"num_actions": 2}',
        "length_info.num_actions": 2.0,
        "metrics": '{"env/success": true}',
        "metrics.env/success": 1.0,
    }


def test_groups_and_missing_answers() -> None:
    """Episodes of one group share its id; a trajectory that never answered has an empty response."""
    first, second, third = golden(roll_agentic, FILE)

    assert first.ids["group_id"] == second.ids["group_id"] != third.ids["group_id"]
    assert (second.texts["response"], third.texts["response"]) == ("<b>no</b>", "")
    assert flat(third)["reward"] is None


def test_a_trajectory_of_the_proxy() -> None:
    """Its messages lie within, and it says less of the environment."""
    (row,) = golden(roll_agentic, "rollout_dump_data.step_8.jsonl")

    assert flat(row) == {
        "step": 8,
        "prompt": "user:\nls",
        "response": "Fertig ✓",
        "reward": 0.5,
        "reward.step_reward": 0.5,
        "group_id": "3",
        "sample_id": "p0",
        "env_info": '{"group_id": 3}',
        "env_info.group_id": 3.0,
        "finish_reason": "stop",
        "exp_name": "proxy",
    }


READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an evaluation": (columns({"env_info": {"mode": "val"}}), {"split": "evaluation"}),
    "training": (columns({"env_info": {"mode": "train"}}), {"split": None}),
    "no environment": (columns({"env_info": None, "reward_info": None}), {"group_id": None, "reward": None, "response": "a"}),
    "a key that is there twice": (columns({"tools": "x"}, tools=["[]"]), {"tools": "[]", "trajectory.tools": "x"}),
    "a name of ours": (columns({"reward": 3}), {"reward (logged)": 3.0, "reward": None}),
    "a reward of zero": (columns({"reward_info": {"episode_reward": 0.0}}), {"reward": 0.0}),
    "what is not packed": (
        {"trajectory_data": [{}], "messages": [TALK], "global_step": [1]},
        {"prompt": "user:\nq", "response": "a"},
    ),
}


@pytest.mark.parametrize(("record", "expected"), READ.values(), ids=READ)
def test_what_a_key_becomes(record: dict[str, Any], expected: dict[str, Any]) -> None:
    """Whatever is there comes out in its place, and nothing else."""
    row = flat(read_one(roll_agentic, record))

    assert {key: row.get(key) for key in expected} == expected


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no step": (columns({}, global_step=None), "has no `global_step`; its keys are: trajectory_data"),
    "trajectories that are text": (columns({}, trajectory_data="{}"), '`trajectory_data` is "{}", not a list'),
    "half a text": (columns({}, trajectory_data=['{"a": ']), "`trajectory_data` is not JSON: "),
    "a trajectory that is a list": (columns([1]), "`trajectory_data` is [1], not an object"),
    "rewards that are a number": (columns({"reward_info": 3}), "`reward_info` is 3, not an object"),
    "no messages": (columns({}, None), "`messages` is null, not a list of messages with roles"),
    "messages without roles": (columns({}, [{"content": "a"}]), '`messages` is [{"content": "a"}], not a list of messages'),
    "a short column": (columns({}, tools=[]), "`tools` has 0 values against 1 in `trajectory_data`"),
}


@pytest.mark.parametrize(("record", "reason"), REFUSED.values(), ids=REFUSED)
def test_damaged_dumps_are_refused(record: dict[str, Any], reason: str) -> None:
    """The reason names ROLL's key."""
    with pytest.raises(RowRefused) as refusal:
        read_one(roll_agentic, record)

    assert str(refusal.value).startswith(reason)


def test_recognition() -> None:
    """By columns of trajectories."""
    assert formats.recognise(golden_head(roll_agentic, FILE)) is roll_agentic
    assert not roll_agentic.recognise(Head(FILE, ({"global_step": 1, "trajectory_data": "{}"},)))


def test_note() -> None:
    """The reader is told which reward it is."""
    assert "whole episode" in roll_agentic.note(golden_head(roll_agentic, FILE))
