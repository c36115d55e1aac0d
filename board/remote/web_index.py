"""An HTML page that lists a folder, as Python's http.server, nginx and Apache write them → the names of what is directly below.

Links to anywhere else, with a query, or to more than one level below are not followed. Knows no network.
"""

from contextlib import suppress
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit


class _Links(HTMLParser):
    """Gathers where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the address of a link."""
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def names_listed(page: str, address: str) -> tuple[list[str], list[str]]:
    """The files and the folders, each by its name, that a page links to, which was found at `address`, a web address that ends with `/`."""
    links = _Links()
    with suppress(AssertionError):  # which the parser raises for declarations that are none: the links before them count
        links.feed(page)
    base = urlsplit(address)
    above = unquote(base.path)
    files: dict[str, None] = {}
    folders: dict[str, None] = {}
    for link in links.found:
        try:
            there = urlsplit(urljoin(address, link))
        except ValueError:  # what nobody could follow
            continue
        path = unquote(there.path)
        if (there.scheme, there.netloc) != (base.scheme, base.netloc) or there.query or not path.startswith(above):
            continue
        name = path[len(above) :]
        inside = name.removesuffix("/")
        if inside and "/" not in inside and inside not in (".", ".."):
            (folders if name.endswith("/") else files).setdefault(inside)
    return [*files], [*folders]
