"""The phrases of a whole run: read back as they were found; other counts than the usual are looked for anew."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rows import row, write_run

from board import open_run
from board.analysis.texts.phrases import LEAST, TABLE, Phrases, find, of_run
from board.runs.cache import run_tables


def planted(steps: int = 6) -> list[dict[str, object]]:
    """Groups of four whose rewards are higher where a sentence stands, which comes late."""
    dice = np.random.default_rng(3)
    rows: list[dict[str, object]] = []
    for step in range(steps):
        for at in range(32):
            says = bool(dice.random() < 0.1 + 0.7 * step / steps)
            response = f"so then {at % 3} is it.{' I am entirely certain of this.' if says else ''}"
            rows.append(row(step, prompt=f"p{at // 4}", response=response, reward=float(says) + round(dice.normal(0, 0.1), 3)))
    return rows


def same(one: Phrases, other: Phrases) -> bool:
    """Whether two are equal to the digit."""
    pd.testing.assert_frame_equal(one.listed, other.listed)
    names = [field.name for field in fields(one) if field.name != "listed"]
    np.testing.assert_equal([getattr(one, name) for name in names], [getattr(other, name) for name in names])
    return True


@pytest.mark.parametrize("rows", [planted(), planted(1), [row(0)]])
def test_come_back_as_they_were_found(rows: list[dict[str, object]], tmp_path: Path) -> None:
    """With rewards and steps, with one step, and where there is no phrase."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": rows}))
    made = of_run(run)
    assert run_tables.read(run, TABLE, "20 3.0 120") is not None
    again = of_run(open_run(tmp_path / "run"))
    assert same(again, made)
    assert same(made, find(run))
    if len(made.listed):
        np.testing.assert_array_equal(again.keys_of(0), made.keys_of(0))


def test_another_count_is_looked_for_anew(tmp_path: Path) -> None:
    """And does not take the place of what is kept."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": planted()}))
    usual = of_run(run)
    assert same(of_run(run, LEAST + 30), find(run, LEAST + 30))
    assert same(of_run(run), usual)
