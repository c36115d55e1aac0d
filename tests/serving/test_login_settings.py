"""Tests of the file of secrets: what may stand in it, and that half of a log-in does not start."""

import json
from pathlib import Path

import pytest

from board.errors import BoardError
from board.serving import app, login_settings

AUTH = {
    "redirect_uri": '"https://board.example.org/rl/oauth2callback"',
    "cookie_secret": '"0123456789abcdef0123456789abcdef"',
    "client_id": '"board"',
    "client_secret": '"SECRET"',
    "server_metadata_url": '"https://login.example.org/.well-known/openid-configuration"',
}


def written(folder: Path, board: str | None = "", more: str | None = "", **changed: str | None) -> Path:
    """A file of secrets with some settings of [auth] changed, or left out where they are None."""
    lines = [f"{name} = {value}" for name, value in (AUTH | changed).items() if value is not None]
    file = folder / "secrets.toml"
    file.write_text("\n".join(["[auth]", *lines, more or "", "[board]", board or ""]))
    file.chmod(0o600)
    return file


def test_whole(tmp_path: Path) -> None:
    """What readers need to log in, and what may be left out."""
    found = login_settings.read(written(tmp_path, 'allow = ["ana@example.org", "@lab.example.org"]\nhours = 1.5'), "rl")
    assert (found.providers, found.host, found.is_https, found.hours) == (("default",), "board.example.org", True, 1.5)
    assert found.admission.allow == ("ana@example.org", "@lab.example.org")
    assert not found.is_open_to_others
    plain = login_settings.read(written(tmp_path), "rl")
    assert (plain.admission.allow, plain.hours) == ((), 12.0)
    plain.file.chmod(0o640)
    assert plain.is_open_to_others


def test_another_process_is_told_the_same(tmp_path: Path) -> None:
    """What JSON has carried to a worker is what was read, also where the file has changed since."""
    found = login_settings.read(written(tmp_path, 'allow = ["ana@example.org"]\nhours = 1.5'), "rl")
    assert login_settings.from_plain(json.loads(json.dumps(login_settings.as_plain(found)))) == found


def test_several_providers(tmp_path: Path) -> None:
    """Each in a table of its own, beside the one that has no name or without it."""
    ours: dict[str, str | None] = {name: AUTH[name] for name in ("client_id", "client_secret", "server_metadata_url")}
    named = "[auth.okta]\n" + "\n".join(f"{name} = {value}" for name, value in ours.items())
    assert login_settings.read(written(tmp_path, more=named), "rl").providers == ("default", "okta")
    alone = written(tmp_path, more=named, **dict[str, None].fromkeys(ours))
    assert login_settings.read(alone, "rl").providers == ("okta",)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        *(pytest.param({name: None}, f"no {name}", id=f"no {name}") for name in AUTH),
        *(pytest.param({name: '""'}, f"no {name}", id=f"empty {name}") for name in AUTH),
        *(pytest.param({name: "7"}, f"no {name}", id=f"{name} a number") for name in AUTH),
        pytest.param({"cookie_secret": '"xxx"'}, "shorter than 32", id="a secret to guess"),
        pytest.param({"redirect_uri": '"https://board.example.org/oauth2callback"'}, "/rl/oauth2callback", id="another path"),
        pytest.param({"redirect_uri": '"https://board.example.org/rl/oauth2callback?a=1"'}, "nothing behind it", id="a query"),
        pytest.param({"redirect_uri": '"http://board.example.org/rl/oauth2callback"'}, "https", id="without TLS"),
        pytest.param({"redirect_uri": '"board.example.org/rl/oauth2callback"'}, "no address", id="no scheme"),
        pytest.param({"redirect_uri": '"https://[::1/rl/oauth2callback"'}, "no address", id="no host"),
        pytest.param({"redirect_uri": '"https://board:port/rl/oauth2callback"'}, "no address", id="no port"),
        pytest.param({"server_metadata_url": '"http://login.example.org/x"'}, "https", id="a provider without TLS"),
        pytest.param({"board": "allow = []"}, "is empty", id="nobody allowed"),
        pytest.param({"board": 'allow = "ana@example.org"'}, "list of addresses", id="no list"),
        pytest.param({"board": 'allow = ["ana"]'}, "list of addresses", id="no address"),
        pytest.param({"board": 'allow = ["@"]'}, "list of addresses", id="any domain"),
        pytest.param({"board": 'alow = ["ana@example.org"]'}, "knows no alow", id="misspelt"),
        pytest.param({"board": "hours = 0"}, "hours", id="no hours"),
        pytest.param({"board": "hours = inf"}, "hours", id="for ever"),
        pytest.param({"board": "hours = nan"}, "hours", id="no number of hours"),
        pytest.param({"board": "hours = true"}, "hours", id="hours that are none"),
        pytest.param({"board": "trust_unverified = 1"}, "true or false", id="trust that is none"),
        pytest.param({"more": '[auth.my_okta]\nclient_id = "x"'}, "letters, digits", id="a name Streamlit does not take"),
        pytest.param({"more": '[auth.okta]\nclient_id = "x"'}, r"\[auth.okta\] has no client_secret", id="half a provider"),
    ],
)
def test_half_of_it(tmp_path: Path, changed: dict[str, str | None], said: str) -> None:
    """What is missing or wrong is named, with the file and without any value."""
    with pytest.raises(BoardError, match=said) as refused:
        login_settings.read(written(tmp_path, **changed), "rl")
    assert "secrets.toml" in str(refused.value)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(b"", "no \\[auth\\]", id="empty"),
        pytest.param(b"[board]\nallow = ['ana@example.org']", "no \\[auth\\]", id="a list alone"),
        pytest.param(b"auth = 1", "no \\[auth\\]", id="no table"),
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
        login_settings.read(file, "")
    assert "SECRET" not in str(refused.value)
    with pytest.raises(BoardError):
        login_settings.read(tmp_path, "")


def test_this_machine_needs_no_tls(tmp_path: Path) -> None:
    """To try a log-in out, loopback will do, for the board and for the provider."""
    for host in ("localhost", "127.0.0.1", "[::1]"):
        address = f'"http://{host}:8901/oauth2callback"'
        settings = login_settings.read(written(tmp_path, redirect_uri=address, server_metadata_url=address), "")
        assert not settings.is_https


def test_which_file_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own, where it has an [auth]; never one that lies in the folder of runs that the board is started in."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "runs" / ".streamlit").mkdir(parents=True)
    written(tmp_path / "runs" / ".streamlit")
    monkeypatch.chdir(tmp_path / "runs")
    assert login_settings.found(app.secrets_files({})) is None
    (tmp_path / "home" / ".streamlit").mkdir(parents=True)
    own = tmp_path / "home" / ".streamlit" / "secrets.toml"
    own.write_text("[database]\npassword = 'x'")
    assert login_settings.found(app.secrets_files({})) is None
    written(own.parent)
    assert login_settings.found(app.secrets_files({})) == own
    named = written(tmp_path)
    assert login_settings.found(app.secrets_files({"secrets.files": (str(named),)})) == named
