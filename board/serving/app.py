"""Host the pages: one port, on loopback by default, behind the gates."""

import os
import re
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from board.errors import BoardError
from board.serving import component_scripts, downloads, log_in, open_files
from board.serving.gates import HostGate, RouteGate, SafeHeaders, TokenGate, safe_headers
from board.serving.home_gate import HomeGate, are_several
from board.serving.listening import bracketed, check_listen, is_loopback, machine_names, outward_address
from board.serving.page_addresses import FORMER, RUNS
from board.serving.streamlit_options import Settings, one_theme, packaged_settings

ENTRY: Final = Path(__file__).parents[2] / "rl_logging_board.py"
"""Next to the package in a clone as in site-packages."""

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{24,}")
_SECRETS: Final = ".streamlit/secrets.toml"

ROOT_VARIABLE: Final = "RL_BOARD_ROOT"
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")
EVERY_INTERFACE: Final = ("0.0.0.0", "::")

PAGE: Final = Path(st.__file__).with_name("static") / "index.html"
"""The HTML that every page begins with, Streamlit's."""


@dataclass(frozen=True)
class Served:
    """What is served, and to whom."""

    root: str
    settings: Settings
    names: tuple[str, ...]
    """The host names it answers to."""
    secret: str | None
    """The token that is required; None for none."""
    login: bool
    """Whether readers log in."""
    wide: bool
    """Whether other machines can reach it."""


def serve(
    root: Path,
    announce: Callable[[str], None],
    options: Settings,
    *,
    token: bool | None = None,
    allow_hosts: Sequence[str] = (),
    login: Path | None = None,
    exported: downloads.Made | None = None,
) -> None:
    """Serve the runs under `root` until interrupted, and call `announce` with the address once it answers.

    `options` overrule the board's own settings. `token` None asks for a token where other machines can reach the address, and where readers
    log in by the file of secrets `login`: what is no page knows no log-in. `exported` makes the
    files that `/export` sends. Raises BoardError if nothing can listen there, or the file says
    too little.
    """
    settings = one_theme(packaged_settings(), options) | options
    host, port = settings["server.address"], settings["server.port"]
    check_listen(host, port)
    wide = not is_loopback(host)
    if login and token is False:
        raise BoardError("With a log-in the token is required, too, as downloads know no log-in: leave out --no-token.")
    secret = _secret() if (wide or login if token is None else token) else None
    given = [*options.get("server.allowedHosts", ()), *allow_hosts]
    if "*" in given and secret is None:
        raise BoardError("Answering to every host name is safe only with a token: leave out --no-token, or name the hosts.")

    at_provider = [log_in.host(login, _base(settings))] if login else ()
    names = [*LOOPBACK_NAMES, host, *(machine_names() if wide else ()), *given, *at_provider]
    # HostGate asks first, and unlike Streamlit's own list it can say "any plain address".
    settings |= {
        "server.allowedHosts": ["*"] if wide else names,
        "logger.hideWelcomeMessage": True,
        "secrets.files": [str(login)]
        if login
        else [],  # else another application's secrets would have the pages ask for a log-in
    }
    served = Served(str(root), settings, tuple(names), secret, login is not None, wide)
    _run(served, exported, lambda: announce(address(secret)))


def _run(served: Served, exported: downloads.Made | None, started: Callable[[], None]) -> None:
    """Serve until interrupted."""
    settings, root = served.settings, Path(served.root)
    app = st.App(
        ENTRY,
        routes=_routes(_base(settings), exported),
        middleware=[*_gates(served), _home(settings, root)],
        lifespan=lambda _: _announcing(started),
    )
    os.environ[ROOT_VARIABLE] = served.root
    sys.argv = [str(ENTRY), served.root]  # what the script is shown, and where Streamlit looks for a project's settings
    open_files.allow_many()  # each session takes four
    if exported:
        downloads.SERVED.set()
    if served.login:
        log_in.REQUIRED.set()
    app.run(config=settings)


def _secret() -> str:
    """The token: RL_BOARD_TOKEN, so that several boards behind one address have the same, or one made up. Raises BoardError."""
    given = os.environ.get("RL_BOARD_TOKEN", "")
    if given and not _TOKEN.fullmatch(given):
        raise BoardError("RL_BOARD_TOKEN has at least 24 letters, digits, hyphens and underscores.")
    return given or secrets.token_urlsafe(24)


def address(secret: str | None) -> str:
    """The address to open, token included, once Streamlit has its settings; every interface goes by the machine's own address."""
    host = st.get_option("server.address")
    if host in EVERY_INTERFACE:
        host = outward_address()
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    path = st.get_option("server.baseUrlPath").strip("/")
    url = f"{scheme}://{bracketed(host)}:{st.get_option('server.port')}/{path}{'/' if path else ''}"
    return f"{url}?token={secret}" if secret else url


def secrets_files(options: Settings) -> list[Path]:
    """Files of secrets that count though no option names them: the user's, and that next to the board's entry.

    Not the one in the folder that the board is started in, where Streamlit looks, too: that may be a run's, and its author would say
    who is let in.
    """
    given = options.get("secrets.files")
    return [Path(file) for file in given or (Path.home() / _SECRETS, ENTRY.parent / _SECRETS)]


def _gates(served: Served) -> list[Middleware]:
    """The gates in the order a request meets them."""
    page = PAGE.read_text(encoding="utf-8")
    origins = served.settings.get("server.corsAllowedOrigins", ())
    gates = [
        Middleware(SafeHeaders, headers=safe_headers(page)),
        Middleware(HostGate, names=served.names, any_address=served.wide, origins=origins),
    ]
    base = _base(served.settings)
    if served.secret:
        gates.append(Middleware(TokenGate, token=served.secret, open_paths=[f"{base}/_stcore/health"]))
    return [*gates, Middleware(RouteGate, base=base)]


def _base(settings: Settings) -> str:
    """What all addresses begin with, a slash in front and none behind; empty where it is nothing."""
    return f"/{settings.get('server.baseUrlPath', '').strip('/')}".rstrip("/")


def _home(settings: Settings, root: Path) -> Middleware:
    """What leads from the bare address to the list of runs."""
    base = _base(settings)
    return Middleware(HomeGate, home=f"{base}/", runs=f"{base}/{RUNS.path}", are_several=lambda: are_several(root))


def _routes(prefix: str, exported: downloads.Made | None) -> list[BaseRoute]:
    """Answers to addresses of pages that Streamlit knows nothing of; `prefix` is what all addresses begin with."""
    moved = [Route(f"{prefix}/{path}", _redirect_to(f"{prefix}/{tab.path}")) for path, tab in FORMER.items()]
    files = [Route(f"{prefix}/{downloads.PATH}", downloads.Downloads(exported))] if exported else []
    return [*moved, component_scripts.mounted(prefix), *files, Route(f"{prefix}/{{page}}/_stcore/{{probe:path}}", _not_here)]


def _redirect_to(now: str) -> Callable[[Request], Response]:
    """Lead from a page's former name to the present one, with all that the link says."""

    def answer(request: Request) -> Response:
        return RedirectResponse(f"{now}?{request.url.query}".removesuffix("?"), status_code=307)

    return answer


def _not_here(request: Request) -> Response:
    """To a browser that opened the address of no page, and looks below it for the server, which is one level up.

    It goes on looking after any answer but a good one, and reports those from 400 on as errors in its console.
    """
    return PlainTextResponse("The board's server is at the root of its addresses.\n", status_code=300)


@asynccontextmanager
async def _announcing(started: Callable[[], None]) -> AsyncIterator[None]:
    started()
    yield
