"""Tests that no trainer's files are taken for another's.

Each folder of `tests/formats/` is a small run laid out as its trainer does, and bears the name of the module that reads it.
"""

from pathlib import Path

import pytest
from golden_runs import FOLDERS, GOLDEN, MODULES, SHARDS, SIDECARS, records, shards, sidecars

from board.formats.contract import Head, Place

SAID = {"response", "response_tokens", "response_token_ids"}
"""What the policy sampled stands under one of these."""


def known_by(path: Path, folder: str) -> list[str]:
    """The modules that take a file for their own."""
    head = Head(path.relative_to(GOLDEN / folder).as_posix(), tuple(records(path)))
    return [name for name, module in MODULES.items() if head.records and module.recognise(head)]


ASIDE = [
    pytest.param(folder, path, id=path.relative_to(GOLDEN).as_posix()) for folder in FOLDERS for path in sorted(sidecars(folder))
]


def test_every_format_has_a_golden_run() -> None:
    """A format without a run to show for it is not listed, and no run is left without its format."""
    assert set(MODULES) == set(FOLDERS)
    assert [folder for folder in FOLDERS if not shards(folder)] == []


@pytest.mark.parametrize(("folder", "pattern"), [(folder, one) for folder, several in SIDECARS.items() for one in several])
def test_sidecars_are_there(folder: str, pattern: str) -> None:
    """What is listed as lying beside rollouts is a file of the run, so that it is tested."""
    assert list((GOLDEN / folder).glob(pattern))


@pytest.mark.parametrize(("folder", "path"), SHARDS)
def test_one_format_knows_a_file(folder: str, path: Path) -> None:
    """A file of rollouts is known by the format that wrote it and by no other."""
    assert known_by(path, folder) == [folder]


@pytest.mark.parametrize(("folder", "path"), SHARDS)
def test_names_do_not_decide(folder: str, path: Path) -> None:
    """A file that says nothing of rollouts is nobody's, whatever its name and its place."""
    head = Head(path.relative_to(GOLDEN / folder).as_posix(), ({"message": "hello"},))

    assert [name for name, module in MODULES.items() if module.recognise(head)] == []


@pytest.mark.parametrize(("folder", "path"), SHARDS)
def test_a_file_is_mapped_whole(folder: str, path: Path) -> None:
    """No record of a golden run is refused, and its rollouts have what every rollout needs."""
    place = path.relative_to(GOLDEN / folder).as_posix()

    rollouts = [one for at, record in enumerate(records(path), 1) for one in MODULES[folder].rollouts(record, Place(place, at))]

    assert rollouts
    assert all(isinstance(one, dict) and "step" in one and SAID & one.keys() for one in rollouts)


@pytest.mark.parametrize(("folder", "path"), ASIDE)
def test_sidecars_are_nobodys(folder: str, path: Path) -> None:
    """Metrics, logs and summaries that lie beside rollouts are not taken for rollouts."""
    assert known_by(path, folder) == []
