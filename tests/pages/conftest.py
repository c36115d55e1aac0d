"""What the tests of pages share: a root that the board is pointed at."""

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty root the board is pointed at."""
    monkeypatch.setenv("RL_BOARD_ROOT", str(tmp_path))
    return tmp_path
