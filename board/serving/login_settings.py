"""The file of secrets that has readers log in: found, read and looked at, so that half of a log-in is a sentence and not an open door.

Streamlit reads the same file when somebody logs in. Knows TOML and addresses; knows neither requests nor cookies.
"""

import stat
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from board.errors import BoardError, pip_install
from board.serving.admission import Admission, is_entry
from board.serving.open_logins import MOST_HOURS

CALLBACK: Final = "oauth2callback"
"""Where the provider sends the reader back to, below what all addresses begin with."""

DEFAULT: Final = "default"
"""The name of the provider whose settings stand in [auth] itself."""

_HOURS: Final = 12.0
_MOST_BYTES: Final = 1_000_000
_SHORTEST_SECRET: Final = 32
_OF_PROVIDER: Final = ("client_id", "client_secret", "server_metadata_url")
_OF_BOARD: Final = ("allow", "hours", "trust_unverified")
_LIBRARIES: Final = {"authlib": "Authlib", "httpx": "httpx"}


@dataclass(frozen=True)
class LoginSettings:
    """Who may log in, where, and for how long."""

    file: Path
    """Of secrets: for the user alone."""
    providers: tuple[str, ...]
    """The names that the file gives them; `default` for the one that has none."""
    host: str
    """The name by which readers reach the board."""
    is_https: bool
    admission: Admission
    hours: float

    @property
    def is_open_to_others(self) -> bool:
        """Whether other users of this machine can read the file."""
        return bool(self.file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def as_plain(settings: LoginSettings) -> dict[str, Any]:
    """The settings as JSON can hold them, for another process: what was read at the start counts for all."""
    return {**asdict(settings), "file": str(settings.file)}


def from_plain(told: Mapping[str, Any]) -> LoginSettings:
    """The settings that `as_plain` told."""
    admission = Admission(tuple(told["admission"]["allow"]), told["admission"]["trust_unverified"])
    return LoginSettings(**{**told, "file": Path(told["file"]), "providers": tuple(told["providers"]), "admission": admission})


def found(files: Sequence[Path]) -> Path | None:
    """The last of these files that has an [auth], which is the one Streamlit would go by. Raises BoardError for one that cannot be read."""
    having = [file for file in files if file.is_file() and "auth" in _told(file)]
    return having[-1] if having else None


def read(file: Path, base: str) -> LoginSettings:
    """The settings in a file, for a board whose addresses begin with `base` (without slashes).

    Raises BoardError with what is missing or wrong, never with a value, and where a library is missing.
    """
    told = _told(file)
    auth = told.get("auth")
    if not isinstance(auth, dict):
        raise BoardError(f"{file} has no [auth], which says by whom readers are logged in: see docs/hosting.md.")
    address = _own_address(file, auth, base)
    secret = _text(file, auth, "cookie_secret")
    if len(secret) < _SHORTEST_SECRET:
        raise BoardError(
            f"{file}: cookie_secret in [auth] is shorter than {_SHORTEST_SECRET} characters, and could be guessed: "
            'python -c "import secrets; print(secrets.token_urlsafe(48))" makes one.'
        )
    settings = LoginSettings(
        file.resolve(),
        _providers(file, auth),
        address.hostname or "",
        address.scheme == "https",
        *_of_board(file, told.get("board", {})),
    )
    for module, name in _LIBRARIES.items():
        if find_spec(module) is None:
            raise BoardError(
                f"To have readers log in, {name} is needed, which is not installed: {pip_install(*_LIBRARIES.values())}"
            )
    return settings


def _told(file: Path) -> Mapping[str, Any]:
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            raise BoardError(f"{file} is no file of secrets.")
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is no TOML"  # the words of a parser quote what they do not take
        raise BoardError(f"{file} cannot be read as a file of secrets: {reason}.") from None


def _text(file: Path, table: Mapping[str, Any], name: str, where: str = "auth") -> str:
    value = table.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BoardError(f"{file}: [{where}] has no {name}, without which nobody can log in. See docs/hosting.md.")
    return value


def _own_address(file: Path, auth: Mapping[str, Any], base: str) -> SplitResult:
    given = _text(file, auth, "redirect_uri").replace("{port}", "1")  # Streamlit puts its own there
    address, path = _split(file, given, "redirect_uri", "auth"), f"/{base}/{CALLBACK}".replace("//", "/")
    if address.path != path or address.query or address.fragment:
        raise BoardError(f"{file}: redirect_uri in [auth] must end with the board's own address {path} and nothing behind it.")
    return address


def _split(file: Path, text: str, name: str, where: str) -> SplitResult:
    """An absolute address; beyond this machine by TLS alone, as whoever hears a log-in can use it."""
    try:
        address = urlsplit(text)
        host, _ = address.hostname, address.port
    except ValueError:
        address, host = SplitResult("", "", "", "", ""), None
    if address.scheme not in ("http", "https") or not host:
        raise BoardError(f"{file}: {name} in [{where}] is no address, such as https://board.example.org/{CALLBACK}.")
    if address.scheme == "http" and not _is_this_machine(host):
        raise BoardError(f"{file}: {name} in [{where}] must begin with https://, as others could take over a log-in without TLS.")
    return address


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _providers(file: Path, auth: Mapping[str, Any]) -> tuple[str, ...]:
    tables: dict[str, Mapping[str, Any]] = {
        name: table for name, table in auth.items() if isinstance(table, dict) and name != "client_kwargs"
    }
    if any(name in auth for name in _OF_PROVIDER) or not tables:
        tables = {DEFAULT: auth} | tables
    for name, table in tables.items():
        where = "auth" if name == DEFAULT else f"auth.{name}"
        if not name.isascii() or not name.replace("-", "").isalnum():
            raise BoardError(f"{file}: [{where}] names a provider by more than letters, digits and hyphens.")
        for key in _OF_PROVIDER:
            _text(file, table, key, where)
        _split(file, table["server_metadata_url"], "server_metadata_url", where)
    return tuple(tables)


def _of_board(file: Path, table: object) -> tuple[Admission, float]:
    if not isinstance(table, dict) or (unknown := sorted(set(table) - set(_OF_BOARD))):
        what = f"knows no {unknown[0]}" if isinstance(table, dict) else "is no table"
        raise BoardError(f"{file}: [board] {what}; it may have {', '.join(_OF_BOARD)}.")
    allow, hours, trust = table.get("allow", []), table.get("hours", _HOURS), table.get("trust_unverified", False)
    if not isinstance(allow, list) or not all(isinstance(entry, str) and is_entry(entry) for entry in allow):
        raise BoardError(f'{file}: allow in [board] is a list of addresses and domains: ["ana@example.org", "@lab.example.org"].')
    if "allow" in table and not allow:
        raise BoardError(f"{file}: allow in [board] is empty, so that nobody could log in: name somebody, or leave it out.")
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours <= MOST_HOURS:
        raise BoardError(f"{file}: hours in [board] is a number above 0 and up to {MOST_HOURS:g}.")
    if not isinstance(trust, bool):
        raise BoardError(f"{file}: trust_unverified in [board] is true or false.")
    return Admission(tuple(allow), trust), float(hours)
