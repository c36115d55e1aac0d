"""The server as a browser meets it: a link with a token, the theme."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect
from servers import Serve

from board.serving import streamlit_options


def test_browser_opens_a_link_with_token(serve: Serve, page: Page, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Chromium follows the printed link: connected, token gone from the address, the rest of the link kept."""
    link = serve(tmp_path_factory.mktemp("root"), "--token")
    page.goto(f"{link}&step=3")
    expect(page.locator('[data-testid="stApp"][data-test-connection-state="CONNECTED"]')).to_be_visible()
    assert "token" not in page.url
    assert "step=3" in page.url


@pytest.mark.parametrize(
    ("options", "system", "half"),
    [
        pytest.param([], "light", "light", id="browser is light"),
        pytest.param([], "dark", "dark", id="browser is dark"),
        pytest.param(["--theme.base", "dark"], "light", "dark", id="dark by option"),
    ],
)
def test_theme_in_the_browser(
    serve: Serve, board_server: str, page: Page, tmp_path: Path, options: list[str], system: Literal["light", "dark"], half: str
) -> None:
    """The background on screen is ours, in the half that the browser or the option asks for."""
    page.emulate_media(color_scheme=system)
    page.goto(serve(tmp_path, *options) if options else board_server)
    color = streamlit_options.packaged_settings()[f"theme.{half}.backgroundColor"]
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", f"rgb({red}, {green}, {blue})")
