"""The address `/export`: a file is sent while it is written, no faster than the client reads it, and never held in memory. Plain ASGI.

Who may speak to the server at all is for the gates in front of it.
"""

import asyncio
import hmac
import logging
import re
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, quote, urlencode

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from board.errors import BoardError, RunNotFound
from board.serving import log_in

if TYPE_CHECKING:  # the server listens before it loads what reads runs
    from board.runs.export import ExportPiece

PATH: Final = "export"

SERVED: Final = Event()
"""Set where this process answers at that address: a server other than the board's own does not."""

MOST_AT_ONCE: Final = 3
"""So many files are written at a time, for all readers."""

_SLICE: Final = 256_000
"""Bytes that are handed to the connection at once, so that little waits there for a slow reader."""

STALLED_SECONDS: Final = 60.0
"""How long a client may take nothing of what waits for it: others wait for its place."""

SIGNED_SECONDS: Final = 3600
"""How long a link is good where readers log in."""

_KEY: Final = secrets.token_bytes(32)
_LONGEST_NAME: Final = 120
_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*%;]')
"""What some system takes for more than a part of a file's name."""


@dataclass(frozen=True)
class ExportFile:
    """The file that an address requests."""

    name: str
    media: str
    """What HTTP calls its format."""
    pieces: "Iterator[ExportPiece]"


Made = Callable[[Mapping[str, str]], ExportFile]
"""The file that the parameters of an address ask for. Raises BoardError."""


def link(query: Mapping[str, str]) -> str:
    """The address of a file, relative to any page's.

    Where readers log in it is signed, as an address knows no session: it is good for an hour, and only pages give one.
    """
    text = urlencode(query)
    if log_in.REQUIRED.is_set():
        text += f"&until={time.time() + SIGNED_SECONDS:.0f}"
        text += f"&signature={_signature(text)}"
    return f"{PATH}?{text}"


def _signature(text: str) -> str:
    return hmac.digest(_KEY, text.encode(), "sha256").hex()


def _is_good(query: str) -> bool:
    """Whether an address is signed as it is to be."""
    text, _, signature = query.rpartition("&signature=")
    signed = hmac.compare_digest(signature.encode(), _signature(text).encode())
    return not log_in.REQUIRED.is_set() or (signed and int(dict(parse_qsl(text))["until"]) > time.time())


_BUSY: Final = PlainTextResponse(
    f"{MOST_AT_ONCE} exports are being written by this server already: wait until one is done.\n", 503, {"retry-after": "10"}
)


class Downloads:
    """Answer GET with the file that the address requests."""

    def __init__(self, made: Made) -> None:
        self._made = made
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, or say in a sentence why not."""
        request = Request(scope)
        if refusal := _refusal(request) or (_BUSY if self._running >= MOST_AT_ONCE else None):
            await refusal(scope, receive, send)
            return
        self._running += 1
        try:
            query = {name: value for name, value in request.query_params.items() if name not in ("until", "signature")}
            await _send(await to_thread.run_sync(self._made, query), receive, send)
        except BoardError as error:
            status = 404 if isinstance(error, RunNotFound) else 400
            await PlainTextResponse(f"{error}\n", status)(scope, receive, send)
        finally:
            self._running -= 1


def _refusal(request: Request) -> Response | None:
    if request.method != "GET":
        return PlainTextResponse("Only GET.\n", 405, {"allow": "GET"})
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return PlainTextResponse("A page from elsewhere may not ask for files of this board.\n", 403)
    if not _is_good(request.url.query):
        return PlainTextResponse(
            "This link is good for an hour, and only a page gives one: open Export on the page again.\n", 403
        )
    return None


async def _send(file: ExportFile, receive: Receive, send: Send) -> None:
    """Send it piece by piece. What fails on the way leaves it without an end: the browser sees that it is cut off."""
    gone = asyncio.ensure_future(_left(receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": _headers(file)})
        while not gone.done() and (piece := await to_thread.run_sync(next, file.pieces, None)):
            await _hand_over(piece.data, gone, send)
        if not gone.done():
            await send({"type": "http.response.body", "body": b"", "more_body": False})
    except TimeoutError:
        return
    except (BoardError, OSError) as error:
        logging.getLogger(__name__).warning("The export %s was cut off: %s", safe_name(file.name), error)
    finally:
        gone.cancel()


async def _left(receive: Receive) -> None:
    """Return once the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _hand_over(data: bytes, gone: "asyncio.Future[None]", send: Send) -> None:
    """Send bytes as the client takes them; what is left when it goes is dropped."""
    for start in range(0, len(data), _SLICE):
        if gone.done():
            return
        async with asyncio.timeout(STALLED_SECONDS):
            await send({"type": "http.response.body", "body": data[start : start + _SLICE], "more_body": True})


def _headers(file: ExportFile) -> list[tuple[bytes, bytes]]:
    headers = {
        "content-type": file.media,
        "content-disposition": disposition(file.name),
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
