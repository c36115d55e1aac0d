"""Which file of secrets makes readers log in, and which of those whom a provider logged in may enter. Streamlit does the rest."""

import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any, Final
from urllib.parse import urlsplit

from board.errors import BoardError, pip_install
from board.serving.listening import is_loopback

CALLBACK: Final = "oauth2callback"
"""Where the provider sends the reader back to, below what all addresses begin with."""

REQUIRED: Final = Event()
"""Set where this server has its readers log in: a file of secrets that vanishes later opens nothing."""

_SHORTEST_SECRET: Final = 32
_MOST_BYTES: Final = 1_000_000
_OF_PROVIDER: Final = ("client_id", "client_secret", "server_metadata_url")
_LIBRARIES: Final = {"authlib": "Authlib", "httpx": "httpx"}


@dataclass(frozen=True)
class Admission:
    """Who is let in: addresses (`ana@example.org`) and domains (`@example.org`); without any, everybody whom the provider logged in."""

    allow: Sequence[str] = ()
    trust_unverified: bool = False
    """Whether an address counts that the provider does not call verified: for one whose users cannot choose theirs."""
    hours: float = 12.0
    """How long a log-in lasts."""

    def __post_init__(self) -> None:
        """Raises BoardError for what is no such list or number."""
        if not isinstance(self.allow, list | tuple) or not all(
            isinstance(entry, str) and is_entry(entry) for entry in self.allow
        ):
            raise BoardError('allow in [board] is a list of addresses and domains: ["ana@example.org", "@lab.example.org"].')
        if isinstance(self.hours, bool) or not isinstance(self.hours, int | float) or not 0 < self.hours <= 24 * 365:
            raise BoardError("hours in [board] is a number above 0 and up to 8,760.")
        if not isinstance(self.trust_unverified, bool):
            raise BoardError("trust_unverified in [board] is true or false.")

    def admits(self, claims: Mapping[str, Any]) -> bool:
        """Whether a reader with these claims (OpenID Connect Core 1.0, section 5.1) is let in."""
        if not self.allow:
            return True
        address = _plain(claims.get("email"))
        if not address or not (self.trust_unverified or claims.get("email_verified") is True):
            return False
        domain = address[address.rindex("@") :]
        return any(entry.lower() in (address, domain) for entry in self.allow)

    def is_over(self, claims: Mapping[str, Any]) -> bool:
        """Whether that log-in began too long ago, by its `iat`, which every provider gives (section 2)."""
        began = claims.get("iat")
        return not isinstance(began, int | float) or time.time() - began > 3600 * self.hours


def admission(table: Mapping[str, Any]) -> Admission:
    """What a file of secrets says under [board]. Raises BoardError for what it may not hold."""
    if unknown := sorted(set(table) - set(Admission.__dataclass_fields__)):
        raise BoardError(f"[board] knows no {unknown[0]}; it may have {', '.join(Admission.__dataclass_fields__)}.")
    if table.get("allow") == []:
        raise BoardError("allow in [board] is empty, so that no one could log in: name somebody, or leave it out.")
    return Admission(**table)


def is_entry(text: str) -> bool:
    """Whether a text is an address or a domain behind an `@`, of letters that look like no others."""
    before, at, domain = text.rpartition("@")
    return text.isascii() and bool(at and domain) and "@" not in before and not any(letter.isspace() for letter in text)


def _plain(value: object) -> str:
    """An address in lower case; empty where it is none, or has letters beyond ASCII, some of which become ASCII ones in lower case."""
    return value.lower() if isinstance(value, str) and is_entry(value) and not value.startswith("@") else ""


def found(files: Sequence[Path]) -> Path | None:
    """The last of these files that has an [auth], which is the one Streamlit would go by. Raises BoardError for one that cannot be read."""
    having = [file for file in files if file.is_file() and "auth" in _tables(file)]
    return having[-1] if having else None


def host(file: Path, base: str) -> str:
    """The name by which readers reach the board, as a file of secrets says, for one whose addresses begin with `base` ("/rl").

    Raises BoardError where it says too little for a log-in, or lets no one in, and where a library is missing; never with a value.
    """
    tables = _tables(file)
    auth, own = tables.get("auth"), tables.get("board", {})
    try:
        if not isinstance(auth, dict) or not isinstance(own, dict):
            raise BoardError("there is no table [auth], which says by whom readers are logged in.")
        admission(own)
        address = urlsplit(str(auth.get("redirect_uri", "")).replace("{port}", "1"))
        if not address.hostname or (address.path, address.query, address.fragment) != (f"{base}/{CALLBACK}", "", ""):
            raise BoardError(f"redirect_uri in [auth] is the board's own address with {base}/{CALLBACK} behind it.")
        if address.scheme != "https" and not (address.scheme == "http" and is_loopback(address.hostname)):
            raise BoardError("redirect_uri in [auth] begins with https://, as others could take over a log-in without TLS.")
        named = [table for name, table in auth.items() if isinstance(table, dict) and name != "client_kwargs"]
        for table in [*named, auth] if not named or any(key in auth for key in _OF_PROVIDER) else named:
            if lacking := [key for key in _OF_PROVIDER if not isinstance(table.get(key), str) or not table[key].strip()]:
                raise BoardError(f"[auth] has a provider with no {lacking[0]}, without which no one can log in.")
        secret = auth.get("cookie_secret")
        if not isinstance(secret, str) or len(secret) < _SHORTEST_SECRET:
            raise BoardError(
                f"cookie_secret in [auth] has at least {_SHORTEST_SECRET} characters, as it could be guessed otherwise."
            )
    except (BoardError, ValueError) as error:
        reason = str(error) if isinstance(error, BoardError) else "redirect_uri in [auth] is no address."
        raise BoardError(f"{file}: {reason} See docs/hosting.md.") from None
    if any(find_spec(module) is None for module in _LIBRARIES):
        raise BoardError(
            f"To have readers log in, libraries are needed that are not installed: {pip_install(*_LIBRARIES.values())}"
        )
    return address.hostname


def _tables(file: Path) -> Mapping[str, Any]:
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            raise BoardError(f"{file} is no file of secrets.")
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is no TOML"  # the words of a parser quote what they do not take
        raise BoardError(f"{file} cannot be read as a file of secrets: {reason}.") from None
