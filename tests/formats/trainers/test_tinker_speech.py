"""Tests of tinker-cookbook's evaluations of speech."""

from typing import Any

import pytest
from golden_runs import GOLDEN

from board import formats, open_run
from board.errors import RowRefused
from board.formats.contract import Head, Place
from board.formats.trainers import tinker_speech


def test_two_evaluations_and_one_of_emotions() -> None:
    """Files are counted as steps, clips keep their names over them; the reward is minus the error rate, or whether the emotion is right."""
    run = open_run(GOLDEN / "tinker_speech")
    speech = run.frame[run.frame["shard"].astype(str).str.startswith("asr")]
    emotions = run.frame[run.frame["data_source"] == "test"]

    assert run.splits == ("evaluation",)
    assert list(speech.groupby("step")["reward"].mean()) == pytest.approx([-2 / 3, 0.0])
    assert speech["prompt_id"].nunique() == 2
    assert list(emotions["reward"]) == [1.0, 0.0]
    said = run.rollout(int(emotions.index[0]))
    assert (said["response"], said["ground_truth"], said["hyp"]) == ("[happy] turn left here", "turn left here", "turn left here")
    assert run.report.problems == []


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no rate": ({"wer": None}, "`wer` is null, not a number"),
    "no transcript": ({"hyp": 3}, "`hyp` is 3, not text"),
}


@pytest.mark.parametrize(("change", "reason"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused(change: dict[str, Any], reason: str) -> None:
    """By its key."""
    with pytest.raises(RowRefused) as refused:
        formats.read({"ref": "stop", "hyp": "stop", "wer": 0.0, **change}, tinker_speech, Place("eval_rollouts_000.jsonl", 1))

    assert str(refused.value) == reason


def test_the_mean_is_no_rate() -> None:
    """A mean over clips is not the word error rate of all their words, and the note says so."""
    assert "not the word error rate" in tinker_speech.note(Head("eval_rollouts_000.jsonl", ({"wer": 0.0},)))
