"""Tests of the server: its settings, and the real thing on a real port with a script and a stranger at the door."""

import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import board_process
import pytest
import streamlit as st
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from board.errors import BoardError
from board.serving import app, listening, streamlit_options

REPOSITORY = Path(__file__).parents[2]
Serve = Callable[..., str]


def fetch(url: str, **headers: str) -> tuple[int, dict[str, str]]:
    """Status and headers of an answer, redirects not followed."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    try:
        with urllib.request.build_opener(Stay).open(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return answer.status, dict(answer.headers)
    except urllib.error.HTTPError as answer:
        return answer.code, dict(answer.headers)


def websocket_status(url: str, origin: str | None) -> int:
    """101 if the board's websocket opens for a page of this origin, else the status of the refusal."""
    try:
        with connect(f"{url.replace('http', 'ws', 1)}_stcore/stream", origin=Origin(origin) if origin else None):
            return 101
    except InvalidStatus as refusal:
        return refusal.response.status_code


# ---- settings


def test_packaged_settings_are_options_of_streamlit() -> None:
    """Every setting that the package ships is one Streamlit knows."""
    for name in streamlit_options.packaged_settings():
        st.get_option(name)


def test_packaged_settings_keep_to_this_machine() -> None:
    """Unless told otherwise the board listens on loopback and reports to nobody."""
    settings = streamlit_options.packaged_settings()
    assert (settings["server.address"], settings["server.port"], settings["browser.gatherUsageStats"]) == (
        "127.0.0.1",
        8901,
        False,
    )


def test_settings_of_plain_streamlit_are_the_packaged_ones() -> None:
    """`streamlit run rl_logging_board.py` looks and listens as `serve` does: the two files are one."""
    assert (REPOSITORY / ".streamlit/config.toml").read_bytes() == streamlit_options.SETTINGS_FILE.read_bytes()


@pytest.mark.parametrize("base", ["light", "dark"])
def test_one_theme(base: str) -> None:
    """A theme base chosen by the reader is what both halves say, whatever the browser prefers; so is a colour."""
    packaged = streamlit_options.packaged_settings()
    settings = streamlit_options.one_theme(packaged, {"theme.base": base, "theme.linkColor": "#123456"})
    for half in ("light", "dark"):
        assert settings[f"theme.{half}.primaryColor"] == packaged[f"theme.{base}.primaryColor"]
        assert settings[f"theme.{half}.linkColor"] == "#123456"
        assert settings[f"theme.{half}.sidebar.backgroundColor"] == packaged[f"theme.{base}.sidebar.backgroundColor"]


def test_two_themes_unless_chosen() -> None:
    """Without a chosen base both halves stay, and the browser decides."""
    packaged = streamlit_options.packaged_settings()
    assert streamlit_options.one_theme(packaged, {}) == packaged


@pytest.mark.parametrize("half", ["light", "dark"])
def test_theme_contrast(half: str) -> None:
    """Text, links and chart colours are readable on the background: WCAG AA, 4.5 for text and 3 for lines."""
    settings = streamlit_options.packaged_settings()
    background = settings[f"theme.{half}.backgroundColor"]
    for name in ("textColor", "linkColor"):
        assert contrast(settings[f"theme.{half}.{name}"], background) >= 4.5
    assert contrast(settings[f"theme.{half}.primaryColor"], "#ffffff") >= 4.5
    for color in [settings[f"theme.{half}.primaryColor"], *settings[f"theme.{half}.chartCategoricalColors"]]:
        assert contrast(color, background) >= 3


def contrast(one: str, other: str) -> float:
    """The WCAG 2 contrast ratio of two #rrggbb colours."""

    def luminance(color: str) -> float:
        channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_parsed_options() -> None:
    """Streamlit's options come out by dotted name and in the type they have."""
    options = streamlit_options.parsed_options(
        ["--server.port", "8999", "--client.toolbarMode=auto", "--runner.fastReruns", "false"]
    )
    assert (options["server.port"], options["client.toolbarMode"], options["runner.fastReruns"]) == (8999, "auto", False)


