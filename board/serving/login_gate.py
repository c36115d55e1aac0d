"""Lets in whoever logged in by a provider, and nobody else: in front of every page, file, endpoint and websocket. Plain ASGI.

Streamlit's own routes speak with the provider and give the cookie; what is asked of that cookie, and when it ends, is decided here, before
anything behind knows of the request. Knows nothing of runs and pages.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.status import WS_1008_POLICY_VIOLATION
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit.auth_util import encode_provider_token
from streamlit.proto.AuthRedirect_pb2 import AuthRedirect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from board.serving import login_cookie
from board.serving.login_page import page
from board.serving.login_settings import CALLBACK, DEFAULT, LoginSettings
from board.serving.open_logins import OpenLogins

LOOK_SECONDS: Final = 2.0
"""An open websocket is closed so long after its login has ended, at most."""

_BACK: Final = "rl_board_back"
"""The cookie with the address that was asked for before the log-in, in the tab whose link was followed."""

_BACK_SECONDS: Final = 900
_LONGEST_BACK: Final = 2_000

_ASK_AGAIN: Final[bytes] = ForwardMsg(auth_redirect=AuthRedirect(url="")).SerializeToString()
"""Has Streamlit's browser side ask for its own address again, where it finds the page that asks to log in and leads back."""

_PLEASE: Final = "Log in to see the runs on this board."
_NOT_THIS_ONE: Final = "This board is not open to {who}. Log in with another account, or ask whoever runs it."
_BROKEN_OFF: Final = "The log-in did not come to its end, and nobody is logged in. Try again."
_NO_PROVIDER: Final = (
    "The log-in provider does not answer as it should. Try again; whoever runs this board finds the reason in its output."
)
_NOT_KEPT: Final = (
    "The log-in cannot be kept, as the board's folder for it cannot be written ({reason}). Tell whoever runs this board."
)


