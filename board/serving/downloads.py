"""The address where a ticket is exchanged for its file: sent as it is written, no faster than the reader takes it. Plain ASGI.

Knows tickets and bytes; knows neither runs nor formats. Who may speak to the server at all is for the gates in front of it.
"""

import asyncio
import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from board.errors import BoardError
from board.serving.exports import Export, Exports

if TYPE_CHECKING:
    from board.runs.export import ExportPiece

PATH: Final = "export"
"""What stands before the ticket in the address."""

_SLICE: Final = 256_000
"""Bytes that are handed to the connection at once, so that little waits there for a slow reader."""

STALLED_SECONDS: Final = 60.0
"""How long a client may take nothing of what waits for it: others wait for its place."""

_LONGEST_NAME: Final = 120
_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*%;]')
"""What some system takes for more than a part of a file's name."""


class Downloads:
    """Answers GET with the file of the ticket that the address ends with."""

    def __init__(self, exports: Exports) -> None:
        self._exports = exports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, or say in a sentence why not."""
        request = Request(scope)
        if refusal := _refusal(request):
            await refusal(scope, receive, send)
            return
        try:
            export = self._exports.begin(request.path_params["ticket"])
        except BoardError as error:
            await PlainTextResponse(f"{error}\n", 503, {"retry-after": "10"})(scope, receive, send)
            return
        if export is None:
            said = "This link was used already, or is older than a minute: ask for the file again on the page.\n"
            await PlainTextResponse(said, 410)(scope, receive, send)
            return
        await self._send(export, receive, send)

    async def _send(self, export: Export, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_left(receive))
        pieces = export.pieces()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _headers(export)})
            while not gone.done() and (piece := await to_thread.run_sync(_next, pieces)):
                await _hand_over(piece.data, gone, send)
                export.sent(piece)
            if gone.done():
                self._exports.end(export, "ended")
                return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            self._exports.end(export, "done")
        except TimeoutError:
            self._exports.end(export, "ended")
        except (BoardError, OSError) as error:  # the browser sees that what ends here is cut off
            self._exports.end(export, "failed", str(error))
        finally:
            gone.cancel()
            if export.state == "running":
                self._exports.end(export, "failed", "Something went wrong in the server, whose output says what.")


def _refusal(request: Request) -> Response | None:
    if request.method != "GET":
        return PlainTextResponse("Only GET.\n", 405, {"allow": "GET"})
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return PlainTextResponse("A page from elsewhere may not ask for files of this board.\n", 403)
    return None


async def _left(receive: Receive) -> None:
    """Return once the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _next(pieces: "Iterator[ExportPiece]") -> "ExportPiece | None":
    return next(pieces, None)


async def _hand_over(data: bytes, gone: "asyncio.Future[None]", send: Send) -> None:
    """Send bytes as the client takes them; what is left when it goes is dropped."""
    for start in range(0, len(data), _SLICE):
        if gone.done():
            return
        async with asyncio.timeout(STALLED_SECONDS):
            await send({"type": "http.response.body", "body": data[start : start + _SLICE], "more_body": True})


def _headers(export: Export) -> list[tuple[bytes, bytes]]:
    headers = {
        "content-type": export.media,
        "content-disposition": disposition(export.name),
        "content-encoding": "identity",  # else every byte would be packed on the way, by the thread that serves all pages
        "cache-control": "no-store",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def disposition(name: str) -> str:
    """The header that has a browser save an answer under that name, made safe (RFC 6266): in ASCII, and whole for who reads UTF-8."""
    safe = safe_name(name)
    return f"attachment; filename=\"{safe.encode('ascii', 'replace').decode().replace('?', '_')}\"; filename*=UTF-8''{quote(safe, safe='')}"


def safe_name(name: str) -> str:
    """A name as any system takes it: no separators, no control characters, no half ones, no dot in front; not too long, with its ending."""
    plain = "".join("_" if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") else one for one in name)
    stem, dot, ending = _UNSAFE.sub("_", plain).rpartition(".")
    stem = stem.lstrip(". ").encode()[:_LONGEST_NAME].decode(errors="ignore").rstrip(". ")
    return f"{stem or 'rollouts'}{dot}{ending}"
