"""board.formats.trainers.traces and message_graph: episodes and traces of verifiers and prime-rl, field by field."""

import copy
import json
import math
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_runs import GOLDEN, golden, golden_records
from hypothesis import given
from hypothesis import strategies as st

from board import open_run
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.message_graph import branches
from board.formats.trainers import traces
from board.runs.run import Run
from board.sources import streams

ALL = "run/rollouts/step_12/train/all/traces.jsonl"
EFFECTIVE = "run/rollouts/step_12/train/effective/traces.jsonl"
EVALUATION = "run/rollouts/step_12/eval/all/traces.jsonl"
LONE = "run_0_7/rollouts/step_3/train/effective/traces.jsonl"
LONE_EVALUATION = "run_0_7/rollouts/step_3/eval/all/traces.jsonl"
STANDALONE = "outputs/arithmetic--m-step-3/12345678/traces.jsonl"
read, records = partial(golden, traces), partial(golden_records, traces)


def mapped(name: str) -> list[dict[str, Any]]:
    """The rollouts of a file of the golden run, under our names."""
    return [one for at, record in enumerate(records(name), 1) for one in traces.rollouts(record, Place(name, at))]


def node(ids: list[int], mask: list[bool], parent: int | None = None, text: str = "x", **fields: Any) -> dict[str, Any]:
    """A node of a graph; sampled when one of its tokens was."""
    given_parent = {} if parent is None else {"parent": parent}
    message = {"role": "assistant" if any(mask) else "user", "content": text}
    return {**given_parent, "message": message, "sampled": any(mask), "token_ids": ids, "mask": mask, **fields}


def test_an_episode() -> None:
    """Step, policy and split of its run, its group, texts, and rewards of its one trace."""
    row = read(ALL)[0]

    assert row.step == 11
    assert row.ids == {"group_id": "g-1", "prompt_id": "sum-7", "sample_id": "t1", "data_source": "sums", "split": "train"}
    assert row.texts["prompt"] == "user:\n2+2?"
    assert row.texts["response"] == "4 ✓"
    assert row.texts["ground_truth"] == "4"
    assert row.texts["agent"] == "agent"
    assert row.texts["stop_condition"] == "stop"
    assert row.texts["episode_id"] == "e1"
    numbers = {
        "effective": 0,
        "batch_step": 12,
        "policy_start": 10,
        "policy_end": 11,
        "metrics.num_turns": 1,
        "trainable": 1,
        "ok": 1,
    }
    rewards = {"reward": 1.1, "reward.correct": 1.0, "reward.brief": 0.5, "reward_weight.brief": 0.2}
    assert row.numbers == pytest.approx({**numbers, "is_completed": 1, **rewards})


def test_tokens_of_one_turn() -> None:
    """The response begins at the first sampled token; the template before it belongs to the prompt."""
    rollout = mapped(EFFECTIVE)[0]

    assert rollout["prompt_token_ids"] == [1, 17, 10, 17, 5]
    assert rollout["response_token_ids"] == [19, 2]
    assert rollout["rollout_logprobs"] == [-0.25, -0.5]
    assert rollout["ref_logprobs"] == [-0.375, -0.375]
    assert rollout["advantages"] == [0.75, 0.75]
    assert rollout["loss_weights.rl"] == [1.0, 1.0]
    assert rollout["loss_mask"] == [1, 1]
    assert not {"logprobs", "entropies", "response_tokens"} & rollout.keys()


def test_before_credit_is_assigned() -> None:
    """What a file does not hold is not there: neither advantages nor a reference."""
    assert not {"advantages", "ref_logprobs", "loss_weights.rl"} & mapped(ALL)[0].keys()
    assert (mapped(ALL)[0]["effective"], mapped(EFFECTIVE)[0]["effective"]) == (False, True)
    assert "effective" not in mapped(STANDALONE)[0]


def test_a_tool_call_within_the_response() -> None:
    """The call is shown as a call, and the tool's tokens are masked, with no number of their own."""
    rollout = mapped(EFFECTIVE)[2]

    assert rollout["prompt"] == "system:\nUse tools.\n\nuser:\n2+2?"
    assert rollout["response"].startswith("assistant:\n<think>\nlet me add\n</think>\n→ add(")
    assert "\n\ntool:\n4\n\nassistant:\n4" in rollout["response"]
    assert rollout["response_token_ids"] == [30, 31, 6, 19, 5, 19, 2]
    assert rollout["loss_mask"] == [1, 1, 0, 0, 0, 1, 1]
    assert rollout["rollout_logprobs"] == [-0.5, -0.25, None, None, None, -0.125, -0.0625]
    assert rollout["advantages"] == [0.0, 0.0, None, None, None, 0.0, 0.0]


