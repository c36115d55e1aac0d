"""The report of a comparison as the page saves it: the document of the command `compare`, and a table with what was compared."""

import json
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from rows import add_run, row

from board.analysis.compare.run_pair import compare
from board.cli.main import main
from board.runs.opening import open_run
from board.ui.frame.compared_runs import ComparedSide
from board.ui.pages.compare.pair_export import as_csv, as_json
from board.ui.pages.compare.sides import chosen_by


def test_the_page_saves_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One document, but for what the runs are called; notes of the page stand behind the others."""
    monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path))
    folders = [
        add_run(tmp_path, name, [row(step, prompt=f"p{at}", reward=at + more) for step in range(2) for at in range(12)])
        for name, more in (("a", 0.0), ("b", 0.5))
    ]
    for lr, folder in enumerate(folders):
        (folder / "config.yaml").write_text(f"lr: {lr}\n")
    runs = [open_run(folder) for folder in folders]
    a, b = (ComparedSide(run.name, run.name, "#12908a", (), run, run) for run in runs)
    pair = compare(a.run, b.run)

    said = json.loads(as_json(pair, (a, b), ["Filtered."]))
    printed = json.loads(CliRunner().invoke(main, ["compare", *map(str, folders), "--json"]).stdout)

    assert [one.pop("run") for one in said["runs"]] == ["a", "b"]
    assert [one.pop("run") for one in printed["runs"]] == [*map(str, folders)]
    notes = printed.pop("notes")
    assert said.pop("notes") == [*notes, "Filtered."]
    assert said == printed
    assert said["settings"] == {"lr": {"a": 0, "b": 1}}
    table = pd.read_csv(StringIO(as_csv(pair, (a, b), ["Filtered."])))
    assert [*table.columns[:9]] == ["run_a", "run_b", "split_a", "split_b", "metric", "visits", "level", "step", "difference"]
    assert table["notes"][0] == "\n".join([*notes, "Filtered."])
    assert table["notes"][1:].isna().all()


CHOSEN = {
    "reward > 0.5": True,
    "step > 3 AND REWARD<1": True,
    '"reward" IS NOT NULL': True,
    "valid_reward > 0.5": False,
    "reward_gap > 0": False,
    "response LIKE 'a%'": False,
}


@pytest.mark.parametrize("condition", CHOSEN)
def test_a_filter_on_what_is_compared_is_told(condition: str) -> None:
    """It chooses rollouts by the outcome; one on another number does not."""
    assert bool(chosen_by("reward", condition)) is CHOSEN[condition]
    assert not chosen_by("", condition)
