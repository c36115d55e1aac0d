"""A web server that lists its folders as pages and serves ranges of bytes, as a store of objects.

Credentials come from where `requests` looks for them, `~/.netrc`. No redirect leads to another host. Whatever a server says is bounded: sizes,
numbers of folders, bytes and seconds of an answer. Knows no run.
"""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from http.client import HTTPException
from http.cookiejar import DefaultCookiePolicy
from threading import local
from typing import Final
from urllib.parse import quote, unquote, urljoin, urlsplit

import requests
from urllib3.exceptions import HTTPError

from board.remote import timed_connections, web_index
from board.remote.addresses import Address
from board.remote.fetch_threads import FetchThreads
from board.remote.object_store import Denied, Elsewhere, Passing, RemoteObject, RemoteTrouble, Replaced, Vanished
from board.remote.retrying import with_retries

_SECONDS: Final = (10.0, 30.0)
"""To connect, and between two pieces of an answer."""

_MOST_PAGE: Final = 16 << 20
_MOST_DEPTH: Final = 16
_MOST_FOLDERS: Final = 5_000
_MOST_LISTING: Final = 600.0
"""Seconds."""
_MOST_SIZE: Final = 1 << 40
"""Bytes of a file."""
_MOST_VERSION: Final = 200
_LAST_TIME: Final = 1 << 62
"""In ns since 1970: no file system takes a much later one."""
_MOST_REDIRECTS: Final = 3
_PIECE: Final = 1 << 16
_LOOKED_AT_ONCE: Final = 256

_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_DENIED: Final = frozenset({401, 403, 407})
_GONE: Final = frozenset({404, 410})
_REPLACED: Final = frozenset({412, 416})

_CUT: Final = (OSError, ValueError, HTTPException, HTTPError)
"""What `requests` and what is below it raise for an answer that does not come, or is none."""

_NUMBER: Final = re.compile("[0-9]{1,18}")


class WebStore:
    """One host. Each thread has its own connections."""

    def __init__(self, address: Address) -> None:
        self._host = address.store
        self._local = local()
        self._threads = FetchThreads()
        self.left_out: dict[str, str] = {}

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
                files, folders = with_retries(lambda folder=folder: self._listed(folder))  # type: ignore[misc]
            except RemoteTrouble as error:
                if not depth or isinstance(error, Denied | Passing):
                    raise
                self.left_out[f"{folder}/"] = str(error.strerror)
                continue
            keys = [f"{folder}/{name}".lstrip("/") for name in files]
            for at in range(0, len(keys), _LOOKED_AT_ONCE):
                if time.monotonic() > until:
                    raise RemoteTrouble(f"takes more than {_MOST_LISTING:.0f} seconds to list: name a folder of it")
                futures = {key: self._threads.submit(self._looker(key)) for key in keys[at : at + _LOOKED_AT_ONCE]}
                yield from filter(None, (self._found(key, future) for key, future in futures.items()))
            if depth < _MOST_DEPTH:
                waiting += [(f"{folder}/{name}".lstrip("/"), depth + 1) for name in reversed(folders)]

    def _found(self, key: str, future: "Future[RemoteObject]") -> RemoteObject | None:
        """What was found; None where it has gone since it was listed, or what the server says of it cannot be used."""
        try:
            return future.result()
        except Vanished:
            return None
        except RemoteTrouble as error:
            if isinstance(error, Denied | Passing):  # of the server, not of this file
                raise
            self.left_out[key] = str(error.strerror)
            return None

    def _looker(self, key: str) -> Callable[[], RemoteObject]:
        return lambda: with_retries(lambda: self.look(key))

    def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        with self._asked("GET", f"{folder}/" if folder else "", {}) as answer:
            if "html" not in answer.headers.get("Content-Type", ""):
                raise RemoteTrouble("lists no files as a web page of links: the board needs such a list")
            page = bytearray()
            for piece in _pieces(answer, _MOST_PAGE + 1):
                page += piece
            if len(page) > _MOST_PAGE:
                raise RemoteTrouble("gives a list of files that is too long")
            return web_index.names_listed(page.decode("utf-8", "replace"), answer.url)

    def look(self, key: str) -> RemoteObject:
        """Size, time and version by what the server says of the file. Raises RemoteTrouble."""
        with self._asked("HEAD", key, {}) as answer:
            if "Content-Length" not in answer.headers:
                raise RemoteTrouble("does not say how long its files are, which the board needs to know")
            size = _number(answer.headers["Content-Length"])
            if not 0 <= size <= _MOST_SIZE:
                raise RemoteTrouble("the server gives a length of the file that cannot be right")
            return _described(key, size, answer)

    def read(self, found: RemoteObject, start: int, stop: int) -> Iterator[bytes]:
        """A range of the file, by a server that serves ranges; a small file whole by any. Raises RemoteTrouble."""
        with self._asked("GET", found.key, {"Range": f"bytes={start}-{stop - 1}"}) as answer:
            whole = answer.status_code == 200
            if whole and (start > 0 or stop < found.size):
                raise RemoteTrouble("is on a server that does not serve ranges of bytes, which the board needs")
            said = answer.headers.get("Content-Range", "")
            size = _number(answer.headers.get("Content-Length", "") if whole else said.rpartition("/")[2])
            if size < 0:
                raise RemoteTrouble("the server does not say which bytes it sent")
            if _described(found.key, size, answer).version != found.version or size != found.size:
                raise Replaced("was changed while it was being read: look again")
            if not whole and not said.startswith(f"bytes {start}-"):
                raise Passing("the server sent other bytes than were asked for")
            yield from _pieces(answer, stop - start)

    def _asked(self, method: str, key: str, headers: dict[str, str]) -> requests.Response:
        address = f"{self._host}/{quote(key)}"
        for _ in range(_MOST_REDIRECTS):
            answer = self._answer(method, address, headers)
            if not answer.is_redirect:
                return _checked(answer)
            answer.close()
            address = _redirected(address, answer.headers["Location"], self._host)
        raise RemoteTrouble("redirects without end")

    def _answer(self, method: str, address: str, headers: dict[str, str]) -> requests.Response:
        session = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = timed_connections.session()
            session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        try:
            return session.request(
                method,
                address,
                headers={"Accept-Encoding": "identity", **headers},
                stream=True,
                allow_redirects=False,
                timeout=_SECONDS,
            )
        except requests.exceptions.SSLError as error:
            raise RemoteTrouble("cannot be reached safely: the server's certificate is not accepted") from error
        except _CUT as error:
            raise Passing(f"cannot be reached ({type(error).__name__})") from error


