"""board.runs.parsing.discarded: what a trainer discarded is told from what it trained on, and enters no number of it.

prime-rl's folders are made of the golden run's records, which follow its released writer; `is_filtered` and `split` stand in rows of ours.
"""

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pushed import lines as of_numbers
from pushed import pushed
from rows import row, token_row, write_run

from board import open_run
from board.analysis.rollouts import groups
from board.analysis.steps.step_metrics import per_step_values
from board.analysis.tokens import token_histogram
from board.findings.checks.all_checks import run_checks
from board.push.recorder_numbers import RecordedSteps
from board.recorder.values import encode
from board.runs.cache.part_token_summaries import group_of
from board.runs.parsing.discarded import mark_discarded
from board.runs.run import Run

TRACES = Path(__file__).parents[1] / "formats" / "golden" / "traces" / "run" / "rollouts" / "step_12" / "train" / "effective"
EPISODE: dict[str, Any] = json.loads((TRACES / "traces.jsonl").read_text(encoding="utf-8").splitlines()[0])


def episode(step: int, name: str, score: float, **run: Any) -> dict[str, Any]:
    """One attempt of prime-rl's, of the step's one group."""
    made = copy.deepcopy(EPISODE)
    made["id"], made["group"] = f"e-{name}", {"id": f"g-{step}"}
    made["run"]["work"]["step"] = step
    (trace,) = made["traces"]
    trace["id"] = name
    trace["rewards"] = {"correct": {"score": score, "weight": 1.0}}
    return made | run


def prime_rl(folder: Path, discarded: bool) -> Path:
    """Two steps of two attempts each; where asked for, beside all that was sampled, of which one attempt was discarded, and one failed."""
    shards: dict[str, list[Any]] = {}
    for step in (1, 2):
        batch = [episode(step, f"{step}-{at}", at) for at in range(2)]
        shards[f"rollouts/step_{step}/train/effective/traces.jsonl"] = batch
        if discarded:
            failed = episode(step, f"{step}-failed", 0.0) | {"ok": False}
            # in the order in which they came, of the step that they were asked for in
            shards[f"rollouts/step_{step}/train/all/traces.jsonl"] = [failed, *reversed(batch), episode(step, f"{step}-9", 7.0)]
    return write_run(folder, shards)


def ours(folder: Path, more: list[dict[str, Any]]) -> Path:
    """Two steps of a group of two, with further rows."""
    rows = [token_row(step, reward=float(at), group_id="g", sample_id=f"{step}-{at}") for step in (1, 2) for at in range(2)]
    merged = sorted([*rows, *more], key=lambda one: int(one["step"]))
    return write_run(folder, {"rank_0.jsonl": merged})


def marked(**mark: Any) -> Callable[[Path, bool], Path]:
    """Our rows, beside discarded ones with a mark."""
    more = [token_row(step, reward=7.0, group_id="g", sample_id=f"{step}-9", logprobs=[-9.0, 9.0], **mark) for step in (1, 2, 3)]
    return lambda folder, discarded: ours(folder, more if discarded else [])


WAYS: dict[str, Callable[[Path, bool], Path]] = {
    "prime-rl's all beside effective": prime_rl,
    "a split": marked(split="discarded"),
    "a flag": marked(is_filtered=True),
    "slime's flag": marked(remove_sample=True),
    "a flag beside a split": marked(is_filtered=True, split="train"),
    "another flag": marked(discarded=1),
}


@pytest.fixture(params=list(WAYS.values()), ids=list(WAYS))
def runs(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Run, Run]:
    """A run, and the same with discarded rollouts beside."""
    return open_run(request.param(tmp_path / "run", False)), open_run(request.param(tmp_path / "beside", True))


def test_no_number_knows_of_what_was_discarded(runs: tuple[Run, Run]) -> None:
    """Metrics, groups and tokens of training are those of the run without the discarded rollouts, which are a split of their own."""
    without, beside = runs

    assert (without.splits, beside.splits) == (("train",), ("train", "discarded"))
    of_both = per_step_values(beside)[per_step_values(without).columns]
    pd.testing.assert_frame_equal(of_both, per_step_values(without))
    first, second = (groups.find(one.of_split("train").frame) for one in runs)
    pd.testing.assert_frame_equal(first.groups, second.groups)
    assert len(beside.of_split("discarded").frame) == len(beside.frame) - len(without.frame) > 0
    metric = token_histogram.metrics_of(without)[0]
    kept, again = (token_histogram.count_tokens(one.of_split("train"), metric) for one in runs)
    assert (kept.sums.tolist(), kept.in_bins.tolist()) == (again.sums.tolist(), again.in_bins.tolist())


