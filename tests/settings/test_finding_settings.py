"""What a reader makes of findings: kept by run, whole, brought back, and never lost to a damaged file."""

import json
from pathlib import Path

import pytest

from board.errors import BoardError
from board.settings import finding_settings
from board.settings.finding_settings import FindingSettings, mute, read, set_threshold, understand


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_BOARD_SETTINGS", str(tmp_path / "settings"))


def test_each_run_has_its_own() -> None:
    """Kinds, findings and thresholds are kept with their reasons, and apart by run, whatever its path is called."""
    mute("/runs/a", "kl_runaway", "known")
    understand("/runs/a", "proxy_gold_gap@18", "")
    set_threshold("/runs/a", "proxy_gold_gap", "gap", 2)
    mute("/runs/b/ü", "dead_prompts", "why")

    assert read("/runs/a") == FindingSettings(
        {"proxy_gold_gap": {"gap": 2.0}}, {"kl_runaway": "known"}, {"proxy_gold_gap@18": ""}
    )
    assert read("/runs/b/ü") == FindingSettings(muted={"dead_prompts": "why"})
    assert read("/runs/c") == FindingSettings()


def test_what_is_brought_back_is_gone() -> None:
    """What was never set can be taken back too, and the last threshold takes its kind with it."""
    mute("run", "a", "why")
    understand("run", "b@1", "why")
    set_threshold("run", "a", "z", 5.0)
    set_threshold("run", "a", "z", None)
    set_threshold("run", "c", "z", None)
    understand("run", "b@1", None)

    assert mute("run", "a", None) == FindingSettings() == read("run")


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        {},
        {"thresholds": {"a": 1}, "muted": {}, "understood": {}},
        {"thresholds": {}, "muted": {"a": 1}, "understood": {}},
    ],
    ids=str,
)
def test_damaged_settings_are_said(damaged: object) -> None:
    """And no change is written over them."""
    mute("run", "a", "why")
    finding_settings.FINDINGS.path.write_text(json.dumps({"run": damaged}))
    for use in (read, lambda run: mute(run, "b", "why")):
        with pytest.raises(BoardError, match="no settings of findings"):
            use("run")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"a": {"z": 5}}, {"a": {"z": 5.0}}),
        ({"thresholds": {"a": {"z": 5}}, "muted": {}}, {"a": {"z": 5.0}}),
        ({}, {}),
        ([], None),
        ({"a": 1}, None),
        ({"a": {"z": "5"}}, None),
        ({"a": {"z": True}}, None),
        ({"a": {"z": float("inf")}}, None),
    ],
)
def test_thresholds_of_a_file(given: object, found: object) -> None:
    """By kind and name, alone or in a file of settings."""
    if found is None:
        with pytest.raises(ValueError, match="threshold"):
            finding_settings.parsed_thresholds(given)
    else:
        assert finding_settings.parsed_thresholds(given) == found


def test_half_a_character_is_refused() -> None:
    """It could not be read back."""
    with pytest.raises(BoardError, match="no text"):
        mute("run", "a", "\ud800")