class LoginGate:
    """`base` is what all addresses begin with, without a slash at its end."""

    def __init__(self, app: ASGIApp, settings: LoginSettings, logins: OpenLogins, base: str) -> None:
        self.app, self.settings, self.logins, self.base = app, settings, logins, base
        self._ways: Mapping[str, Callable[[Scope, Receive, Send], Any]] = {
            f"{base}/_stcore/health": app,
            f"{base}/auth/login": self._to_provider,
            f"{base}/auth/logout": self._log_out,
            f"{base}/{CALLBACK}": self._from_provider,
        }
        """What is answered to everybody."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the connection, have somebody log in or out, or hand it on."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        way = self._ways.get(scope["path"]) if scope.get("method") in ("GET", "HEAD") else None
        if way is not None:
            await way(scope, receive, send)
            return
        said = self._said(HTTPConnection(scope))
        if said is None:
            refusal = self._please(scope) if scope["type"] == "http" else WebSocketClose(code=WS_1008_POLICY_VIOLATION)
            await refusal(scope, receive, send)
        elif scope["type"] == "http":
            await self.app(scope, receive, send)
        else:
            await self.app(scope, self._until_it_ends(said, receive, send), send)

    def _said(self, request: HTTPConnection) -> bytes | None:
        """What the request's cookie says, where that is a login that is open, of somebody who is let in."""
        said = login_cookie.said(request.cookies)
        return said if said is not None and self.logins.is_open(said) and self._admits(said) else None

    def _admits(self, said: bytes) -> bool:
        claims = login_cookie.claims(said)
        return claims is not None and self.settings.admission.admits(claims)

    def _until_it_ends(self, said: bytes, receive: Receive, send: Send) -> Receive:
        """What a websocket hears, until its login has ended: then that its client has gone, which is sent away."""

        async def heard() -> Message:
            waiting = asyncio.ensure_future(receive())
            try:
                while True:
                    await asyncio.wait([waiting], timeout=LOOK_SECONDS)
                    if waiting.done() and waiting.result()["type"] != "websocket.receive":  # it begins, or its client has gone
                        return waiting.result()
                    if not self.logins.is_open(said):
                        await send({"type": "websocket.send", "bytes": _ASK_AGAIN})
                        await send({"type": "websocket.close", "code": WS_1008_POLICY_VIOLATION})
                        return {"type": "websocket.disconnect", "code": WS_1008_POLICY_VIOLATION}
                    if waiting.done():
                        return waiting.result()
            finally:
                waiting.cancel()

        return heard

    def _please(self, scope: Scope, sentence: str = _PLEASE, status: int = 403) -> Response:
        """The page that asks to log in; a line of text for what no person reads."""
        headers = Headers(scope=scope)
        if "text/html" not in headers.get("accept", ""):
            return PlainTextResponse(f"{sentence}\n", status, {"cache-control": "no-store"})
        asked = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
        back = {"back": asked} if scope["path"] not in self._ways else {}
        links = [
            (
                "Log in" if name == DEFAULT else f"Log in with {name}",
                f"{self.base}/auth/login?{urlencode({'provider': name} | back)}",
            )
            for name in self.settings.providers
        ]
        return HTMLResponse(page(sentence, links), status, {"cache-control": "no-store"})

    async def _to_provider(self, scope: Scope, receive: Receive, send: Send) -> None:
        """By Streamlit's route, which takes none but a provider's name that it signed less than two minutes ago: signed here."""
        asked = HTTPConnection(scope).query_params.get("provider", "")
        name = asked if asked in self.settings.providers else self.settings.providers[0]
        query = urlencode({"provider": encode_provider_token(name)}).encode()
        messages = await self._answer({**scope, "query_string": query}, receive)
        if messages[0]["status"] >= 400:
            await self._please(scope, _NO_PROVIDER, 502)(scope, receive, send)
            return
        kept = quote(HTTPConnection(scope).query_params.get("back", ""), safe="")
        age = _BACK_SECONDS if len(kept) <= _LONGEST_BACK else 0
        cookie = f"{_BACK}={kept}; HttpOnly; Max-Age={age}; Path={self.base or '/'}; SameSite=lax"
        MutableHeaders(scope=messages[0]).append("set-cookie", cookie + ("; Secure" if self.settings.is_https else ""))
        await _send_all(messages, send)

    async def _from_provider(self, scope: Scope, receive: Receive, send: Send) -> None:
        """By Streamlit's route; the login that comes of it begins here, or is refused."""
        request = HTTPConnection(scope)
        messages = await self._answer(scope, receive)
        headers = MutableHeaders(scope=messages[0])
        said = login_cookie.said(login_cookie.given(headers.getlist("set-cookie")))
        claims = login_cookie.claims(said) if said is not None else None
        if said is None or claims is None:
            if any(name in request.query_params for name in ("code", "error")):
                await self._please(scope, _BROKEN_OFF)(scope, receive, send)
            else:  # back from a log-out
                await _send_all(messages, send)
            return
        if not self.settings.admission.admits(claims):
            who = str(claims.get("email") or "an account without an address")[:200]
            await self._please(scope, _NOT_THIS_ONE.format(who=who))(scope, receive, send)
            return
        try:
            await anyio.to_thread.run_sync(self.logins.begin, said)
        except OSError as error:
            await self._please(scope, _NOT_KEPT.format(reason=error.strerror), 503)(scope, receive, send)
            return
        headers["location"] = self._way_back(request.cookies.get(_BACK, ""))
        headers.append("set-cookie", f"{_BACK}=; Max-Age=0; Path={self.base or '/'}")
        await _send_all(messages, send)

    async def _log_out(self, scope: Scope, receive: Receive, send: Send) -> None:
        """By Streamlit's route, which takes the cookie away; the login ends here, whoever has a copy of it."""
        request = HTTPConnection(scope)
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            await PlainTextResponse("A page from elsewhere may not log anybody out.\n", 403)(scope, receive, send)
            return
        said = login_cookie.said(request.cookies)
        if said is not None:
            try:
                await anyio.to_thread.run_sync(self.logins.end, said)
            except OSError as error:
                await self._please(scope, _NOT_KEPT.format(reason=error.strerror), 503)(scope, receive, send)
                return
        await _send_all(await self._answer(scope, receive), send)

    async def _answer(self, scope: Scope, receive: Receive) -> list[Message]:
        """What Streamlit answers; its cookies for TLS alone where the board is reached by it."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self.app(scope, receive, keep)
        if self.settings.is_https:
            messages[0]["headers"] = [
                (name, value + b"; Secure" if name.lower() == b"set-cookie" and b"; secure" not in value.lower() else value)
                for name, value in messages[0]["headers"]
            ]
        return messages

    def _way_back(self, kept: str) -> str:
        """The address asked for before, below this board's own; one leading slash, quoted, so that it cannot lead to another host."""
        path, _, query = unquote(kept).partition("?")
        way = "/" + quote(path.lstrip("/"))
        climbs = not {".", ".."}.isdisjoint(
            way.split("/")
        )  # a browser would go up by them; "%2e" is quoted once more, and goes nowhere
        if climbs or not way.startswith(f"{self.base}/") or len(kept) > _LONGEST_BACK:
            return f"{self.base}/"
        return f"{way}?{urlencode(parse_qsl(query, keep_blank_values=True))}".removesuffix("?")


async def _send_all(messages: list[Message], send: Send) -> None:
    for message in messages:
        await send(message)
