"""Tests of whose files are in a run."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rows import token_row, write_run

from board import open_run
from board.errors import NothingRead, RunNotFound
from board.runs.parsing.format_detection import Identity, batches, check_one_family, identify, sidecars, suggested_mapping
from board.sources import shards


def identity(path: Path) -> Identity:
    """Of the only shard in a folder."""
    return identify(shards.find_shards(path)[0][0])


HEADS: dict[str, tuple[bytes, str]] = {
    "ours": (b'{"step": 1, "response": "x"}\n', "native"),
    "ours behind garbage": (b'garbage\n[1]\n\n{"step": 1, "response": "x"}\n', "native"),
    "metrics": (b'{"loss": 1}\n', ""),
    "empty": (b"", ""),
    "half a line": (b'{"step": 1, "resp', ""),
}


@pytest.mark.parametrize(("data", "name"), HEADS.values(), ids=HEADS)
def test_first_records_tell(tmp_path: Path, data: bytes, name: str) -> None:
    """The format is told by records that can be read, wherever among the first they stand."""
    (tmp_path / "a.jsonl").write_bytes(data)

    assert identity(tmp_path).format == name


def test_objects_over_many_lines_are_seen(tmp_path: Path) -> None:
    """A file whose first line opens an object and nothing else is read object by object, also when it is opened again and when it grows."""
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(token_row(step), indent=2) for step in (0, 1)))
    assert identity(tmp_path).objects
    assert open_run(tmp_path).steps.tolist() == [0, 1]
    assert open_run(tmp_path).steps.tolist() == [0, 1]

    with path.open("a") as stream:
        stream.write("\n" + json.dumps(token_row(2), indent=2))

    run = open_run(tmp_path)
    assert run.steps.tolist() == [0, 1, 2]
    assert json.loads(run.raw(2))["step"] == 2


PRETTY: dict[str, tuple[bytes, bool]] = {
    "an object over lines": (b'{\n  "step": 0,\n', True),
    "a list over lines": (b"[\n  {\n", True),
    "a bad line before rows": (b'{\n{"step": 0, "response": "x"}\n', False),
    "a bad line alone": (b"{\n", False),
    "half a second line": (b'{\n{"step', False),
    "rows": (b'{"step": 0}\n{\n', False),
}


@pytest.mark.parametrize(("data", "pretty"), PRETTY.values(), ids=PRETTY)
def test_objects_over_lines_are_told_from_a_bad_line(tmp_path: Path, data: bytes, pretty: bool) -> None:
    """A first line that only opens is a bad line when an object of its own follows."""
    (tmp_path / "a.jsonl").write_bytes(data)

    assert identity(tmp_path).objects is pretty


def test_shard_is_known_once_its_first_record_is_there(tmp_path: Path) -> None:
    """A shard caught before its first record was whole is looked at again, and what was read of it then is read anew."""
    path = tmp_path / "a.jsonl"
    path.write_text('{\n  "step": 0,')
    with pytest.raises(NothingRead):
        open_run(tmp_path)
    path.write_text(json.dumps(token_row(0), indent=2) + "\n")

    run = open_run(tmp_path)

    assert (run.steps.tolist(), run.report.problems) == ([0], [])


LOGS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "numbers beside a step": ("log.jsonl", {"step": 1, "loss": 0.5, "time": "2026-11-25T09:00:00"}, True),
    "a log by its name": ("logging.jsonl", {"global_step/max_steps": "1/5", "loss": 0.5, "elapsed": "1m 5s"}, True),
    "a log by its name that holds texts": ("metrics.jsonl", {"step": 1, "loss": 0.5, "completion": "I say 4."}, False),
    "rollouts without a response": ("a.jsonl", {"step": 1, "reward": 0.5, "prompt": "2+2?"}, False),
    "rollouts of arrays": ("a.jsonl", {"step": 1, "reward": 0.5, "logps": [0.1, 0.2]}, False),
    "numbers without a step": ("a.jsonl", {"loss": 0.5, "lr": 0.1}, False),
}


@pytest.mark.parametrize(("name", "row", "is_log"), LOGS.values(), ids=LOGS)
def test_logs_of_metrics_are_no_refused_rollouts(tmp_path: Path, name: str, row: dict[str, Any], is_log: bool) -> None:
    """A folder of nothing but steps with numbers is said to hold metrics; rows that lack something are refused with the reason."""
    write_run(tmp_path, {name: [row, row]})

    with pytest.raises(NothingRead) as refusal:
        open_run(tmp_path)

    assert ("holds metrics and no rollouts" in str(refusal.value)) is is_log
    assert ("2 lines refused" in str(refusal.value)) is not is_log


def test_metrics_beside_rollouts_are_left_out(tmp_path: Path) -> None:
    """A file of metrics is skipped and listed with its keys, and counts neither as a shard nor as a problem."""
    write_run(tmp_path, {"rank_0.jsonl": [token_row(0)], "metrics.jsonl": [{"step": 0, "loss": 0.5}]})

    run = open_run(tmp_path)

    assert (run.report.shards, run.report.rows, run.report.problems) == (1, 1, [])
    assert run.report.skipped == {"metrics.jsonl": "holds no rollouts that the board knows; its keys are step, loss"}
    assert run.report.formats == {"native": 1}
    assert list(run.frame["shard"].cat.categories) == ["rank_0.jsonl"]


def test_only_what_holds_no_response_is_left_out() -> None:
    """A file with a response under any name is read, so that its rows are refused with a reason, and so is the only file of a run."""
    known, metrics = Identity("native", keys=("step", "response")), Identity("", keys=("loss",))
    spoken, empty = Identity("", keys=("completion",)), Identity("")

    assert list(sidecars({"a": known, "b": metrics, "c": spoken, "d": empty})) == ["b"]
    assert sidecars({"b": metrics}) == {}


GOLDEN = Path(__file__).parents[1] / "formats" / "golden"


def test_rollout_and_train_dump_of_a_step_are_one(tmp_path: Path) -> None:
    """slime's two files of a step give each sample once, with what both say of it, and a changed train dump is seen."""
    pytest.importorskip("torch")
    shutil.copytree(GOLDEN / "slime", tmp_path / "slime")

    run = open_run(tmp_path / "slime")

    assert list(run.report.formats.items()) == [("slime dump", 3)]
    trained = run.rollout(int(run.frame.index[(run.frame["step"] == 12) & run.frame["logprob_mean"].notna()][0]))
    assert trained.shard == "rollout_data/12.pt"
    assert trained["response"]
    assert trained["ref_logprobs"] is not None
    (tmp_path / "slime" / "train_data" / "12.pt").unlink()
    assert open_run(tmp_path / "slime").frame.query("step == 12")["logprob_mean"].isna().all()


