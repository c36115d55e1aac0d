"""What tests of trackers share: an environment that holds nothing of the reader's own, a server that takes a tracker's place."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tracked import Counting, counting


@pytest.fixture
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the reader's own W&B counts here, and nothing of a test stays in their home."""
    for name in [name for name in os.environ if name.startswith("WANDB_") and name != "WANDB_SERVICE"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def server() -> Iterator[Counting]:
    """A server that takes the place of a tracker's own."""
    with counting() as server:
        yield server