def test_options_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count unless the command line says otherwise; lists grow by each time they are named."""
    for name, value in (
        ("SERVER_BASE_URL_PATH", "rl"),
        ("SERVER_PORT", "8999"),
        ("THEME_DARK_BASE_RADIUS", "7"),
        ("NO_SUCH", "x"),
        ("SERVER_CORS_ALLOWED_ORIGINS", "c d"),
    ):
        monkeypatch.setenv(f"STREAMLIT_{name}", value)
    options = streamlit_options.parsed_options(
        ["--server.port", "9000", "--server.allowedHosts", "a", "--server.allowedHosts=b", "--server.sslCertFile", "x.pem"]
    )
    assert options == {
        "server.baseUrlPath": "rl",
        "server.port": 9000,
        "theme.dark.baseRadius": 7,
        "server.allowedHosts": ["a", "b"],
        "server.corsAllowedOrigins": ["c", "d"],
        "server.sslCertFile": "x.pem",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--foo.bar", "1"], "has no option --foo.bar", id="unknown option"),
        pytest.param(["--server.port", "high"], "is a number", id="wrong type"),
        pytest.param(["--server.headless", "maybe"], "is true or false", id="neither"),
    ],
)
def test_parsed_options_refused(arguments: list[str], message: str) -> None:
    """What Streamlit does not take is refused in a sentence."""
    with pytest.raises(BoardError, match=message):
        streamlit_options.parsed_options(arguments)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.5.5.5", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("gpu7", False),
    ],
)
def test_is_loopback(host: str, loopback: bool) -> None:
    """Only addresses that cannot leave the machine count as loopback."""
    assert listening.is_loopback(host) == loopback


def test_check_listen_names_a_taken_port() -> None:
    """A taken port is an error in words, before anything is started."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(BoardError, match="Address already in use"):
        listening.check_listen("127.0.0.1", taken.getsockname()[1])


def test_the_next_free_port_is_taken() -> None:
    """A port that is taken is passed over; where the first is no port at all the error is that of the first."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        first = taken.getsockname()[1]
        assert first < listening.free_port("127.0.0.1", first) <= first + listening.PORTS_TRIED
    with pytest.raises(BoardError, match="65536"):
        listening.free_port("127.0.0.1", 65_536)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_check_listen_refuses_what_is_no_port(port: int) -> None:
    """A number outside the range of ports is an error in words too."""
    with pytest.raises(BoardError, match="Cannot listen"):
        listening.check_listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("options", "allow_hosts"),
    [
        pytest.param({}, ["*"], id="our option"),
        pytest.param({"server.allowedHosts": ["*"]}, [], id="Streamlit's option"),
    ],
)
def test_any_name_needs_a_token(tmp_path: Path, options: streamlit_options.Settings, allow_hosts: list[str]) -> None:
    """Answering to every name without a token would open the board to any web page, so it does not start."""
    with pytest.raises(BoardError, match="only with a token"):
        app.serve(tmp_path, print, {"server.port": 0} | options, allow_hosts=allow_hosts)


# ---- the real server


def test_every_answer_has_the_safe_headers(board_server: str) -> None:
    """Page, health check and refusal carry the policy, and nothing may frame the board."""
    for url, host in (
        (board_server, "localhost"),
        (f"{board_server}_stcore/health", "localhost"),
        (board_server, "evil.example"),
    ):
        headers = fetch(url, Host=host)[1]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["", "_stcore/health", "_stcore/host-config", "media/x", "tokens"])
def test_foreign_names_are_refused_on_every_route(board_server: str, path: str) -> None:
    """A page whose name was rebound to this machine reads nothing, whatever it asks for."""
    assert fetch(board_server + path, Host="evil.example")[0] == 400


def test_websocket_takes_own_pages_only(board_server: str) -> None:
    """Own pages connect, pages of other origins do not, those of another port on this machine included."""
    own = board_server.rstrip("/")
    others = ("http://localhost:3000", "http://evil.example", "http://[")
    assert [websocket_status(board_server, origin) for origin in (own, *others)] == [101, 403, 403, 403]


def test_loopback_needs_no_token(board_server: str) -> None:
    """On loopback the printed address has no token and opens."""
    assert "token" not in board_server
    assert fetch(f"{board_server}runs")[0] == 200


def test_token_on_request(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With --token the printed link opens the board and its bare address does not."""
    link = serve(tmp_path_factory.mktemp("root"), "--token")
    address, _, _ = link.partition("?")
    assert fetch(address)[0] == 403
    status, headers = fetch(f"{link}&step=3")
    assert (status, headers["location"]) == (303, "/?step=3")
    assert fetch(address, Cookie=headers["set-cookie"].partition(";")[0])[0] == 200
    assert websocket_status(address, None) == 403


def test_a_former_name_of_a_page_leads_to_the_new(board_server: str) -> None:
    """The rest of the link stays, and what the link says cannot lead to another host."""
    for path, now in {
        "doctor?run=a&step=3": "/data?run=a&step=3",
        "rewards": "/",
        "rewards?columns=a&columns=b": "/?columns=a&columns=b",
        "doctor?//evil.example": "/data?//evil.example",
    }.items():
        status, headers = fetch(board_server + path)
        assert (status, headers["location"]) == (307, now)


@pytest.mark.parametrize("probe", ["health", "host-config"])
def test_a_browser_that_looks_for_the_server_below_a_page_is_told_where_it_is(board_server: str, probe: str) -> None:
    """The answer is none that a console reports as an error, and none that the browser takes for the server."""
    assert fetch(f"{board_server}responses/_stcore/{probe}")[0] == 300
    assert fetch(f"{board_server}_stcore/{probe}")[0] == 200


