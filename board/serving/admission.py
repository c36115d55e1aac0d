"""Who, of those whom a provider logged in, is let in: by address or by the domain of an address. Knows claims, and no request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Admission:
    """A list of addresses (`ana@example.org`) and domains (`@example.org`); without any, everybody whom the provider logged in."""

    allow: Sequence[str] = ()
    trust_unverified: bool = False
    """Whether an address counts that the provider does not call verified: for one whose users cannot choose theirs."""

    def admits(self, claims: Mapping[str, Any]) -> bool:
        """Whether somebody of these claims (OpenID Connect Core 1.0, section 5.1) is let in."""
        if not self.allow:
            return True
        address = _plain(claims.get("email"))
        if not address or not (self.trust_unverified or claims.get("email_verified") is True):
            return False
        domain = address[address.rindex("@") :]
        return any(_plain_entry(entry) in (address, domain) for entry in self.allow)


def is_entry(text: str) -> bool:
    """Whether a text is an address or a domain behind an `@`, of letters that look like no others."""
    before, at, domain = text.rpartition("@")
    return text.isascii() and bool(at and domain) and "@" not in before and not any(letter.isspace() for letter in text)


def _plain(value: object) -> str:
    """An address in lower case; empty where it is none, or has letters beyond ASCII, some of which become ASCII ones in lower case."""
    return value.lower() if isinstance(value, str) and is_entry(value) and not value.startswith("@") else ""


def _plain_entry(entry: str) -> str:
    return entry.lower()
