"""Tests of the log-in: who is let in, what a file of secrets may say, and that nothing of a run is answered before."""

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from login_provider import Provider
from rows import add_run
from servers import Serve
from sessions import Session

from board.errors import BoardError
from board.serving import app, log_in
from board.serving.log_in import Admission, is_entry

LIST = ("ana@example.org", "@lab.example.org")


@pytest.mark.parametrize(
    ("claims", "admitted"),
    [
        pytest.param({"email": "ana@example.org", "email_verified": True}, True, id="by address"),
        pytest.param({"email": "Ana@Example.ORG", "email_verified": True}, True, id="in capitals"),
        pytest.param({"email": "bo@lab.example.org", "email_verified": True}, True, id="by domain"),
        pytest.param({"email": "bo@example.org", "email_verified": True}, False, id="another address of a domain"),
        pytest.param({"email": "bo@x.lab.example.org", "email_verified": True}, False, id="below a domain"),
        pytest.param({"email": "bo@lab.example.org.evil.org", "email_verified": True}, False, id="domain as a part"),
        pytest.param({"email": "bo@evillab.example.org", "email_verified": True}, False, id="domain as an end"),
        pytest.param({"email": "@lab.example.org", "email_verified": True}, False, id="the entry itself"),
        pytest.param({"email": "ana@example.org@evil.org", "email_verified": True}, False, id="two domains"),
        pytest.param({"email": "evil@evil.org@lab.example.org", "email_verified": True}, False, id="two domains, ours last"),
        pytest.param({"email": "ana@example.org ", "email_verified": True}, False, id="a space"),
        pytest.param({"email": "bo@lab.example.or\u0261", "email_verified": True}, False, id="a look-alike"),
        pytest.param({"email": "bo@\u212aab.example.org", "email_verified": True}, False, id="Kelvin's sign"),
        pytest.param({"email": ["ana@example.org"], "email_verified": True}, False, id="a list"),
        pytest.param({"email": "ana@example.org"}, False, id="not said to be verified"),
        pytest.param({"email": "ana@example.org", "email_verified": False}, False, id="not verified"),
        pytest.param({"email": "ana@example.org", "email_verified": "true"}, False, id="verified in words"),
        pytest.param({"name": "ana@example.org", "preferred_username": "ana@example.org"}, False, id="another claim"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_admits(claims: dict[str, Any], admitted: bool) -> None:
    """A whole address that is verified, or its whole domain; nothing that merely looks so."""
    assert Admission(LIST).admits(claims) is admitted


def test_a_provider_whose_addresses_are_true() -> None:
    """One whose users cannot choose theirs need not call them verified; the list counts all the same."""
    trusting = Admission(LIST, trust_unverified=True)
    assert trusting.admits({"email": "ana@example.org"})
    assert not trusting.admits({"email": "eve@evil.org"})


def test_without_a_list() -> None:
    """Whoever the provider logged in."""
    assert Admission().admits({"sub": "7"})


def test_capitals_on_the_list() -> None:
    """An entry counts however it is written."""
    assert Admission(("@Lab.Example.org",)).admits({"email": "bo@lab.example.org", "email_verified": True})


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    """Nobody's address is on a list that holds another one, whatever it is made of."""
    assert isinstance(is_entry(text), bool)
    if text.lower() != "ana@example.org" and not text.lower().endswith("@lab.example.org"):
        assert not Admission(LIST).admits({"email": text, "email_verified": True})


@pytest.mark.parametrize(
    ("issued", "over"),
    [
        pytest.param(0.0, True, id="long ago"),
        pytest.param(time.time() - 3600, False, id="an hour ago"),
        pytest.param(time.time() - 2.1 * 3600, True, id="more than its hours ago"),
        pytest.param(None, True, id="nobody knows when"),
        pytest.param("now", True, id="no number"),
    ],
)
def test_hours(issued: object, over: bool) -> None:
    """A log-in ends by itself, also where its provider does not say when it began."""
    assert Admission(hours=2).is_over({"iat": issued}) is over


AUTH = {
    "redirect_uri": '"https://board.example.org/rl/oauth2callback"',
    "cookie_secret": '"0123456789abcdef0123456789abcdef"',
    "client_id": '"board"',
    "client_secret": '"SECRET"',
    "server_metadata_url": '"https://login.example.org/.well-known/openid-configuration"',
}


PROVIDER = ("client_id", "client_secret", "server_metadata_url")


def written(folder: Path, board: str = "", **changed: str | None) -> Path:
    """A file of secrets with some settings of [auth] changed, or left out where they are None."""
    lines = [f"{name} = {value}" for name, value in (AUTH | changed).items() if value is not None]
    file = folder / "secrets.toml"
    file.write_text("\n".join(["[auth]", *lines, "[board]", board]))
    return file


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param({"redirect_uri": None}, "redirect_uri", id="no address"),
        pytest.param({"redirect_uri": '"https://board.example.org/"'}, "oauth2callback", id="another address"),
        pytest.param({"redirect_uri": '"https://[::1/oauth2callback"'}, "no address", id="half an address"),
        pytest.param({"redirect_uri": '"https://board.example.org/oauth2callback"'}, "/rl/oauth2callback", id="another path"),
        pytest.param({"redirect_uri": '"https://board.example.org/rl/oauth2callback?a=1"'}, "/rl/oauth2callback", id="a query"),
        pytest.param({"redirect_uri": '"http://board.example.org/rl/oauth2callback"'}, "https", id="without TLS"),
        pytest.param({"redirect_uri": '"ftp://localhost/rl/oauth2callback"'}, "https", id="another scheme"),
        *(pytest.param({name: None}, f"no {name}", id=f"no {name}") for name in PROVIDER),
        *(pytest.param({name: '""'}, f"no {name}", id=f"empty {name}") for name in PROVIDER),
        *(pytest.param({name: "7"}, f"no {name}", id=f"{name} a number") for name in PROVIDER),
        pytest.param({"cookie_secret": "7" * 40}, "at least 32|no TOML", id="a secret that is a number"),
        pytest.param({"cookie_secret": '"xxx"'}, "at least 32", id="a secret to guess"),
        pytest.param({"cookie_secret": None}, "at least 32", id="no secret"),
        pytest.param({"board": "allow = []"}, "is empty", id="nobody allowed"),
        pytest.param({"board": 'allow = "ana@example.org"'}, "list of addresses", id="no list"),
        pytest.param({"board": 'allow = ["ana"]'}, "list of addresses", id="an entry that is no address"),
        pytest.param({"board": 'allow = ["@"]'}, "list of addresses", id="any domain"),
        pytest.param({"board": 'alow = ["ana@example.org"]'}, "knows no alow", id="misspelt"),
        pytest.param({"board": "hours = 0"}, "hours", id="no hours"),
        pytest.param({"board": "hours = inf"}, "hours", id="for ever"),
        pytest.param({"board": "hours = nan"}, "hours", id="no number of hours"),
        pytest.param({"board": "hours = true"}, "hours", id="hours that are none"),
        pytest.param({"board": "trust_unverified = 1"}, "true or false", id="trust that is none"),
    ],
)
def test_half_of_a_log_in(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    """Does not start: what is missing or wrong is named, with the file and without any value."""
    with pytest.raises(BoardError, match=said) as refused:
        log_in.host(written(tmp_path, **changed), "/rl")
    assert "secrets.toml" in str(refused.value)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(b"", r"\[auth\]", id="empty"),
        pytest.param(b"auth = 1", r"\[auth\]", id="no table"),
        pytest.param(b"[auth]\ncookie_secret = SECRET", "no TOML", id="no TOML"),
        pytest.param(b"\xff\xfe", "no TOML", id="no text"),
        pytest.param(b"a = " + b"[" * 100_000, "no TOML", id="deep"),
        pytest.param(b" " * 2_000_000, "no file of secrets", id="endless"),
    ],
)
def test_no_file_of_secrets(tmp_path: Path, text: bytes, said: str) -> None:
    """A sentence that quotes nothing of it."""
    file = tmp_path / "secrets.toml"
    file.write_bytes(text)
    with pytest.raises(BoardError, match=said) as refused:
        log_in.host(file, "/rl")
    assert "SECRET" not in str(refused.value)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe never ends, and a folder holds no text."""
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(BoardError, match="no file of secrets"):
            log_in.host(place, "")


def test_several_providers(tmp_path: Path) -> None:
    """Each in a table of its own, beside the one that has no name or without it; half of one does not start."""
    table = "\n".join(f"{name} = {AUTH[name]}" for name in PROVIDER)
    for left_out in ((), PROVIDER):
        file = written(tmp_path, "", **dict.fromkeys(left_out))
        file.write_text(f"{file.read_text()}\n[auth.okta]\n{table}")
        assert log_in.host(file, "/rl") == "board.example.org"
    file.write_text(file.read_text().replace("[auth.okta]\nclient_id", "[auth.okta]\nno_id"))
    with pytest.raises(BoardError, match="no client_id"):
        log_in.host(file, "/rl")


def test_this_machine_needs_no_tls(tmp_path: Path) -> None:
    """To try a log-in out, loopback will do."""
    for name in ("localhost", "127.0.0.1", "[::1]"):
        assert log_in.host(written(tmp_path, redirect_uri=f'"http://{name}:8901/oauth2callback"'), "") == name.strip("[]")


def test_which_file_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own, where it has an [auth]; never one that lies in the folder of runs that the board is started in."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "runs" / ".streamlit").mkdir(parents=True)
    written(tmp_path / "runs" / ".streamlit")
    monkeypatch.chdir(tmp_path / "runs")
    assert log_in.found(app.secrets_files({})) is None
    (tmp_path / "home" / ".streamlit").mkdir(parents=True)
    own = tmp_path / "home" / ".streamlit" / "secrets.toml"
    own.write_text("[database]\npassword = 'x'")
    assert log_in.found(app.secrets_files({})) is None
    written(own.parent)
    assert log_in.found(app.secrets_files({})) == own
    assert log_in.host(own, "/rl") == "board.example.org"


RUN = "a-run-that-is-secret"

ASKED = [
    "",
    "runs",
    f"tokens?run={RUN}",
    f"?run={RUN}",
    "doctor",
    "no-such-page",
    "index.html",
    "static/js/index.js",
    "_stcore/host-config",
    "_stcore/metrics",
    "_stcore/upload_file/a/b",
    "_stcore/bidi-components/x/y.js",
    "_stcore/agent/openapi.json",
    "component/x/index.html",
    "media/0123456789abcdef.csv",
    "app/static/x",
    f"export?run={RUN}&until=99999999999&signature={'0' * 64}",
    f"export?run={RUN}",
    "scripts/curves.curves-000000000000.js",
    "runs/_stcore/health",
    "auth/login",
    "auth/logout",
]


def test_nothing_of_a_run_is_answered_before(serve: Serve, tmp_path: Path) -> None:
    """Without the token nothing is answered but the health check; with it alone no route and no page says anything of a run."""
    add_run(tmp_path / "runs", RUN, [{"step": 0, "response": "a response that is secret", "reward": 1.0}])
    address, _, token = serve(tmp_path / "runs", "--login", str(Provider(9).secrets(tmp_path))).partition("?token=")
    assert token
    for method in ("GET", "HEAD", "POST", "PUT", "OPTIONS"):
        for path in ASKED:
            answer = requests.request(method, address + path, allow_redirects=False, timeout=30)
            assert answer.status_code == 403, (method, path)
    assert requests.get(f"{address}_stcore/health", timeout=30).text == "ok"

    reader = requests.Session()
    reader.get(f"{address}?token={token}", timeout=30)
    for path in ASKED:
        answer = reader.get(address + path, allow_redirects=False, timeout=30)
        assert "secret" not in re.sub(rf"run={RUN}", "", answer.text + answer.headers.get("location", "")), path
        assert answer.status_code == 403 or not path.startswith("export"), path
    cookie = "; ".join(f"{one.name}={one.value}" for one in reader.cookies)
    with Session(address, f"{cookie}; _streamlit_user=forged") as session:
        texts = session.page(run=RUN)
    assert any("Log in to see the runs" in text for text in texts)
    assert not any("secret" in text for text in texts)


def test_a_log_in_without_the_token_is_refused(tmp_path: Path) -> None:
    """As what is no page knows no log-in."""
    with pytest.raises(BoardError, match="leave out --no-token"):
        app.serve(tmp_path, print, {}, token=False, login=Provider(9).secrets(tmp_path))


def test_several_boards_have_one_token(serve: Serve, tmp_path: Path) -> None:
    """A variable names it, where readers come now to one board and now to another."""
    token = "a-token_that-nobody-guesses-7"
    assert serve(tmp_path, "--token", first=f"import os; os.environ['RL_BOARD_TOKEN'] = {token!r}").endswith(f"?token={token}")


def test_a_token_that_could_be_guessed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or that no cookie holds."""
    for token in ("short", "a token; of 24 characters or more"):
        monkeypatch.setenv("RL_BOARD_TOKEN", token)
        with pytest.raises(BoardError, match="at least 24"):
            app.serve(tmp_path, print, {"server.port": 0}, token=True)