def test_an_attempt_that_failed() -> None:
    """Nobody spoke and nothing was scored: the response is empty, the reward missing, the errors kept."""
    row = read(ALL)[3]

    assert row.texts["response"] == ""
    assert row.texts["prompt"] == "2+2?"
    assert "reward" not in row.numbers
    assert row.numbers["ok"] == 0
    assert json.loads(row.texts["errors"]) == [{"type": "ProviderError", "message": "no answer"}]
    assert json.loads(row.texts["episode_errors"]) == [{"type": "RunError", "message": "gave up"}]


def test_an_episode_without_traces() -> None:
    """A task that failed before any agent began is one attempt with an empty response."""
    record = {**records(ALL)[0], "traces": []}

    assert traces.recognise(Head(ALL, (record,)))
    assert [(one["response"], one.get("reward")) for one in traces.rollouts(record, Place(ALL, 1))] == [("", None)]


def test_branches_and_agents() -> None:
    """Each branch is a rollout of its own; where several agents take part, each has its own groups."""
    rollouts = mapped(EVALUATION)

    assert [one["sample_id"] for one in rollouts] == ["t5/0", "t5/1", "t6"]
    assert [one["response"] for one in rollouts] == ["3?", "4", "yes"]
    assert [one["group_id"] for one in rollouts] == ["g-9/agent", "g-9/agent", "g-9/judge"]
    assert [one["prompt_id"].rpartition("/")[2] for one in rollouts] == ["agent", "agent", "judge"]
    assert [one["trainable"] for one in rollouts] == [True, True, False]
    assert [one["split"] for one in rollouts] == ["evaluation"] * 3
    assert "reward" not in rollouts[2]
    assert "metrics.sure" not in rollouts[2]


def test_a_trace_a_line() -> None:
    """Older versions keep what an episode would say in the trace; rewards there are numbers, the step is the folder's."""
    first, second = mapped(LONE)
    (evaluated,) = mapped(LONE_EVALUATION)

    assert (first["step"], first["split"], first["group_id"], first["data_source"]) == (3, "train", "5d1c", "sums")
    assert (first["advantage"], second["advantage"]) == (0.5, -0.5)
    assert (first["reward"], second["reward"]) == (1.0, 0.0)
    assert first["policy_version"] == 2
    assert first["ground_truth"] == "4"
    assert (evaluated["step"], evaluated["split"]) == (2, "evaluation")


def test_an_evaluation_on_its_own() -> None:
    """It knows no step, and a hash of digits or a model's name is none; without tokens it has texts alone."""
    (rollout,) = mapped(STANDALONE)

    assert (rollout["step"], rollout["split"], rollout["group_id"]) == (0, "evaluation", "sum-7")
    assert rollout["response"] == "4"
    assert not {"response_token_ids", "rollout_logprobs", "loss_mask"} & rollout.keys()
    assert "it is 0 for all" in traces.note(Head(STANDALONE, tuple(records(STANDALONE))))
    assert "step" not in traces.note(Head(ALL, tuple(records(ALL))))
    assert "step" not in traces.note(Head("traces.jsonl", tuple(records(ALL))))
    assert "it is 0 for all" in traces.note(Head("traces.jsonl", ({"run": 3},)))


RECOGNISED: dict[str, tuple[Any, bool]] = {
    "spans of a tracer": ({"resourceSpans": []}, False),
    "a task alone": ({"task": {}}, False),
    "traces that are none": ({"task": {}, "traces": [{"spans": []}]}, False),
    "nodes without rewards": ({"task": {}, "nodes": []}, False),
    "a trace": ({"nodes": [], "rewards": {}}, True),
    "an episode": ({"task": {}, "traces": [{"nodes": [], "rewards": {}}]}, True),
}


@pytest.mark.parametrize(("record", "expected"), RECOGNISED.values(), ids=RECOGNISED)
def test_recognised_by_keys(record: dict[str, Any], expected: bool) -> None:
    """Other tracers call their files the same; what counts is a graph of messages and rewards."""
    assert traces.recognise(Head(ALL, (record,))) is expected


