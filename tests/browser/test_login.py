"""The log-in as a person meets it: a page that asks for it, the provider's, the page that was wanted, and the way out."""

import re
from collections.abc import Iterator

import pytest
from login_provider import Provider, login_provider
from playwright.sync_api import Browser, Page, expect
from rows import add_run
from servers import Serve


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """One that knows two people."""
    with login_provider() as running:
        running.knows("ana", email="ana@example.org", email_verified=True)
        running.knows("eve", email="eve@evil.org", email_verified=True)
        yield running


@pytest.fixture(scope="module")
def board(serve_module: Serve, provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a board that lets one of them in."""
    root = tmp_path_factory.mktemp("root")
    add_run(root, "a-run", [{"step": step, "response": f"response {step}", "reward": step} for step in range(3)])
    secrets = provider.secrets(tmp_path_factory.mktemp("secrets"), board=['allow = ["ana@example.org"]'])
    return serve_module(root, "--login", str(secrets))


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A fresh tab that may go to the provider, too; no page may throw."""
    threw: list[str] = []
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.on("pageerror", lambda error: threw.append(str(error)))
    page.set_default_timeout(60_000)
    yield page
    context.close()
    assert not threw


def log_in(tab: Page, user: str) -> None:
    """Say at the provider who one is."""
    tab.get_by_role("link", name="Log in").click()
    tab.locator("input[name=sub]").fill(user)
    tab.get_by_role("button", name="Authorize").first.click()


def test_in_and_out(tab: Page, board: str) -> None:
    """The link that was opened first comes up after the log-in; the log-out ends it in every tab, which then ask to log in."""
    tab.goto(f"{board}responses?run=a-run&step=2")
    expect(tab.get_by_text("Log in to see the runs on this board.")).to_be_visible()
    assert "a-run" not in tab.inner_text("body")
    log_in(tab, "ana")
    expect(tab.get_by_text("response 2").first).to_be_visible()
    expect(tab).to_have_url(re.compile(r"/responses\?.*step=2"))
    expect(tab.locator(".st-key-account")).to_contain_text("ana@example.org")

    other = tab.context.new_page()
    other.goto(f"{board}data?run=a-run")
    expect(other.locator(".st-key-topline")).to_be_visible()
    tab.get_by_role("button", name="Log out").click()
    tab.get_by_role("button", name="End session").click()
    expect(tab.get_by_text("Log in to see the runs on this board.")).to_be_visible()
    expect(other.get_by_text("Log in to see the runs on this board.")).to_be_visible()
    assert "_streamlit_user" not in {cookie.get("name") for cookie in tab.context.cookies()}
    other.get_by_role("link", name="Log in").click()
    other.locator("input[name=sub]").fill("ana")
    other.get_by_role("button", name="Authorize").first.click()
    expect(other).to_have_url(re.compile(r"/data\?run=a-run"))
    expect(other.locator(".st-key-topline")).to_be_visible()


def test_a_user_who_is_not_let_in(tab: Page, board: str) -> None:
    """Is told so, by address, and may log in as somebody else."""
    tab.goto(board)
    log_in(tab, "eve")
    expect(tab.get_by_text("This board is not open to eve@evil.org.")).to_be_visible()
    tab.goto(f"{board}runs")
    expect(tab.get_by_text("Log in to see the runs on this board.")).to_be_visible()
    log_in(tab, "ana")
    expect(tab.locator(".st-key-account")).to_contain_text("ana@example.org")


def test_who_says_no_at_the_provider(tab: Page, board: str) -> None:
    """Comes back to a page that says that nobody is logged in."""
    tab.goto(board)
    tab.get_by_role("link", name="Log in").click()
    tab.get_by_role("button", name="Deny").click()
    expect(tab.get_by_text("The log-in did not come to its end")).to_be_visible()


@pytest.mark.parametrize("value", ["forged", ""])
def test_a_forged_cookie(tab: Page, board: str, value: str) -> None:
    """Opens nothing, nor does an empty one."""
    tab.context.add_cookies([{"name": "_streamlit_user", "value": value, "url": board}])
    tab.goto(f"{board}runs")
    expect(tab.get_by_text("Log in to see the runs on this board.")).to_be_visible()
    assert "a-run" not in tab.inner_text("body")


def test_nobody_logs_in_unless_asked_to(page: Page, board_server: str) -> None:
    """A board without it shows nothing of it."""
    page.goto(f"{board_server}data?run=tiny_ppo_eval")
    expect(page.locator(".st-key-topline")).to_be_visible()
    expect(page.locator(".st-key-account")).to_have_count(0)
