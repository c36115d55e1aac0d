"""Tests of who is let in: every way to look like somebody on the list, and nobody gets in by it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.serving.admission import Admission, is_entry

LIST = ("ana@example.org", "@lab.example.org")


@pytest.mark.parametrize(
    ("claims", "admitted"),
    [
        pytest.param({"email": "ana@example.org", "email_verified": True}, True, id="by address"),
        pytest.param({"email": "Ana@Example.ORG", "email_verified": True}, True, id="in capitals"),
        pytest.param({"email": "bo@lab.example.org", "email_verified": True}, True, id="by domain"),
        pytest.param({"email": "bo@example.org", "email_verified": True}, False, id="another address of a domain"),
        pytest.param({"email": "bo@x.lab.example.org", "email_verified": True}, False, id="below a domain"),
        pytest.param({"email": "bo@lab.example.org.evil.org", "email_verified": True}, False, id="domain as a part"),
        pytest.param({"email": "bo@evillab.example.org", "email_verified": True}, False, id="domain as an end"),
        pytest.param({"email": "@lab.example.org", "email_verified": True}, False, id="the entry itself"),
        pytest.param({"email": "ana@example.org@evil.org", "email_verified": True}, False, id="two domains"),
        pytest.param({"email": "evil@evil.org@lab.example.org", "email_verified": True}, False, id="two domains, ours last"),
        pytest.param({"email": "ana@example.org ", "email_verified": True}, False, id="a space"),
        pytest.param({"email": "bo@lab.example.or\u0261", "email_verified": True}, False, id="a look-alike"),
        pytest.param({"email": "bo@\u212aab.example.org", "email_verified": True}, False, id="Kelvin's sign"),
        pytest.param({"email": ["ana@example.org"], "email_verified": True}, False, id="a list"),
        pytest.param({"email": "ana@example.org"}, False, id="not said to be verified"),
        pytest.param({"email": "ana@example.org", "email_verified": False}, False, id="not verified"),
        pytest.param({"email": "ana@example.org", "email_verified": "true"}, False, id="verified in words"),
        pytest.param({"name": "ana@example.org", "preferred_username": "ana@example.org"}, False, id="another claim"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_admits(claims: dict[str, Any], admitted: bool) -> None:
    """A whole address that is verified, or its whole domain; nothing that merely looks so."""
    assert Admission(LIST).admits(claims) is admitted


def test_a_provider_whose_addresses_are_true() -> None:
    """One whose users cannot choose theirs need not call them verified; the list counts all the same."""
    trusting = Admission(LIST, trust_unverified=True)
    assert trusting.admits({"email": "ana@example.org"})
    assert not trusting.admits({"email": "eve@evil.org"})


def test_without_a_list() -> None:
    """Whoever the provider logged in."""
    assert Admission().admits({"sub": "7"})


def test_capitals_on_the_list() -> None:
    """An entry counts however it is written."""
    assert Admission(("@Lab.Example.org",)).admits({"email": "bo@lab.example.org", "email_verified": True})


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    """Nobody's address is on a list that holds another one, whatever it is made of."""
    assert isinstance(is_entry(text), bool)
    if text.lower() != "ana@example.org" and not text.lower().endswith("@lab.example.org"):
        assert not Admission(LIST).admits({"email": text, "email_verified": True})
