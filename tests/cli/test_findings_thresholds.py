"""The command `findings` with thresholds of a file: taken where they are thresholds of a kind, refused in a sentence where not."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hacked import write_hacked

from board.cli.commands.findings import findings


def test_thresholds_of_a_file_are_used(tmp_path: Path) -> None:
    """The gap that no run reaches is not found; the board's own file of settings is taken as well."""
    run, file = write_hacked(tmp_path / "run"), tmp_path / "thresholds.json"
    file.write_text(json.dumps({"run": "x", "thresholds": {"proxy_gold_gap": {"gap": 1e9}}, "muted": {}, "understood": {}}))

    plain, asked = (CliRunner().invoke(findings, [str(run), "--json", *more]) for more in ([], ["--thresholds", str(file)]))

    assert plain.exit_code == asked.exit_code == 0, asked.output
    assert "proxy_gold_gap@" not in asked.output
    kinds = [[one["kind"], *one["signs"]] for one in json.loads(plain.stdout)["findings"]]
    assert any("proxy_gold_gap" in names for names in kinds)
    assert not any("proxy_gold_gap" in [one["kind"], *one["signs"]] for one in json.loads(asked.stdout)["findings"])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{", "cannot be taken"),
        pytest.param("[" * 100_000, "cannot be taken", id="deep"),
        ("[1]", "no object of kinds"),
        ('{"proxy_gold_gap": {"gap": "1"}}', "no number"),
        ('{"proxy_gold_gap": {"gaps": 1}}', "no threshold gaps: gap, z"),
        ('{"proxy": {"gap": 1}}', "there is no such kind"),
    ],
)
def test_a_file_that_says_something_else_is_refused(tmp_path: Path, written: str, said: str) -> None:
    """Rather than passed over in silence."""
    file = tmp_path / "thresholds.json"
    file.write_text(written)

    asked = CliRunner().invoke(findings, [str(tmp_path), "--thresholds", str(file)])

    assert asked.exit_code != 0
    assert said in asked.output
