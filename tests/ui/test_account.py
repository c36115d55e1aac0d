"""Tests of what is shown to whom, where readers log in."""

import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from board.serving import log_in

ENTRY = Path(__file__).parents[2] / "rl_logging_board.py"
ANA = {"is_logged_in": True, "email": "ana@example.org", "email_verified": True, "iat": time.time()}
AUTH = {"redirect_uri": "http://localhost/oauth2callback", "client_id": "board", "okta": {"client_id": "board"}}


def shown(user: dict[str, Any], *, auth: dict[str, Any] | None = None, board: dict[str, Any] | None = None) -> AppTest:
    """The first page as that user has it."""
    page = AppTest.from_file(str(ENTRY))
    for name, value in user.items():
        page.user[name] = value
    page.secrets["auth"] = AUTH if auth is None else auth
    page.secrets["board"] = {"allow": ["@example.org"]} if board is None else board
    return page.run(timeout=60)


@pytest.mark.parametrize(
    ("user", "said"),
    [
        pytest.param({"is_logged_in": False}, "Log in to see the runs", id="nobody"),
        pytest.param(ANA | {"email": "eve@evil.org"}, "not open to eve@evil.org", id="not on the list"),
        pytest.param(ANA | {"email": "*" * 1000}, "not open to ***", id="a long name"),
        pytest.param(ANA | {"email_verified": False}, "not open to ana@example.org", id="not verified"),
        pytest.param(ANA | {"iat": time.time() - 13 * 3600}, "Your log-in has ended", id="of yesterday"),
    ],
)
def test_who_is_not_let_in(user: dict[str, Any], said: str) -> None:
    """Sees a sentence and the ways to log in, and nothing else."""
    page = shown(user)
    (sentence,) = page.text
    assert said in sentence.value
    assert len(sentence.value) < 400
    assert [button.label for button in page.button] == ["Log in", "Log in with okta"]
    assert not page.exception


def test_who_is_let_in() -> None:
    """Sees the page, his address and the way out."""
    page = shown(ANA)
    assert "ana@example.org" in [text.value for text in page.text]
    assert "Log out" in [button.label for button in page.button]
    assert not page.exception


def test_a_list_that_is_none_opens_nothing() -> None:
    """It lets nobody in, and is named."""
    page = shown(ANA, board={"allow": "ana@example.org"})
    assert [error.value for error in page.text] == [
        'No one can log in: allow in [board] is a list of addresses and domains: ["ana@example.org", "@lab.example.org"].'
    ]


def test_a_log_in_that_vanishes_opens_nothing() -> None:
    """Where the board was started with one."""
    log_in.REQUIRED.set()
    try:
        page = AppTest.from_file(str(ENTRY)).run(timeout=60)
    finally:
        log_in.REQUIRED.clear()
    assert [text.value for text in page.text] == ["No one can log in: the file of secrets is gone."]
    assert not page.exception
