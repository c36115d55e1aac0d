"""The log-in as a person meets it: a page that asks for it, the provider's, the board, and the way out."""

import time
from collections.abc import Iterator
from typing import Any, Final

import pytest
from login_provider import SECRET, Provider, login_provider
from playwright.sync_api import Browser, Page, expect
from rows import add_run
from servers import Serve
from streamlit.auth_util import set_cookie_with_chunks
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

PLEASE: Final = "Log in to see the runs on this board."


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """One that knows two people."""
    with login_provider() as running:
        running.knows("ana", email="ana@example.org", email_verified=True)
        running.knows("eve", email="eve@evil.org", email_verified=True)
        yield running


@pytest.fixture(scope="module")
def link(serve_module: Serve, provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The link to a board that lets one of them in, for an hour."""
    root = tmp_path_factory.mktemp("root")
    add_run(root, "a-run", [{"step": step, "response": f"response {step}", "reward": step} for step in range(3)])
    secrets = provider.secrets(tmp_path_factory.mktemp("secrets"), board=['allow = ["ana@example.org"]', "hours = 1"])
    return serve_module(root, "--login", str(secrets))


@pytest.fixture
def tab(browser: Browser, link: str) -> Iterator[Page]:
    """A fresh tab in which the link was opened, and that may go to the provider, too; no page may throw."""
    threw: list[str] = []
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.on("pageerror", lambda error: threw.append(str(error)))
    page.set_default_timeout(60_000)
    page.goto(link)
    expect(page.get_by_text(PLEASE)).to_be_visible()
    assert "a-run" not in page.inner_text("body")
    yield page
    context.close()
    assert not threw


@pytest.fixture
def board(link: str) -> str:
    """The board's address, without the token."""
    return link.partition("?")[0]


def log_in(tab: Page, user: str) -> None:
    """Say at the provider who one is."""
    tab.get_by_role("button", name="Log in", exact=True).click()
    tab.locator("input[name=sub]").fill(user)
    tab.get_by_role("button", name="Authorize").first.click()


def test_in_and_out(tab: Page, board: str) -> None:
    """After the log-in every link opens; after the log-out none does."""
    log_in(tab, "ana")
    expect(tab.locator(".st-key-account")).to_contain_text("ana@example.org")
    tab.goto(f"{board}responses?run=a-run&step=2")
    expect(tab.get_by_text("response 2").first).to_be_visible()

    tab.get_by_role("button", name="Log out").click()
    tab.get_by_role("button", name="End session").click()
    expect(tab.get_by_text(PLEASE)).to_be_visible()
    assert "_streamlit_user" not in {cookie.get("name") for cookie in tab.context.cookies()}
    tab.goto(f"{board}responses?run=a-run&step=2")
    expect(tab.get_by_text(PLEASE)).to_be_visible()
    assert "response 2" not in tab.inner_text("body")


def test_a_user_who_is_not_let_in(tab: Page) -> None:
    """Is told so, by address, and may log in as somebody else."""
    log_in(tab, "eve")
    expect(tab.get_by_text("This board is not open to eve@evil.org.")).to_be_visible()
    assert "a-run" not in tab.inner_text("body")
    log_in(tab, "ana")
    expect(tab.locator(".st-key-account")).to_contain_text("ana@example.org")


def test_who_says_no_at_the_provider(tab: Page) -> None:
    """Comes back to the page that asks to log in."""
    tab.get_by_role("button", name="Log in", exact=True).click()
    tab.get_by_role("button", name="Deny").click()
    expect(tab.get_by_text(PLEASE)).to_be_visible()


def signed(board: str, secret: str, **changed: object) -> list[Any]:
    """The cookies of somebody on the list who logged in just now, signed with a secret."""
    told = {
        "email": "ana@example.org",
        "email_verified": True,
        "iat": time.time(),
        "origin": board.rstrip("/"),
        "is_logged_in": True,
    }
    found: list[Any] = []
    set_cookie_with_chunks(
        lambda name, value: found.append(
            {"name": name, "value": create_signed_value(secret, name, value).decode(), "url": board}
        ),
        lambda name, value: create_signed_value(secret, name, value),
        "_streamlit_user",
        told | changed,
        cookie_attr_size=100,
    )
    return found


@pytest.mark.parametrize(
    ("secret", "changed", "said"),
    [
        pytest.param("another secret that is long enough too", {}, PLEASE, id="another secret"),
        pytest.param(SECRET, {"iat": 0}, "Your log-in has ended", id="an old one"),
        pytest.param(SECRET, {"iat": None}, "Your log-in has ended", id="of no time"),
        pytest.param(SECRET, {"email_verified": False}, "is not open to ana@example.org", id="not verified"),
        pytest.param(SECRET, {"origin": "http://evil.example"}, PLEASE, id="of another board"),
        pytest.param(SECRET, {"is_logged_in": False}, PLEASE, id="not logged in"),
    ],
)
def test_cookies_that_open_nothing(tab: Page, board: str, secret: str, changed: dict[str, object], said: str) -> None:
    """Forged, old, or of somebody whom nobody knows."""
    tab.context.add_cookies(signed(board, secret, **changed))
    tab.goto(f"{board}responses?run=a-run&step=2")
    expect(tab.get_by_text(said)).to_be_visible()
    assert "response 2" not in tab.inner_text("body")


def test_nobody_logs_in_unless_asked_to(page: Page, board_server: str) -> None:
    """A board without it shows nothing of it."""
    page.goto(f"{board_server}data?run=tiny_ppo_eval")
    expect(page.locator(".st-key-topline")).to_be_visible()
    expect(page.locator(".st-key-account")).to_have_count(0)