REWARDS: dict[str, tuple[Any, float | None]] = {
    "weighted": ({"a": {"score": 1.0, "weight": 0.5}, "b": {"score": 2.0, "weight": 1.0}}, 2.5),
    "no weight": ({"a": {"score": 1.0}}, 1.0),
    "numbers": ({"a": 1, "b": 0.5}, 1.5),
    "one not scored": ({"a": {"score": 1.0, "weight": 2.0}, "b": None}, 2.0),
    "none scored": ({"a": None}, None),
    "none": ({}, None),
}


@pytest.mark.parametrize(("rewards", "total"), REWARDS.values(), ids=REWARDS)
def test_the_total_reward(rewards: dict[str, Any], total: float | None) -> None:
    """The weighted sum of what was scored, and missing when nothing was."""
    (rollout,) = traces.rollouts({"nodes": [], "rewards": rewards}, Place(ALL, 1))

    assert rollout.get("reward") == total


def test_branches_share_their_beginning() -> None:
    """Tokens sampled before a fork are in each branch; a branch in which nothing was sampled is none beside others."""
    nodes = [
        node([1], [False]),
        node([2], [True], 0, logprobs=[-0.5]),
        node([3, 4], [False, True], 1, logprobs=[-0.25]),
        node([5], [True], 1, logprobs=[-0.125]),
        node([6], [False], 0),
    ]

    first, second = branches(nodes)

    assert (first["response_token_ids"], first["rollout_logprobs"]) == ([2, 3, 4], [-0.5, None, -0.25])
    assert (second["response_token_ids"], second["rollout_logprobs"]) == ([2, 5], [-0.5, -0.125])


def test_a_turn_without_numbers() -> None:
    """A node that lacks what another has leaves its tokens without a number."""
    (only,) = branches([node([1], [False]), node([2], [True], 0), node([3], [True], 1, logprobs=[-0.25], entropies=[0.5])])

    assert only["rollout_logprobs"] == [None, -0.25]
    assert only["entropies"] == [None, 0.5]


REFUSED: dict[str, tuple[list[Any], str]] = {
    "a node that is no object": ([3], r"`nodes` holds 3 at position 0, not an object"),
    "a parent that comes later": (
        [node([], [], parent=1), node([], [])],
        r"`nodes\[0\].parent` is 1, which is no node before it",
    ),
    "its own parent": ([node([], [], parent=0)], r"`nodes\[0\].parent` is 0"),
    "a parent that is no number": ([{**node([], []), "parent": "0"}], r"`nodes\[0\].parent` is \"0\""),
    "a mask of another length": ([node([1, 2], [True])], r"`nodes\[0\].mask` has 1 number for 2 tokens"),
    "too few logprobs": (
        [node([1, 2], [True, True], logprobs=[-0.5])],
        r"`nodes\[0\].logprobs` has 1 number for 2 sampled tokens",
    ),
    "logprobs that are no list": ([node([1], [True], logprobs=0.5)], "`logprobs` is 0.5, not a list"),
    "weights of another length": (
        [node([1], [True], loss_weights={"rl": [1, 1]})],
        "`nodes.0..loss_weights.rl` has 2 numbers for 1",
    ),
    "a message without a role": ([{**node([], []), "message": {"content": "x"}}], r"`nodes\[0\].message` has no `role`"),
    "a message that is none": ([{**node([], []), "message": "x"}], '`message` is "x", not an object'),
}


@pytest.mark.parametrize(("nodes", "reason"), REFUSED.values(), ids=REFUSED)
def test_damage_is_named(nodes: list[Any], reason: str) -> None:
    """A trace that is not as it should be is refused with node, field and what stands there."""
    with pytest.raises(RowRefused, match=reason):
        traces.rollouts({"nodes": nodes, "rewards": {}}, Place(ALL, 1))


@pytest.mark.parametrize("reward", ["high", {"score": None}, {"score": 1.0, "weight": "x"}, []], ids=str)
def test_rewards_that_are_none(reward: Any) -> None:
    """A reward that is neither a number nor a score with a weight is refused by name, not left out of the sum."""
    with pytest.raises(RowRefused, match=r"`rewards\.a` is"):
        traces.rollouts({"nodes": [], "rewards": {"a": reward}}, Place(ALL, 1))


def test_nothing_is_changed() -> None:
    """A record is as it was after it has been mapped."""
    before = records(EFFECTIVE)
    given = copy.deepcopy(before)
    traces.rollouts(given[2], Place(EFFECTIVE, 3))

    assert given == before


