"""The HTML that every page begins with: Streamlit's, with its scripts merged and with the server's address in it.

Streamlit's browser side looks for its server below the page's own address first, which is wrong for all pages but one, and asks after its
health before it connects: a tenth of a second until the first word. Its font of icons it asks for once its scripts run. Knows Streamlit's
HTML, not what is on a page.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from board.serving.merged_scripts import MergedScripts

_ADDRESS: Final = "BACKEND_BASE_URL:new URL('.',document.baseURI).href"
_HOST: Final = "HOST_CONFIG:{allowedOrigins:[location.origin],useExternalAuthToken:false}"
"""What Streamlit reads where another site serves its pages: where the server is, whatever stands before its address, and who may speak to
a page from around it, which is nobody else. Told both it connects at once."""


def page_html(static: Path, merged: MergedScripts | None, *, login: bool) -> str:
    """The text for every page; `static` is the folder of Streamlit's build. Pages lie side by side, so that one address leads to all.

    With `login` a page asks after the server's health before it connects: with the answer comes the cookie without which the server does
    not believe who the reader is.
    """
    page = static.joinpath("index.html").read_text(encoding="utf-8")
    page = page if merged is None else merged.begins(page)
    told = _ADDRESS if login else f"{_ADDRESS},{_HOST}"
    begin = f"<head>\n    <script>window.__streamlit={{{told}}}</script>{''.join(_fonts(static))}"
    return page.replace("<head>", begin, 1)


def _fonts(static: Path) -> Iterator[str]:
    """What has the browser ask for the font of icons along with the scripts, and not when these have begun to run."""
    for font in static.glob("static/media/MaterialSymbols-Rounded.*.woff2"):
        yield f'\n    <link rel="preload" href="./static/media/{font.name}" as="font" type="font/woff2" crossorigin>'
