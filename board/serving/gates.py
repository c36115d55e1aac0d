"""Middleware between the network and the board: who may speak to it, and what a browser may do with its answers.

Plain ASGI, in front of every HTTP route and every websocket.
"""

import base64
import hashlib
import hmac
import ipaddress
import re
from collections.abc import Collection
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.status import WS_1008_POLICY_VIOLATION
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

_GUARDED = ("http", "websocket")
_HOST_HEADER = re.compile(r"(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::\d{1,5})?", re.IGNORECASE | re.ASCII)
_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)

TOKEN_NEEDED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Token needed</title>
<p>This board asks for a token: open the link that its server printed, it ends in <code>?token=</code> and the token.</p></html>
"""


def host_name(header: str) -> str | None:
    """The lower-case name in a Host header, without port and brackets; None if the header is not a host."""
    match = _HOST_HEADER.fullmatch(header)
    return (match[1] or match[2]).lower().rstrip(".") if match else None


def is_address(name: str) -> bool:
    """Whether the name is a plain IP address, which a DNS record of another site cannot be."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def answered(answer: Response | None, app: ASGIApp) -> ASGIApp:
    """What takes the request: the app, or a gate's answer in its place; a websocket is closed before it opens, a bare 403."""
    if answer is None:
        return app

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        await (answer if scope["type"] == "http" else WebSocketClose(code=WS_1008_POLICY_VIOLATION))(scope, receive, send)

    return refuse


class HostGate:
    """Refuses requests addressed to a foreign name (DNS rebinding), and websockets opened by another origin's page.

    `names` are the host names answered to, `"*"` for all. With `any_address` plain IP addresses are answered to as well.
    `origins` may open a websocket although they are not the address the request went to (a proxy that rewrites Host).
    """

    def __init__(self, app: ASGIApp, names: Collection[str], *, any_address: bool = False, origins: Collection[str] = ()) -> None:
        self.app = app
        self.names = {name.lower().rstrip(".") for name in names}
        self.any_address = any_address
        self.origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the connection or hand it on."""
        refusal = self._refusal(HTTPConnection(scope)) if scope["type"] in _GUARDED else None
        await answered(refusal, self.app)(scope, receive, send)

    def _refusal(self, request: HTTPConnection) -> Response | None:
        host = request.headers.get("host", "")
        name = host_name(host)
        if name is None:
            return PlainTextResponse("The request names no host.\n", status_code=400)
        if not self._answers_to(name):
            return PlainTextResponse(
                f"This board does not answer to the name {name}. Start it with: --allow-host {name}\n", status_code=400
            )
        origin = request.headers.get("origin")
        if request.scope["type"] == "websocket" and origin is not None and not self._same_site(origin, host):
            return PlainTextResponse("A page from elsewhere may not open this board's websocket.\n", status_code=403)
        return None

    def _answers_to(self, name: str) -> bool:
        return "*" in self.names or name in self.names or (self.any_address and is_address(name))

    def _same_site(self, origin: str, host: str) -> bool:
        return _netloc(origin) == host.lower() or origin in self.origins


def _netloc(origin: str) -> str | None:
    """Name and port of an origin, in lower case; None where it is no address, as `http://[`."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


class RouteGate:
    """Let through what pages request, nothing else: by GET or HEAD, and of Streamlit's own endpoints those of ENDPOINTS.

    The board takes no files; Streamlit would take an upload into memory, whatever its size. No body is read. `base` is what all addresses
    begin with, without a slash at its end.
    """

    ENDPOINTS = ("health", "host-config", "stream")
    """Below `_stcore/`."""
    CLOSED = ("component", "app")
    """Streamlit's places for components of an older kind and for files next to a script."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self.app = app
        self.base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the connection or hand it on."""
        await answered(self._refusal(scope) if scope["type"] in _GUARDED else None, self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        if scope.get("method", "GET") not in ("GET", "HEAD"):
            return PlainTextResponse("This board is read, by GET.\n", status_code=405, headers={"allow": "GET, HEAD"})
        place, _, rest = scope["path"].removeprefix(self.base).lstrip("/").partition("/")
        if place in self.CLOSED or (place == "_stcore" and rest not in self.ENDPOINTS):
            return PlainTextResponse("The board has nothing here.\n", status_code=404)
        return None


class TokenGate:
    """Lets in requests with the token: once as `?token=`, from then on as a cookie that scripts cannot read.

    The redirect that sets the cookie keeps the rest of the address, so a deep link with a token opens what it points to.
    `open_paths` are answered without a token (the health check).
    """

    def __init__(self, app: ASGIApp, token: str, *, open_paths: Collection[str]) -> None:
        self.app = app
        self.token = token
        self.open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the connection, give it its cookie or hand it on."""
        answer = self._answer(HTTPConnection(scope)) if scope["type"] in _GUARDED else None
        await answered(answer, self.app)(scope, receive, send)

    def _answer(self, request: HTTPConnection) -> Response | None:
        """What to say instead of the board's own answer; None lets the request through."""
        cookie = _cookie_name(request)
        if request.scope["type"] == "http" and any(map(self._matches, request.query_params.getlist("token"))):
            response = RedirectResponse(_without_token(request), status_code=303)
            secure = request.url.scheme == "https"
            # Lax, so that links on other sites open; what comes from there otherwise brings no cookie.
            response.set_cookie(cookie, self.token, path="/", secure=secure, httponly=True, samesite="lax")
            return response
        if self._matches(request.cookies.get(cookie, "")) or request.scope["path"] in self.open_paths:
            return None
        return HTMLResponse(TOKEN_NEEDED, status_code=403)

    def _matches(self, offered: str) -> bool:
        return hmac.compare_digest(offered.encode(), self.token.encode())


def _cookie_name(request: HTTPConnection) -> str:
    """Browsers share cookies between the ports of a host, so that two boards need two names."""
    server = request.scope.get("server")
    return f"rl_board_{server[1]}" if server else "rl_board"


def _without_token(request: HTTPConnection) -> str:
    """The request's own path and query less the token; one leading slash, quoted, so that it cannot lead to another host."""
    path = "/" + quote(request.scope["path"].lstrip("/"))
    rest = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
    return f"{path}?{urlencode(rest)}" if rest else path


class SafeHeaders:
    """Adds the headers that keep model text from loading, framing or leaking anything, whatever a page does with it."""

    def __init__(self, app: ASGIApp, headers: dict[str, str]) -> None:
        self.app = app
        self.headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the connection on, and add the headers to what comes back."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def safe_headers(page: str) -> dict[str, str]:
    """The headers for a site whose every page is the HTML text `page`: only its own inline scripts may run."""
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {_script_hashes(page)}".rstrip(),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "object-src": "'none'",
        "base-uri": "'self'",
    }
    return {
        "content-security-policy": "; ".join(f"{directive} {sources}" for directive, sources in policy.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }


def _script_hashes(page: str) -> str:
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE_SCRIPT.findall(page))
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
