"""Tests of what the name of a file says of its rollouts."""

import pytest

from board.formats.filename_hints import split_in, split_named, step_in, step_note, step_or_zero, step_said

STEPS: dict[str, int | None] = {
    "12.jsonl": 12,
    "rollouts/12.jsonl.gz": 12,
    "eval_12.pt": 12,
    "rollout_data/12.pt": 12,
    "global_step_40_evals/gsm8k.jsonl": 40,
    "rollouts/step_7/train/all/traces.jsonl": 7,
    "token_exports/step_7/rank_0.jsonl": 7,
    "iteration_000031/train_rollout_summaries.jsonl": 31,
    "completions/completions_00025.parquet": 25,
    "exp_001/train_data_step9.jsonl": 9,
    "exp_001/val_data_step10.jsonl": 10,
    "rollout_dump_data.step_3.jsonl": 3,
    "train_rollout/train_rollout_6.jsonl": 6,
    "eval_rollout/eval_rollout_6.jsonl": 6,
    "rollout_idx_5_trajectory.jsonl": 5,
    "eval_5_trajectory.jsonl": 5,
    "dashboard_columns/rollout_8.parquet": 8,
    "dashboard_columns/rollout_eval_8.parquet": 8,
    "episodes/train_step_2_epoch_1/episode_hash9_id4.json": 2,
    "4_240101_120000.jsonl": 4,
    "rollout/17/42.jsonl": 42,
    "checkpoint-500/samples.jsonl": 500,
    "ckpt_20/samples.jsonl": 20,
    "iter_7.jsonl": 7,
    "step_5/0.json": 5,
    "epoch_3/12.jsonl": 12,
    "epoch_3_val.json": 3,
    "00000012.jsonl": 12,
    "epoch-1712345678.5.json": None,
    "20260131/rows.jsonl": None,
    "1760000000/rows.jsonl": None,
    "rank_0.jsonl": None,
    "completions.jsonl": None,
    "data_20250731_120000_123.jsonl": None,
    f"{'9' * 30}.jsonl": None,
}


@pytest.mark.parametrize(("name", "step"), STEPS.items(), ids=STEPS)
def test_step_in_a_path(name: str, step: int | None) -> None:
    """Every trainer's way to put the step into a path, and names that hold other numbers."""
    assert step_in(name) == step


SAID: dict[str, int | None] = {
    "12": 12,
    "step_12": 12,
    "iter 7": 7,
    "runs/checkpoint-40": 40,
    "4/100": None,
    "v2": None,
    "late": None,
}


@pytest.mark.parametrize(("text", "step"), SAID.items(), ids=SAID)
def test_step_that_a_text_says(text: str, step: int | None) -> None:
    """A number alone, or one with a word for steps."""
    assert step_said(text) == step


SPLITS: dict[str, str | None] = {
    "eval_12.pt": "evaluation",
    "validation/12.jsonl": "evaluation",
    "exp_001/val_data_step10.jsonl": "evaluation",
    "rollouts/step_7/eval/all/traces.jsonl": "evaluation",
    "eval-rollout/3/1.jsonl": "evaluation",
    "dashboard_columns/rollout_eval_8.parquet": "evaluation",
    "global_step_40_evals/gsm8k.jsonl": "evaluation",
    "train/12.jsonl": None,
    "values/12.jsonl": None,
    "retrieval/12.jsonl": None,
}


@pytest.mark.parametrize(("name", "split"), SPLITS.items(), ids=SPLITS)
def test_split_in_a_path(name: str, split: str | None) -> None:
    """An evaluation is told by a word of its own, not by letters within another."""
    assert split_in(name) == split


WORDS = {
    "train": "train",
    "val": "evaluation",
    "Validation": "evaluation",
    "test": "evaluation",
    "eval_gsm8k": "evaluation",
    "dev": "evaluation",
    "evaluation": "evaluation",
    "discarded": "discarded",
    "train_v2": "train_v2",
    "train_val": "train_val",
    "retrieval": "retrieval",
    "": "",
}


@pytest.mark.parametrize(("word", "split"), WORDS.items(), ids=WORDS)
def test_split_that_a_rollout_names(word: str, split: str) -> None:
    """Whatever word a row has for a held-out set, its rollouts are none of training."""
    assert split_named(word) == split


def test_a_step_that_nothing_says() -> None:
    """It is 0, and the reader is told so; where paths say it, that it is from there."""
    assert (step_or_zero("a/step_7/x.jsonl"), step_or_zero("eval_only/x.jsonl")) == (7, 0)
    assert step_note("a/step_7/x.jsonl") == "Steps are from the names of the files."
    assert step_note("eval_only/x.jsonl") == "Neither the records nor the names of the files say the step: it is 0 for all."
