"""The HTML that every page begins with: Streamlit's, with its scripts merged and with the server's address in it.

Streamlit's browser side looks for its server below the page's own address first, which is wrong for all pages but one, and asks after its
health before it connects: a tenth of a second until the first word. Knows Streamlit's HTML, not what is on a page.
"""

from pathlib import Path
from typing import Final

from board.serving.merged_scripts import MergedScripts

_ADDRESS: Final = (
    "<script>window.__streamlit={BACKEND_BASE_URL:new URL('.',document.baseURI).href,"
    "HOST_CONFIG:{allowedOrigins:[location.origin],useExternalAuthToken:false}}</script>"
)
"""What Streamlit reads where another site serves its pages: where the server is, whatever stands before its address, and who may speak to
a page from around it, which is nobody else. Told both it connects at once."""


def page_html(static: Path, merged: MergedScripts | None) -> str:
    """The text for every page; `static` is the folder of Streamlit's build. Pages lie side by side, so that one address leads to all."""
    page = static.joinpath("index.html").read_text(encoding="utf-8")
    page = page if merged is None else merged.begins(page)
    return page.replace("<head>", f"<head>\n    {_ADDRESS}", 1)
