"""The table of kinds of findings and the code that looks for them fit each other."""

from typing import get_args

from board.findings.all_kinds import KINDS
from board.findings.checks.all_checks import CHECKS
from board.findings.checks.contract import SEVERITIES
from board.findings.contract import ENTRIES, Page


def test_every_entry_is_looked_for() -> None:
    """No entry is left of a kind that is gone."""
    names = [kind.name for kind in KINDS]

    assert {*names} == {*ENTRIES, *(check.name for check in CHECKS)}
    assert len(names) == len({*names})


def test_entries_say_what_there_is() -> None:
    """Severities, pages and kinds among the signs are some of those that there are."""
    names = {kind.name for kind in KINDS}

    assert [kind.name for kind in KINDS if kind.severity not in SEVERITIES] == []
    assert [(kind.name, page) for kind in KINDS for page, _ in kind.next if page not in get_args(Page)] == []
    assert [(kind.name, one) for kind in KINDS for one in kind.explains if one not in names] == []
