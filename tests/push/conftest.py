"""What the tests of `push` share: a state folder of each test's own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own, also for the processes it starts."""
    monkeypatch.setenv("RL_BOARD_STATE", str(tmp_path / "state"))
    return tmp_path / "state"
