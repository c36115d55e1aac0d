"""Addresses of remote runs, such as `s3://bucket/prefix`: text ⇄ parts.

Others are `gs://`, `hf://`, `https://`, `ssh://`. No network. An address is shown, logged, linked and stored in the cache, so it holds no
credentials: one that does is refused, and not repeated.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from board.errors import ArgumentRefused

SCHEMES: Final = ("s3", "gs", "hf", "http", "https", "ssh")

_WITH_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_WEB: Final = ("http", "https")
_WITHOUT_HOST: Final = ("hf",)
_HOST: Final = re.compile(r"(?:[A-Za-z0-9._~-]+@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_LONGEST: Final = 180
"""Letters of a bucket's or host's name, after which a folder is called."""
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,221}")


@dataclass(frozen=True)
class Address:
    """A prefix in a store: what lies below it may be read, and nothing else of the store."""

    scheme: str
    authority: str
    """The bucket or host, with its port where one is given; empty for `hf`."""
    prefix: str
    """Below the authority, without `/` at its ends; as names are, not as a web address writes them."""

    @property
    def store(self) -> str:
        """What holds it, as an address: the bucket or host."""
        return f"{self.scheme}://{self.authority}"

    def __str__(self) -> str:
        path = quote(self.prefix) if self.scheme in _WEB else self.prefix
        return f"{self.store}/{path}".rstrip("/") if self.authority else f"{self.scheme}://{path}"


def is_address(text: str) -> bool:
    """Whether a text is an address rather than a path: it begins with a scheme and `://`."""
    return _WITH_SCHEME.match(text) is not None


def parsed(text: str) -> Address:
    """The parts of an address. Raises ArgumentRefused for one that cannot be read, or that holds what must stay secret."""
    found = _WITH_SCHEME.fullmatch(text)
    scheme = found[1].lower() if found else ""
    if found is None or scheme not in SCHEMES:
        named = f"{scheme}:// is none the board reads" if scheme else "it has no scheme"
        raise ArgumentRefused(f"This address cannot be opened, as {named}: it takes {', '.join(f'{one}://' for one in SCHEMES)}.")
    authority, _, path = ("", "", found[2]) if scheme in _WITHOUT_HOST else found[2].partition("/")
    _refuse_secrets(scheme, authority, path)
    if scheme in _WEB:
        authority, path = authority.lower(), unquote(path)
    path = path.removesuffix("/")
    parts = path.split("/") if path else []
    if any(part in ("", ".", "..") for part in parts) or not path.isprintable():
        raise ArgumentRefused(
            f"This {scheme}:// address cannot be opened: a part of its path is empty, '.', '..' or not printable."
        )
    is_named = scheme in _WITHOUT_HOST or (_BUCKET if scheme in ("s3", "gs") else _HOST).fullmatch(authority)
    if not is_named or len(authority) > _LONGEST:
        raise ArgumentRefused(
            f"This {scheme}:// address cannot be opened: what follows {scheme}:// is no name of a bucket or host."
        )
    return Address(scheme, authority, "/".join(parts))


def _refuse_secrets(scheme: str, authority: str, path: str) -> None:
    """Raises ArgumentRefused, which does not repeat what it refuses: it would be shown and logged."""
    user, at, host = authority.rpartition("@")
    if at and (":" in user or scheme != "ssh"):
        raise ArgumentRefused(
            f"The address {scheme}://…@{host}/… holds a name or password. Addresses are shown and stored: give credentials by the "
            "system's usual means (docs/remote.md says which) and leave them out of it."
        )
    if scheme in _WEB and ("?" in path or "#" in path or "?" in authority):
        host = authority.partition("?")[0]
        raise ArgumentRefused(
            f"The address {scheme}://{host}/… has a query or a fragment. Signed addresses carry their credentials there: leave it "
            "out and give credentials by the system's usual means (docs/remote.md says which)."
        )