def test_no_check_and_no_push_knows_of_it_either(runs: tuple[Run, Run]) -> None:
    """What is handed to trackers, what is found, and what is checked are as without the discarded rollouts."""
    told = [
        [{name: one[name] for name in one if not name.startswith("board/columns/")} for one in of_numbers(output)]
        for output, _ in (pushed(one.location, "--to", "stdout", "--format", "jsonl", "--quiet", 0) for one in runs)
    ]
    found = [[one.check.name for one in run_checks(run).findings] for run in runs]

    assert [one for one in told[1] if len(one) > 1] == told[0]
    assert found[0] == found[1]


def test_it_can_be_looked_at(runs: tuple[Run, Run]) -> None:
    """A discarded rollout has its texts, its group and its place, and says what it is; nothing is there twice."""
    _, beside = runs
    discarded = beside.of_split("discarded")
    for key in discarded.frame.index:
        rollout = beside.rollout(int(key))
        assert rollout["response"] is not None
        assert beside.key_of(rollout.source) == key
        assert beside.split_of(int(key)) == "discarded"
    assert discarded.trained is discarded
    assert beside.counted.splits == ("train",)
    assert beside.frame["sample_id"].is_unique
    assert beside.report.rows == len(beside.frame)
    mates = beside.frame[beside.frame["step"] == 1]
    assert mates["group"].nunique() == 1


def test_a_recorder_sums_none_of_it_up() -> None:
    """The numbers of a step that is being recorded are those of its other rollouts, however the trainer says that it discarded some."""
    kept = [*[token_row(1, reward=1.0)] * 2, token_row(1, reward=0.0, split="evaluation", is_filtered=True)]
    found = []
    for mark in ({}, {"split": "discarded"}, {"is_filtered": True}, {"is_discarded": np.array(1)}):
        rows = [*kept, *([token_row(1, reward=9.0, **mark)] if mark else [])]
        found.append(RecordedSteps("board", (), 0, 0).of([encode(one) for one in rows]))

    assert found[0][0]["board/reward/mean"] == 1.0
    assert all(one == found[0] for one in found)


