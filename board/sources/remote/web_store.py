"""A web server that lists its folders as pages of links and serves ranges of bytes, as a store of objects.

fsspec's `HTTPFileSystem` has the session here and no more: it reads whatever a server sends, takes the whole for a range, looks at no
version and follows every link. Here a server is not believed: bytes, seconds, folders and redirects are bounded, by what aiohttp offers.
Credentials come from `~/.netrc`; no redirect leads to another host, or out of the folder.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote, urljoin, urlsplit

import aiohttp
from fsspec.implementations.http import HTTPFileSystem
from yarl import URL

from board.sources.remote.addresses import Address
from board.sources.remote.object_store import (
    Denied,
    ObjectStore,
    Passing,
    RemoteObject,
    RemoteTrouble,
    Replaced,
    Vanished,
    all_of,
    waited,
    with_retries,
)

HEAD_SECONDS: Final = 30.0
"""Until the head of an answer is there."""

BODY_SECONDS: Final = 300.0
"""Until the rest of it is there."""

_BETWEEN_SECONDS: Final = 30.0
"""Between two pieces of an answer."""

_MOST_PAGE: Final = 16 << 20
_MOST_DEPTH: Final = 16
_MOST_FOLDERS: Final = 5_000
_MOST_LISTING: Final = 600.0
"""Seconds."""
_MOST_SIZE: Final = 1 << 40
"""Bytes of a file."""
_LAST_TIME: Final = 1 << 62
"""In ns since 1970: no file system takes a much later one."""
_MOST_REDIRECTS: Final = 3
_LOOKED_AT_ONCE: Final = 256

_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_DENIED: Final = frozenset({401, 403, 407})
_GONE: Final = frozenset({404, 410})
_REPLACED: Final = frozenset({412, 416})

_T = TypeVar("_T")

_NUMBER: Final = re.compile("[0-9]{1,18}")


class WebStore(ObjectStore):
    """One host."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self._host = address.store
        self._files = HTTPFileSystem(skip_instance_cache=True, get_client=_session)

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """The files of the pages below a prefix; a server that hides its folders has none. Raises RemoteTrouble."""
        waiting, folders_listed, until = [(prefix, 0)], 0, time.monotonic() + _MOST_LISTING
        self.left_out = {}
        while waiting:
            folder, depth = waiting.pop()
            folders_listed += 1
            if folders_listed > _MOST_FOLDERS:
                raise RemoteTrouble(f"lists more than {_MOST_FOLDERS:,} folders: name one of them")
            try:
                files, folders = waited(with_retries(lambda folder=folder: self._listed(folder)))  # type: ignore[misc]
            except RemoteTrouble as error:
                if not depth or isinstance(error, Denied | Passing):
                    raise
                self.left_out[f"{folder}/"] = str(error.strerror)
                continue
            keys = [f"{folder}/{name}".lstrip("/") for name in files]
            for at in range(0, len(keys), _LOOKED_AT_ONCE):
                if time.monotonic() > until:
                    raise RemoteTrouble(f"takes more than {_MOST_LISTING:.0f} seconds to list: name a folder of it")
                yield from self._found(keys[at : at + _LOOKED_AT_ONCE])
            if depth < _MOST_DEPTH:
                waiting += [(f"{folder}/{name}".lstrip("/"), depth + 1) for name in reversed(folders)]

    def _found(self, keys: list[str]) -> Iterator[RemoteObject]:
        """Those that are there still, and of which the server says what can be."""
        looks = waited(all_of([lambda key=key: with_retries(lambda: self.look(key)) for key in keys]))  # type: ignore[misc]
        for key, found in zip(keys, looks, strict=True):
            if isinstance(found, RemoteObject):
                yield found
            elif not isinstance(found, RemoteTrouble) or isinstance(found, Denied | Passing):  # of the server, not of this file
                raise found
            elif not isinstance(found, Vanished):
                self.left_out[key] = str(found.strerror)

    async def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        async with self._ask("GET", f"{folder}/" if folder else "") as answer:
            if "html" not in answer.headers.get("Content-Type", ""):
                raise RemoteTrouble("lists no files as a web page of links: the board needs such a list")
            page = bytearray()
            await _take(answer, _MOST_PAGE + 1, page)
            if len(page) > _MOST_PAGE:
                raise RemoteTrouble("gives a list of files that is too long")
            return names_listed(page.decode("utf-8", "replace"), str(answer.url))

    async def look(self, key: str) -> RemoteObject:
        """Size, time and version by what the server says of the file. Raises RemoteTrouble."""
        async with self._ask("HEAD", key) as answer:
            if "Content-Length" not in answer.headers:
                raise RemoteTrouble("does not say how long its files are, which the board needs to know")
            size = _number(answer.headers["Content-Length"])
            if not 0 <= size <= _MOST_SIZE:
                raise RemoteTrouble("the server gives a length of the file that cannot be right")
            return _described(key, size, answer)

    async def read(self, found: RemoteObject, start: int, stop: int, into: bytearray) -> None:
        """A range of the file, by a server that serves ranges; a small file whole by any. Raises RemoteTrouble."""
        async with self._ask("GET", found.key, {"Range": f"bytes={start}-{stop - 1}"}) as answer:
            whole = answer.status == 200
            if whole and (start > 0 or stop < found.size):
                raise RemoteTrouble("is on a server that does not serve ranges of bytes, which the board needs")
            said = answer.headers.get("Content-Range", "")
            size = _number(answer.headers.get("Content-Length", "") if whole else said.rpartition("/")[2])
            if size < 0:
                raise RemoteTrouble("the server does not say which bytes it sent")
            if _described(found.key, size, answer).version != found.version or size != found.size:
                raise Replaced
            if not whole and not said.startswith(f"bytes {start}-"):
                raise Passing("the server sent other bytes than were requested")
            await _take(answer, stop - start, into)

    @asynccontextmanager
    async def _ask(self, method: str, key: str, headers: dict[str, str] | None = None) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer where it is good, which ends with the context. Raises RemoteTrouble."""
        address = f"{self._host}/{quote(key)}"
        for _ in range(_MOST_REDIRECTS):
            session = await self._files.set_session()
            request = session.request(method, URL(address, encoded=True), headers=headers, allow_redirects=False)
            answer = await _in_time(HEAD_SECONDS, request)
            try:
                if answer.status not in (301, 302, 303, 307, 308) or "Location" not in answer.headers:
                    _check(answer)
                    yield answer
                    return
                address = _redirected(address, answer.headers["Location"], self._host)
            finally:
                answer.close()  # which hangs up where some of it is not read
        raise RemoteTrouble("redirects without end")


async def _session(**options: Any) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Accept-Encoding": "identity"},
        auto_decompress=False,
        trust_env=True,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=10.0, sock_read=_BETWEEN_SECONDS),
        **options,
    )


async def _in_time(seconds: float, request: Coroutine[Any, Any, _T]) -> _T:
    """The result of a request, given up after so many seconds. Raises RemoteTrouble."""
    try:
        async with asyncio.timeout(seconds):
            return await request
    except aiohttp.ClientSSLError as error:
        raise RemoteTrouble("cannot be reached safely: the server's certificate is not accepted") from error
    except (aiohttp.ClientResponseError, ValueError) as error:
        raise RemoteTrouble(f"the server gives an answer that is none ({type(error).__name__})") from error
    except (aiohttp.ClientError, OSError) as error:
        raise Passing(f"cannot be reached, or the connection was cut ({type(error).__name__})") from error


async def _take(answer: aiohttp.ClientResponse, most: int, into: bytearray) -> None:
    """The bytes as they come, `most` of them; what a server sends beyond is not read. Raises RemoteTrouble."""

    async def take() -> None:
        stop = len(into) + most
        async for piece in answer.content.iter_any():
            into.extend(piece[: stop - len(into)])
            if len(into) >= stop:
                return

    await _in_time(BODY_SECONDS, take())


def _redirected(address: str, location: str, host: str) -> str:
    """Where an answer leads: to the same address or below it. Raises RemoteTrouble."""
    try:
        there = urljoin(address, location)
        parts = urlsplit(there)
    except ValueError as error:
        raise RemoteTrouble("redirects to what is no address") from error
    if f"{parts.scheme}://{parts.netloc}" != host or parts.query:
        raise RemoteTrouble("redirects elsewhere, where the board does not follow")
    path, before = unquote(parts.path), unquote(urlsplit(address).path)
    climbs = not {".", ".."}.isdisjoint(unquote(path).replace("\\", "/").split("/"))
    if climbs or (path != before and not path.startswith(f"{before.rstrip('/')}/")):
        raise RemoteTrouble("redirects out of the folder that is read, where the board does not follow")
    return there


def _check(answer: aiohttp.ClientResponse) -> None:
    """Raises RemoteTrouble where an answer is not good."""
    code = answer.status
    if code in (200, 206) and answer.headers.get("Content-Encoding", "identity") == "identity":
        return
    if code in _DENIED:
        raise Denied(f"the server refuses it ({code}): give credentials for the host in ~/.netrc")
    if code in _GONE:
        raise Vanished(f"it is not there ({code})")
    if code in _REPLACED:
        raise Replaced
    if code in _PASSING:
        raise Passing(f"the server could not serve it ({code})")
    raise RemoteTrouble(f"the server answered in a way the board does not take ({code})")


def _described(key: str, size: int, answer: aiohttp.ClientResponse) -> RemoteObject:
    said = answer.headers.get("Last-Modified", "")
    try:
        modified = int(parsedate_to_datetime(said).timestamp() * 1e9) if said else 0
    except (ValueError, OverflowError):
        modified = 0
    version = answer.headers.get("ETag") or f"{said} {size}"  # of which aiohttp takes 8 kB at most
    return RemoteObject(key, size, modified if 0 <= modified < _LAST_TIME else 0, version)


def _number(text: str) -> int:
    """A number of bytes as headers say it; -1 for anything else."""
    return int(text) if _NUMBER.fullmatch(text.strip()) else -1


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
    """The files and the folders, each by its name, that a page links to, which was found at `address`, a web address that ends with `/`.

    Links to anywhere else, with a query, or to more than one level below are not followed.
    """
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
        except ValueError:  # a link that leads nowhere
            continue
        path = unquote(there.path)
        if (there.scheme, there.netloc) != (base.scheme, base.netloc) or there.query or not path.startswith(above):
            continue
        name = path[len(above) :]
        inside = name.removesuffix("/")
        if inside and "/" not in inside and inside not in (".", ".."):
            (folders if name.endswith("/") else files).setdefault(inside)
    return [*files], [*folders]
