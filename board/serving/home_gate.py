"""Redirect links that name no run to the list of runs, where there is more than one."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from board.errors import BoardError

if TYPE_CHECKING:
    from board.runs.run_listing import RunListing


@cache
def listing() -> "RunListing":
    """The runs of this server, for the pages too. What it imports would hold up the start of the server."""
    from board.runs.run_listing import RunListing

    return RunListing()


def are_several(root: Path) -> bool:
    """Whether more than one run can be opened under the root."""
    from board.runs.run_listing import without_shelves

    try:
        return sum(folder.shards > 0 for folder in without_shelves(listing().folders(root))) > 1
    except (BoardError, OSError):  # the page says what is wrong with the root
        return False


class HomeGate:
    """Answers a request for `home` whose link names no run with the way to `runs`, the rest of the link unchanged, where `are_several` says so.

    By the server, and not by a page: so the address that was left is no stop of the browser's Back button.
    """

    def __init__(self, app: ASGIApp, home: str, runs: str, are_several: Callable[[], bool]) -> None:
        self.app, self.home, self.runs, self.are_several = app, home, runs, are_several

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lead on, or hand the request on."""
        if await self._leads_on(scope):
            query = HTTPConnection(scope).url.query
            answer = RedirectResponse(f"{self.runs}?{query}".removesuffix("?"), status_code=307)
            answer.headers["cache-control"] = "no-store"  # how many runs there are changes
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _leads_on(self, scope: Scope) -> bool:
        if (
            scope["type"] != "http"
            or scope["method"] not in ("GET", "HEAD")
            or scope["path"].rstrip("/") != self.home.rstrip("/")
        ):
            return False
        return not HTTPConnection(scope).query_params.get("run") and await anyio.to_thread.run_sync(self.are_several)