def _redirected(address: str, location: str, host: str) -> str:
    """Where an answer leads: to the same address or below it. Raises Elsewhere."""
    try:
        there = urljoin(address, location)
        parts = urlsplit(there)
    except ValueError as error:
        raise Elsewhere("redirects to what is no address") from error
    if f"{parts.scheme}://{parts.netloc}" != host or parts.query:
        raise Elsewhere("redirects elsewhere, where the board does not follow")
    path, before = unquote(parts.path), unquote(urlsplit(address).path)
    climbs = not {".", ".."}.isdisjoint(unquote(path).replace("\\", "/").split("/"))
    if climbs or (path != before and not path.startswith(f"{before.rstrip('/')}/")):
        raise Elsewhere("redirects out of the folder that is read, where the board does not follow")
    return there


def _checked(answer: requests.Response) -> requests.Response:
    """The answer where it is good. Raises RemoteTrouble."""
    code = answer.status_code
    if code in (200, 206) and answer.headers.get("Content-Encoding", "identity") == "identity":
        return answer
    answer.close()
    if code in _DENIED:
        raise Denied(f"the server refuses it ({code}): give credentials for the host in ~/.netrc")
    if code in _GONE:
        raise Vanished(f"it is not there ({code})")
    if code in _REPLACED:
        raise Replaced("was changed while it was being read: look again")
    if code in _PASSING:
        raise Passing(f"the server could not serve it ({code})")
    raise RemoteTrouble(f"the server answered in a way the board does not take ({code})")


def _pieces(answer: requests.Response, most: int) -> Iterator[bytes]:
    """The bytes as they come, `most` of them; what a server sends beyond is not read."""
    try:
        with timed_connections.cut_in_time(answer):
            while most > 0 and (piece := answer.raw.read(min(_PIECE, most), decode_content=False)):
                most -= len(piece)
                yield piece
    except _CUT as error:
        raise Passing(f"the connection was cut ({type(error).__name__})") from error


def _described(key: str, size: int, answer: requests.Response) -> RemoteObject:
    said = answer.headers.get("Last-Modified", "")
    try:
        modified = int(parsedate_to_datetime(said).timestamp() * 1e9) if said else 0
    except (ValueError, OverflowError):
        modified = 0
    version = answer.headers.get("ETag") or f"{said} {size}"
    if len(version) > _MOST_VERSION:
        version = blake2b(version.encode(errors="surrogatepass"), digest_size=16).hexdigest()
    return RemoteObject(key, size, modified if 0 <= modified < _LAST_TIME else 0, version)


def _number(text: str) -> int:
    """A number of bytes as headers say it; -1 for anything else."""
    return int(text) if _NUMBER.fullmatch(text.strip()) else -1
