"""Findings that are put aside: by kind or by name, with the reason, in rank order."""

from board.findings.contract import Finding
from board.findings.ranking import PutAside, parted


def finding(kind: str, first_step: int) -> Finding:
    """One of that kind."""
    return Finding(kind, "warning", kind, "", first_step, 9, 1.0, "", "", 1.0, (), (), "", "", ())


def test_kinds_and_single_findings_are_put_aside() -> None:
    """A finding that is understood says so even where its kind is muted; another of its kind stays, as does one that begins elsewhere."""
    a, b, c, d = finding("a", 1), finding("b", 2), finding("b", 3), finding("c", 4)

    shown, aside = parted([a, b, c, d], {"c": "noise"}, {"b@2": "seen", "c@4": "known", "gone@1": ""})

    assert shown == (a, c)
    assert aside == (PutAside(b, "understood", "seen"), PutAside(d, "understood", "known"))
    assert parted([d], {"c": "noise"}, {}) == ((), (PutAside(d, "muted", "noise"),))