def test_files_that_repeat_others_are_left_out() -> None:
    """The one that tells more of the same rollouts is read, whichever is found first; alone each is read."""
    export, trace = Identity("prime-rl token export"), Identity("verifiers traces")

    assert sidecars({"a": export, "b": trace}) == {"a": "repeats the rollouts of verifiers traces"}
    assert sidecars({"a": export}) == {}


def test_what_was_sampled_for_a_batch() -> None:
    """What lies beside a batch was sampled for it; without one nobody knows what of it will be trained on."""
    trace, other = Identity("verifiers traces"), Identity("native")
    both = {"step_1/train/all/traces.jsonl": trace, "step_1/train/effective/traces.jsonl": trace}
    alone = {"step_1/eval/all/traces.jsonl": trace, "all/traces.jsonl": trace}

    assert sidecars({**both, **alone}) == {}
    assert batches({**both, **alone}) == {"step_1/train/all/traces.jsonl": False, "step_1/train/effective/traces.jsonl": True}
    assert batches({"all/traces.jsonl": trace, "effective/traces.jsonl": trace}) == {
        "all/traces.jsonl": False,
        "effective/traces.jsonl": True,
    }
    assert batches({"all/a.jsonl": other, "effective/a.jsonl": other}) == {}


def test_mixture_of_trainers_is_said(tmp_path: Path) -> None:
    """Rollouts of two trainers in one folder are not merged by step; the sentence says what was seen where and what to do."""
    write_run(
        tmp_path,
        {
            "ours/rank_0.jsonl": [token_row(0)],
            "verl/1.jsonl": [{"input": "q", "output": "a", "score": 1.0, "step": 1}],
            "verl/2.jsonl": [{"input": "q", "output": "a", "score": 1.0, "step": 2}],
        },
    )

    with pytest.raises(RunNotFound, match=r"native: 1 file.*ours/rank_0\.jsonl; verl: 2 files, such as verl/1\.jsonl"):
        open_run(tmp_path)
    assert open_run(tmp_path / "verl").steps.tolist() == [1, 2]


def test_one_family_is_no_mixture() -> None:
    """Files of one trainer, and files that nobody knows, may lie together."""
    check_one_family({"a": Identity("native"), "b": Identity("native"), "c": Identity("")})