def test_a_run_of_which_all_was_discarded(tmp_path: Path) -> None:
    """It can be looked at, and nothing is pushed of it nor found in it."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [token_row(step, split="discarded") for step in (1, 2)]}))
    output, _ = pushed(run.location, "--to", "stdout", "--format", "jsonl", "--quiet", 0)

    assert run.splits == ("discarded",)
    assert run.trained is run
    assert run.counted.frame.empty
    assert [*of_numbers(output)] == []
    assert run_checks(run).findings == ()


def test_an_evaluation_is_none_of_it(tmp_path: Path) -> None:
    """A flag in a row of an evaluation marks nothing: nobody trains on it. A number that counts something is no flag."""
    rows = [row(1, reward=1.0, split="evaluation", is_filtered=True), row(1, reward=0.0, is_filtered=False)]
    counted = [row(1, reward=1.0, discarded=3), row(1, reward=0.0, discarded=1)]

    assert open_run(write_run(tmp_path / "flag", {"a.jsonl": rows})).splits == ("train", "evaluation")
    assert open_run(write_run(tmp_path / "count", {"a.jsonl": counted})).splits == ("train",)


def test_what_was_sampled_for_a_batch_that_is_not_there_yet(tmp_path: Path) -> None:
    """Until a batch is sent nobody knows what of it will be discarded; a rollout may be sent with a later batch than it was sampled for."""
    all_of, batch_of = (f"rollouts/step_{{}}/train/{part}/traces.jsonl" for part in ("all", "effective"))
    shards = {
        all_of.format(1): [episode(1, "a", 1.0), episode(1, "late", 0.0), episode(1, "gone", 0.0)],
        batch_of.format(1): [episode(1, "a", 1.0)],
        batch_of.format(2): [episode(1, "late", 0.0)],
        all_of.format(3): [episode(3, "pending", 1.0)],
    }
    run = open_run(write_run(tmp_path / "run", shards))

    told = run.frame.astype({"sample_id": str}).set_index("sample_id")["split"].astype(str)
    assert told.to_dict() == {"a": "train", "late": "train", "gone": "discarded", "pending": "train"}


Written = tuple[str, int, str | None, str | None]


def rows_of(*given: Written) -> tuple[pd.DataFrame, Callable[[Any], list[str | None]]]:
    """Rows of (shard, step, sample id, text), as they were read, and their texts."""
    frame = pd.DataFrame(
        {
            "shard": [one[0] for one in given],
            "step": [one[1] for one in given],
            "prompt_key": 7,
            "sample_id": [one[2] for one in given],
        }
    )
    return frame, lambda keys: [given[key][3] for key in keys]


ALL, BATCH = "all", "batch"
TWICE: dict[str, tuple[list[Written], list[int], list[int]]] = {
    "by their ids": ([(ALL, 1, "a", "x"), (ALL, 1, "b", "x"), (BATCH, 1, "a", "x")], [1, 2], [1]),
    "by their texts": ([(ALL, 1, None, "x"), (ALL, 1, None, "y"), (BATCH, 1, None, "x")], [1, 2], [1]),
    "by their steps": ([(ALL, 2, None, "x"), (BATCH, 1, None, "x")], [0, 1], [0]),
    "equal texts are counted": ([*[(ALL, 1, None, "x")] * 3, *[(BATCH, 1, None, "x")] * 2], [2, 3, 4], [2]),
    "some have ids": ([(ALL, 1, "a", "x"), (ALL, 1, None, "x"), (BATCH, 1, "a", "x")], [1, 2], [1]),
    "no text": ([(ALL, 1, None, None), (BATCH, 1, None, None)], [1], []),
    "nothing was sent": ([(ALL, 1, "a", "x")], [0], [0]),
    "of another file": ([("other", 1, "a", "x"), (ALL, 1, "a", "x"), (BATCH, 1, "a", "x")], [0, 2], []),
}


@pytest.mark.parametrize(("given", "kept", "discarded"), TWICE.values(), ids=TWICE)
def test_what_is_written_twice_is_there_once(given: list[Written], kept: list[int], discarded: list[int]) -> None:
    """A rollout among all that the batch has too is the batch's; what is left was discarded."""
    frame, texts = rows_of(*given)

    told = mark_discarded(frame, {ALL: False, BATCH: True}, texts)

    assert told.index.tolist() == kept
    assert [key for key in kept if "split" in told and told["split"].get(key) == "discarded"] == discarded


def test_nothing_is_looked_at_where_nothing_is_written_twice() -> None:
    """Rows of a run without batches are handed back as they are, and no text is read."""
    frame, _ = rows_of((ALL, 1, None, "x"))

    assert mark_discarded(frame, {}, lambda keys: pytest.fail("a text was read")) is frame
    assert mark_discarded(frame, {BATCH: True}, lambda keys: pytest.fail("a text was read")) is frame
    assert math.isnan(mark_discarded(frame.assign(is_filtered=[math.nan]), {}, lambda keys: [])["is_filtered"].iloc[0])


def test_tokens_of_a_step_are_summed_up_apart() -> None:
    """What a part keeps of its tokens is of training, of an evaluation, or of what was discarded; rows that do not say are of training."""
    said = pa.array(["train", None, "evaluation", "discarded", "discarded", "train"])
    found = group_of(np.array([1, 1, 1, 1, 2, 2]), said).tolist()

    assert found[0] == found[1]
    assert len(set(found)) == 5


def test_rows_of_a_validation_are_none_of_training(tmp_path: Path) -> None:
    """`split: "val"` is an evaluation, in plain rows as in those that are read one by one."""
    rows = [row(0, reward=1.0), row(0, reward=0.0) | {"split": "val"}, row(0, reward=0.0) | {"split": "TEST"}]
    for name, lines in {"plain": rows, "mixed": [*rows, row(0) | {"response_tokens": [1], "logprobs": "x"}]}.items():
        run = open_run(write_run(tmp_path / name, {"a.jsonl": lines}))
        assert run.splits == ("train", "evaluation")
        assert [run.split_of(key) for key in run.frame.index[:3]] == ["train", "evaluation", "evaluation"]
