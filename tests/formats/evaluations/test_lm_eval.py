"""Tests of lm-evaluation-harness' samples."""

import copy
from functools import partial
from typing import Any

import pytest
from golden_runs import GOLDEN, read_all

from board import open_run
from board.errors import RowRefused
from board.formats.contract import Head
from board.formats.evaluations import lm_eval

FOLDER = GOLDEN / "lm_eval"
ROW: dict[str, Any] = {
    "doc_id": 3,
    "doc": {"question": "2+2?"},
    "target": "4",
    "arguments": {"gen_args_0": {"arg_0": "2+2?", "arg_1": {"until": []}}},
    "resps": [["It is 4."]],
    "filtered_resps": ["4"],
    "filter": "none",
    "metrics": ["exact_match"],
    "exact_match": 1.0,
}
read = partial(read_all, lm_eval, name="m/samples_sums_2026-11-25T10-00-00.0.jsonl")


def test_a_run_opens_as_evaluation() -> None:
    """Three tasks at step 0: the filters of one are told apart, several samples have no reward, and a choice is text."""
    run = open_run(FOLDER)
    frame = run.frame

    assert run.splits == ("evaluation",)
    assert set(frame["step"]) == {0}
    assert run.report.problems == []
    assert dict(frame.groupby("data_source", observed=True)["reward"].mean().dropna()) == {
        **{"capitals": 0.5, "sums (strict)": 0.5, "sums (flexible)": 0.5}
    }
    repeated = frame[frame["data_source"] == "sums_repeated (first)"]
    assert (len(repeated), repeated["group"].nunique(), repeated["reward"].count()) == (4, 2, 0)
    assert sorted(repeated["metrics.exact_match"]) == [0.0, 0.0, 1.0, 1.0]
    spain = run.rollout(int(frame.index[frame["prompt_id"] == "capitals/1"][0]))
    assert (spain["prompt"], spain["response"], spain["ground_truth"]) == ("Capital of Spain:", " Paris", " Madrid")
    assert frame.loc[spain.key, "reward.acc_norm"] == 0.0


def test_a_row() -> None:
    """The raw response is what was sampled; what the filter took out of it is the answer."""
    (row,) = read(ROW)

    assert row.texts["prompt"] == "2+2?"
    assert (row.texts["response"], row.texts["answer"], row.texts["ground_truth"]) == ("It is 4.", "4", "4")
    assert (row.ids["data_source"], row.ids["group_id"], row.numbers["reward"]) == ("sums", "sums/3", 1.0)


OLDER: dict[str, dict[str, Any]] = {
    "lists of arguments": {"arguments": [["2+2?", {"until": []}]]},
    "no list of metrics": {"metrics": None},
    "a metric that is true": {"exact_match": True},
}


@pytest.mark.parametrize("change", OLDER.values(), ids=OLDER)
def test_rows_of_other_releases(change: dict[str, Any]) -> None:
    """Older rows give the same rollout."""
    record = {key: value for key, value in (copy.deepcopy(ROW) | change).items() if value is not None}

    (row,) = read(record)

    assert (row.texts["prompt"], row.texts["response"], row.numbers["reward"]) == ("2+2?", "It is 4.", 1.0)


def test_the_likelihood_of_a_text() -> None:
    """Nothing was sampled: the response is empty, and a metric that is a pair is kept as it is, and no reward."""
    rolling = {
        "arguments": {"gen_args_0": {"arg_0": "abc"}},
        "resps": [["-12.5"]],
        "metrics": ["exact_match"],
        "exact_match": [-12.5, 3],
    }

    (row,) = read({**ROW, **rolling})

    assert (row.texts["prompt"], row.texts["response"], row.numbers["logprob_sum"]) == ("abc", "", -12.5)
    assert "reward" not in row.numbers
    assert row.texts["metrics.exact_match"] == "[-12.5, 3]"


def test_the_step_is_the_folders() -> None:
    """A checkpoint's folder says the step; the date in the name of the file says none."""
    assert read(ROW, name="step_40/samples_sums_2026-11-25T10-00-00.0.jsonl")[0].step == 40
    assert read(ROW)[0].step == 0


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no arguments": ({"arguments": None}, "has no `arguments`"),
    "responses that are no lists": ({"resps": ["4"]}, '`resps` holds "4" at position 0, not a list'),
}


@pytest.mark.parametrize(("change", "reason"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused(change: dict[str, Any], reason: str) -> None:
    """By its key."""
    with pytest.raises(RowRefused, match=reason):
        read({**ROW, **change})


def test_what_a_mean_is_not() -> None:
    """Where examples have a row for each filter, the note says that means mix them."""
    assert "means mix them" not in lm_eval.note(Head("samples_sums.jsonl", (ROW,)))
    assert "means mix them" in lm_eval.note(Head("samples_sums.jsonl", ({**ROW, "filter": "strict"},)))
