"""The rollouts that phrases are looked for in: those with a response, groups side by side, long texts cut, many thinned out."""

from pathlib import Path

import pytest
from rows import row, write_run

from board import open_run
from board.analysis.texts import phrase_sample as module
from board.analysis.texts.phrase_sample import LONGEST, phrase_sample
from board.text.text_units import GAP


def test_texts(tmp_path: Path) -> None:
    """A long response keeps its beginning and its end; one that is missing is left out; groups lie side by side."""
    rows = [
        row(1, prompt="b", response="x" * LONGEST + "end"),
        row(0, prompt="a", response="one"),
        row(0, prompt="b", response="two"),
        row(0, prompt="a", response="three"),
        row(0, prompt="a", response=None),
    ]
    found = phrase_sample(open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows})))
    assert found.texts[:3] == ["one", "three", "two"] or found.texts[:3] == ["two", "one", "three"]
    assert found.texts[3].endswith("xend")
    assert (GAP in found.texts[3], len(found.texts[3])) == (True, LONGEST + 1)
    assert (found.cut, found.of) == (1, 4)
    assert found.frame["step"].tolist() == [0, 0, 0, 1]
    assert len(found.keys) == 4


def test_many_long_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run of long responses fewer rollouts are looked at, by their bytes."""
    monkeypatch.setattr(module, "MOST_BYTES", 3_000)
    monkeypatch.setattr(module, "LEAST_ROLLOUTS", 5)
    rows = [row(step, response="é" * 100) for step in range(50)]
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows}))
    assert len(phrase_sample(run).texts) == 15
    monkeypatch.setattr(module, "MOST_BYTES", 30)
    assert len(phrase_sample(run).texts) == 5
