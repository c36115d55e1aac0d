"""How responses of a run end: one ending each, by what the row says, and what else stands at the end."""

from pathlib import Path
from typing import Any

import pytest
from looked_at import opened
from rows import row, token_row

from board.analysis.rollouts.response_endings import CUT, END_TOKEN, NO_END_TOKEN, OTHER_REASONS, UNKNOWN, endings, shares, table
from board.analysis.texts import measured_columns
from board.runs.run import Run

END = ["a", "<|im_end|>"]

CASES: dict[str, tuple[dict[str, Any], str]] = {
    "cut, whatever its last token is": (token_row(response_tokens=END, finish_reason="length"), CUT),
    "an end token, whatever the engine calls it": (token_row(response_tokens=END, finish_reason="stop"), END_TOKEN),
    "what the engine says where no end token is": (token_row(finish_reason="tool_calls"), "engine: tool_calls"),
    "the string that stopped it": (token_row(finish_reason="stop", stop_reason="</answer>"), "engine: </answer>"),
    "neither": (token_row(), NO_END_TOKEN),
    "no tokens and no reason": (row(0, response="some text"), UNKNOWN),
}


def measured(folder: Path, rows: list[dict[str, Any]]) -> Run:
    """The run of some rows, measured."""
    return measured_columns.with_measures(opened(folder, rows))


@pytest.mark.parametrize(("one", "expected"), CASES.values(), ids=CASES)
def test_an_ending(tmp_path: Path, one: dict[str, Any], expected: str) -> None:
    """Beside another that is told, so that there are endings."""
    run = measured(tmp_path / "run", [one, token_row(finish_reason="length")])
    found = endings(run)

    assert found is not None
    assert found.names[found.of_rows[0]] == expected


def test_rare_reasons_are_one(tmp_path: Path) -> None:
    """Only the commonest reasons of an engine are told apart."""
    rows = [token_row(finish_reason=f"reason {number}") for number in range(6) for _ in range(6 - number)]
    found = endings(measured(tmp_path / "run", rows))

    assert found is not None
    assert found.names == ("engine: reason 0", "engine: reason 1", "engine: reason 2", "engine: reason 3", OTHER_REASONS)


def test_shares_and_rewards(tmp_path: Path) -> None:
    """By step all shares are 1 together; the table has the step's counts and the run's means; a sign is a row where some response shows it."""
    rows = [
        token_row(0, response_tokens=END, reward=1.0),
        token_row(0, finish_reason="length", reward=0.0, response="```code"),
        token_row(1, finish_reason="length", reward=0.5),
    ]
    run = measured(tmp_path / "run", rows)
    found = endings(run)
    assert found is not None
    by_step = shares(run, found)
    told = {one["ending"]: one for one in table(run, found, 0).to_dict("records")}

    assert by_step.to_numpy().sum(axis=1).tolist() == pytest.approx([1.0, 1.0])
    assert by_step[CUT].to_list() == [0.5, 1.0]
    assert [told[CUT][name] for name in ("responses", "share", "reward")] == [1, 0.5, 0.25]
    assert [told[END_TOKEN][name] for name in ("responses", "reward")] == [1, 1.0]
    assert told["… an open fence of code"]["responses"] == 1
    assert "… open JSON" not in told


def test_nothing_is_told(tmp_path: Path) -> None:
    """Of a run that is not measured, or has neither tokens nor reasons, there are no endings."""
    assert endings(opened(tmp_path / "one", [token_row(0)])) is None
    assert endings(measured(tmp_path / "two", [row(0, response="some text")])) is None