def test_own_base_path(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Behind a proxy's path the printed address, the health check and the gate keep to that path."""
    link = serve(tmp_path_factory.mktemp("root"), "--token", "--server.baseUrlPath", "/boards/rl/")
    assert "/boards/rl/?token=" in link
    status, headers = fetch(link)
    assert (status, headers["location"]) == (303, "/boards/rl/")


HOSTILE = """
[server]
address = "0.0.0.0"
port = 1
allowedHosts = ["*"]
enableCORS = false
corsAllowedOrigins = ["http://evil.example"]
enableXsrfProtection = false
enableAgentApi = true
enableStaticServing = true
fileWatcherType = "poll"
cookieSecret = "known"
trustedUserHeaders = {"x-evil" = "email"}
[theme]
primaryColor = "#123456"
[client]
toolbarMode = "developer"
"""

TELL_OPTIONS = """
import sys, threading, time
def tell(path):
    while not getattr(sys.modules.get("streamlit.runtime"), "exists", bool)():
        time.sleep(0.05)
    from streamlit import config
    lines = [f"{{name}} = {{one.value!r}} by {{one.where_defined}}" for name, one in config.get_config_options().items()]
    open(path + ".part", "w").write("\\n".join(lines))
    __import__("os").rename(path + ".part", path)
threading.Thread(target=tell, args=({path!r},), daemon=True).start()
"""


def options_told(path: Path) -> list[str]:
    """All options of the server that runs TELL_OPTIONS, but for its port and the secret it made up."""
    for _ in range(600):
        if path.exists():
            break
        time.sleep(0.05)
    own = ("server.port", "browser.serverPort", "server.cookieSecret")
    return [line for line in path.read_text().splitlines() if not line.startswith(own)]


@pytest.fixture(scope="module")
def options_of_nothing(serve_module: Serve, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The options of a board over an empty folder."""
    return closed_and_told(serve_module, tmp_path_factory.mktemp("empty"), tmp_path_factory.mktemp("told") / "options.txt")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HOSTILE, id="opens up"),
        pytest.param('[server]\nbaseUrlPath = "elsewhere"\n[theme]\nbase = "https://evil.example/a.toml"\n', id="moves away"),
        pytest.param("[server\n", id="no TOML"),
    ],
)
def test_settings_found_on_the_way_do_not_count(serve: Serve, options_of_nothing: list[str], tmp_path: Path, text: str) -> None:
    """A run folder that brings its own .streamlit changes no option of a board that is started in it, nor what it answers."""
    (tmp_path / "runs/.streamlit").mkdir(parents=True)
    (tmp_path / "runs/.streamlit/config.toml").write_text(text)
    (tmp_path / "runs/.streamlit/secrets.toml").write_text("evil = 1\n[auth]\n")
    assert closed_and_told(serve, tmp_path / "runs", tmp_path / "options.txt") == options_of_nothing


def closed_and_told(serve: Serve, root: Path, path: Path) -> list[str]:
    """The options of a board over a folder that is started there: on loopback, at the root of its address, and open to no other site."""
    address = serve(root, cwd=root, first=TELL_OPTIONS.format(path=str(path)))
    assert address.startswith("http://127.0.0.1:")
    assert address.count("/") == 3
    assert fetch(address, Host="evil.example")[0] == 400
    assert websocket_status(address, "http://evil.example") == 403
    status, headers = fetch(f"{address}_stcore/health", Origin="http://evil.example")
    assert (status, headers.get("access-control-allow-origin")) == (200, None)
    return options_told(path)


def test_files_are_named_from_where_the_board_is_started(serve: Serve, tmp_path: Path) -> None:
    """Files and folders that options and variables name are those of the folder that the command was given in."""
    (tmp_path / "theme.toml").write_text('[theme]\nprimaryColor = "#123456"\n')
    path = tmp_path / "options.txt"
    first = f"import os\nos.environ['RL_BOARD_CACHE'] = 'my cache'\n{TELL_OPTIONS.format(path=str(path))}"
    (tmp_path / "runs").mkdir()
    address = serve("runs", "--theme.base", "theme.toml", cwd=tmp_path, first=first)
    assert fetch(address)[0] == 200
    assert "theme.primaryColor = '#123456'" in "\n".join(options_told(path))
    assert not (app.ENTRY.parent / "my cache").exists()


def test_a_secret_of_the_environment_is_left_to_streamlit(serve: Serve, tmp_path: Path) -> None:
    """Which refuses to start where it is handed one as an option."""
    first = "import os; os.environ['STREAMLIT_SERVER_COOKIE_SECRET'] = 'a secret that is long enough to sign with'"
    assert fetch(serve(tmp_path, first=first))[0] == 200


def test_the_start_says_where_the_board_is_and_nothing_else(tmp_path: Path) -> None:
    """Libraries' warnings about their own settings are none of the reader's concern."""
    with board_process.started(tmp_path, tmp_path) as (address, _, output):
        assert fetch(address)[0] == 200
        assert output.read_text().split() == f"RL Logging Board: {address} Stop with Ctrl+C.".split()