@given(st.lists(st.lists(st.booleans(), max_size=4), min_size=1, max_size=5))
def test_every_sampled_token_keeps_its_number(masks: list[list[bool]]) -> None:
    """Over any conversation: as many ids as numbers, each number at its token, and only sampled tokens have one."""
    ids = iter(range(100))
    nodes = [
        {**node([next(ids) for _ in mask], mask, at - 1 if at else None), "sampled": any(mask)} for at, mask in enumerate(masks)
    ]
    for one in nodes:
        one["logprobs"] = [-float(token) for token, sampled in zip(one["token_ids"], one["mask"], strict=True) if sampled]

    (only,) = branches(nodes)

    found = only.get("response_token_ids", [])
    numbers = only.get("rollout_logprobs", [None] * len(found))
    expected = [None if not sampled else -float(token) for token, sampled in zip(found, only.get("loss_mask", []), strict=True)]
    assert numbers == expected
    assert np.count_nonzero(only.get("loss_mask", [])) == sum(map(sum, masks))
    assert only.get("prompt_token_ids", []) + found == list(range(len(only.get("prompt_token_ids", [])) + len(found)))


STREAM = GOLDEN / "traces/run_stream"


def streamed(run: Run) -> dict[str, dict[str, Any]]:
    """What a run says of each trace of a stream."""
    return {str(row["sample_id"]): {str(name): value for name, value in row.items()} for row in run.frame.to_dict("records")}


def test_a_stream_is_joined_with_its_annotations() -> None:
    """Two of five rollouts were trained on, one waits for its batch, one that was in none and one that failed are discarded."""
    run = open_run(STREAM)
    rows = streamed(run)
    trained = run.frame[run.frame["effective"] == 1.0]

    assert {name: row["split"] for name, row in rows.items()} == {
        **{"t1": "train", "t2": "train", "t9": "train"},
        **{"t3": "discarded", "t4": "discarded"},
    }
    assert [*trained["batch_step"]] == [12.0, 12.0]
    assert trained["reward"].mean() == pytest.approx(0.65)
    assert math.isnan(rows["t4"]["reward"])
    assert not run.report.problems or {one.severity for one in run.report.problems} == {"flagged"}
    key = int(run.frame.index[run.frame["sample_id"] == "t2"][0])
    said = run.rollout(key)
    assert [*said["advantages"]] == [-0.25, -0.25]  # the newest wins
    assert [*said["logprobs"]] == [-1.25, -0.25]
    assert [*said["entropies"]] == [1.5, 0.25]


def test_an_annotation_that_comes_later_is_seen(tmp_path: Path) -> None:
    """A run that was read before its batch was sent is read again; without any annotation nothing but what failed is discarded."""
    run = tmp_path / "run"
    shutil.copytree(STREAM, run)
    aside = tmp_path / "aside"
    annotations = run / "monitors" / "file" / "traces" / "annotations"
    shutil.move(annotations, aside)
    assert open_run(run).frame["split"].tolist().count("discarded") == 1

    shutil.copytree(aside, annotations)

    assert streamed(open_run(run))["t3"]["split"] == "discarded"


BROKEN: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "00000.jsonl: line 4: "),
    "of a branch that is not there": (json.dumps({"trace_id": "t1", "branches": [{"index": 7}]}), "is of branch 7"),
}


@pytest.mark.parametrize(("line", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_bad_annotation_is_named(tmp_path: Path, line: str, reason: str) -> None:
    """The file and the line are said; the other rollouts are there."""
    run = tmp_path / "run"
    shutil.copytree(STREAM, run)
    with (run / "monitors/file/traces/annotations/orchestrator/00000.jsonl").open("a") as file:
        file.write(f"{line}\n")

    report = open_run(run).report

    assert report.rows >= 4
    assert any(reason in one.reason and one.severity == "refused" for one in report.problems)


def test_a_chunk_that_is_being_sealed_counts_once(tmp_path: Path) -> None:
    """Where the compressed twin of a chunk lies beside it, only one of them is read."""
    run = tmp_path / "run"
    shutil.copytree(STREAM, run)
    chunk = run / "monitors/file/traces/stream/00000.jsonl.zst"
    with streams.opened(chunk) as stream:
        chunk.with_suffix("").write_bytes(stream.read())

    assert len(open_run(run).frame) == 5