CONTAINERS: dict[str, tuple[dict[str, Any], int]] = {
    "a list": ({"model": "m", "samples": [{"question": "q", "response": "a", "score": 1.0}] * 3}, 3),
    "a list deeper": ({"run": {"samples": [{"question": "q", "response": "a", "score": 1.0}]}, "tags": [{"name": "x"}] * 5}, 1),
    "lists by name": ({"results": {name: {"completions": [{"response": "a", "score": 0.5}] * 2} for name in "abc"}}, 6),
    "lists by step": ({str(step): [{"prompt": p, "response": "a", "reward": 0.5} for p in "xyz"] for step in range(3)}, 9),
    "objects by step": (
        {f"step_{at}": {"rollouts": [{"prompt": p, "completion": "a"} for p in "xy"], "lr": 0.1} for at in (5, 10)},
        4,
    ),
    "rows by number, lists in them": (
        {str(at): {"prompt": f"{at}", "response": "a", "calls": [{"response": "x"}] * 3} for at in range(4)},
        4,
    ),
    "lists by sample": ({f"task_{at}": [{"prompt": f"{at}", "response": r} for r in "ab"] for at in range(3)}, 6),
    "conversations": ({"items": [{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}]}, 1),
}


@pytest.mark.parametrize(("record", "count"), CONTAINERS.values(), ids=CONTAINERS)
def test_rows_within_one_object_are_found_and_named(tmp_path: Path, record: dict[str, Any], count: int) -> None:
    """The mapping that is suggested for a large object names the rows within it, and opens it when it is kept."""
    (tmp_path / "log.json").write_text(json.dumps(record))

    by_itself = open_run(tmp_path)
    (tmp_path / "rollouts.toml").write_text(suggested_mapping(shards.find_shards(tmp_path)[0][0]))

    assert len(by_itself.frame) == count == len(open_run(tmp_path).frame)


def test_keys_over_lists_of_rows_are_steps_or_groups(tmp_path: Path) -> None:
    """Lists under numbers are steps where each has several prompts, and the samples of one prompt where it has one; the note says which."""
    for name, container in (("steps", "lists by step"), ("deeper", "objects by step"), ("samples", "lists by sample")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.json").write_text(json.dumps(CONTAINERS[container][0]))

    steps, deeper, samples = (open_run(tmp_path / name) for name in ("steps", "deeper", "samples"))

    assert steps.frame["step"].to_list() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert deeper.frame["step"].to_list() == [5, 5, 10, 10]
    assert samples.frame["group_id"].to_list() == ["task_0", "task_0", "task_1", "task_1", "task_2", "task_2"]
    assert {*samples.frame["step"]} == {0}
    assert "the key over them is step" in identify(shards.find_shards(tmp_path / "steps")[0][0]).note


@pytest.mark.parametrize("name", ["log.json", "log.jsonl"])
def test_rows_within_one_object_open_by_themselves(tmp_path: Path, name: str) -> None:
    """Texts and rewards are the rows', whether the object is a document or a line, and the note says what was taken for what."""
    rows = [{"question": f"{at}+1?", "model_response": f"{at + 1}", "score": at % 2} for at in range(4)]
    (tmp_path / name).write_text(json.dumps({"meta": {"model": "m"}, "results": rows}) + "\n")

    run = open_run(tmp_path)

    assert run.frame["reward"].to_list() == [0, 1, 0, 1]
    assert run.frame["response_chars"].to_list() == [1, 1, 1, 1]
    note = identify(shards.find_shards(tmp_path)[0][0]).note
    assert "at `results`, read by a guess" in note
    assert "`model_response` is response, `score` is reward" in note


def test_rows_within_an_object_beside_known_rollouts_are_left_out(tmp_path: Path) -> None:
    """A results file that holds rows is none of the run's rollouts where files of a known trainer lie beside it, and is named."""
    (tmp_path / "rank_0.jsonl").write_text(json.dumps({"step": 1, "prompt": "q", "response": "a", "reward": 1.0}) + "\n")
    (tmp_path / "metrics.jsonl").write_text(json.dumps({"samples": [{"question": "q", "response": "a", "score": 0.0}] * 3}))

    run = open_run(tmp_path)

    assert run.frame["reward"].to_list() == [1.0]
    assert "metrics.jsonl" in sidecars({one.name: identify(one) for one in shards.find_shards(tmp_path)[0]})


def test_an_unsure_list_within_an_object_is_suggested_only(tmp_path: Path) -> None:
    """Where only the longest text may be the response, or two lists may be the rows, nobody's numbers are shown before the reader chose."""
    rows = [{"prompt": f"{at}?", "thing": f"a long text {at}"} for at in range(3)]
    for name, record in {"a": {"data": rows}, "b": {"x": [{"response": "a"}], "y": [{"response": "b"}]}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(record))

    assert {identify(one).format for one in shards.find_shards(tmp_path)[0]} == {""}
