"""Tests that whatever stands in a record, a format reads it or refuses it with a reason, and never fails."""

import contextlib
from typing import Any

import pytest
from damages import damaged
from golden_runs import FOLDERS, GOLDEN, MODULES, records, shards

from board import formats
from board.errors import RowRefused
from board.formats.contract import Head, Place


@pytest.mark.parametrize("folder", FOLDERS)
def test_damage_is_read_or_refused(folder: str) -> None:
    """One wrong value anywhere ends in rollouts or in a reason, and leaves the record as it was: at each place that a trainer's files have."""
    module, seen = MODULES[folder], set[Any]()
    for path in shards(folder):
        name = path.relative_to(GOLDEN / folder).as_posix()
        for one in (one for record in records(path)[:3] for one in damaged(record, seen)):
            before = repr(one)
            with contextlib.suppress(RowRefused):
                formats.read(one, module, Place(name, 1))
            assert repr(one) == before
            module.recognise(Head(name, (one,)))
            module.note(Head(name, (one,)))
