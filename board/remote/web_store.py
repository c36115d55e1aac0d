"""A web server that lists its folders as pages and serves ranges of bytes, as a store of objects.

Credentials come from where `requests` looks for them, `~/.netrc`. No redirect leads to another host. Knows no run.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

import requests

from board.remote import web_index
from board.remote.addresses import Address
from board.remote.fetch_threads import FetchThreads
from board.remote.object_store import Denied, Elsewhere, Passing, RemoteObject, RemoteTrouble, Replaced, Vanished
from board.remote.retrying import with_retries

_SECONDS: Final = (10.0, 30.0)
"""To connect, and between two pieces of an answer."""

_MOST_PAGE: Final = 64 << 20
_MOST_DEPTH: Final = 16
_MOST_REDIRECTS: Final = 3
_PIECE: Final = 1 << 16
_LOOKED_AT_ONCE: Final = 256

_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_DENIED: Final = frozenset({401, 403, 407})
_GONE: Final = frozenset({404, 410})
_REPLACED: Final = frozenset({412, 416})


class WebStore:
    """One host. Each thread has its own connections."""

    def __init__(self, address: Address) -> None:
        self._host = address.store
        self._local = threading.local()
        self._threads = FetchThreads()

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """The files of the pages below a prefix; a server that hides its folders has none. Raises RemoteTrouble."""
        waiting = [(prefix, 0)]
        while waiting:
            folder, depth = waiting.pop()
            files, folders = with_retries(lambda folder=folder: self._listed(folder))  # type: ignore[misc]
            keys = [f"{folder}/{name}".lstrip("/") for name in files]
            for at in range(0, len(keys), _LOOKED_AT_ONCE):
                futures = [self._threads.submit(self._looker(key)) for key in keys[at : at + _LOOKED_AT_ONCE]]
                yield from filter(None, (_answer(future) for future in futures))
            if depth < _MOST_DEPTH:
                waiting += [(f"{folder}/{name}".lstrip("/"), depth + 1) for name in reversed(folders)]

    def _looker(self, key: str) -> Callable[[], RemoteObject]:
        return lambda: with_retries(lambda: self.look(key))

    def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        with self._asked("GET", f"{folder}/" if folder else "", {}) as answer:
            if "html" not in answer.headers.get("Content-Type", ""):
                raise RemoteTrouble("lists no files as a web page of links: the board needs such a list")
            page = bytearray()
            for piece in _pieces(answer):
                page += piece
                if len(page) > _MOST_PAGE:
                    raise RemoteTrouble("gives a list of files that is too long")
            return web_index.names_listed(page.decode("utf-8", "replace"), answer.url)

    def look(self, key: str) -> RemoteObject:
        """Size, time and version by what the server says of the file. Raises RemoteTrouble."""
        with self._asked("HEAD", key, {}) as answer:
            if "Content-Length" not in answer.headers:
                raise RemoteTrouble("does not say how long its files are, which the board needs to know")
            return _described(key, int(answer.headers["Content-Length"]), answer)

    def read(self, found: RemoteObject, start: int, stop: int) -> Iterator[bytes]:
        """A range of the file, by a server that serves ranges; a small file whole by any. Raises RemoteTrouble."""
        with self._asked("GET", found.key, {"Range": f"bytes={start}-{stop - 1}"}) as answer:
            whole = answer.status_code == 200
            if whole and (start > 0 or stop < found.size):
                raise RemoteTrouble("is on a server that does not serve ranges of bytes, which the board needs")
            said = answer.headers.get("Content-Range", "")
            size = int(answer.headers.get("Content-Length", -1)) if whole else _total(said)
            if _described(found.key, size, answer).version != found.version or size != found.size:
                raise Replaced("was changed while it was being read: look again")
            if not whole and not said.startswith(f"bytes {start}-"):
                raise Passing("the server sent other bytes than were asked for")
            yield from _pieces(answer)

    def _asked(self, method: str, key: str, headers: dict[str, str]) -> requests.Response:
        address = f"{self._host}/{quote(key)}"
        for _ in range(_MOST_REDIRECTS):
            answer = self._answer(method, address, headers)
            if not answer.is_redirect:
                return _checked(answer)
            answer.close()
            there = urljoin(address, answer.headers["Location"])
            if f"{urlsplit(there).scheme}://{urlsplit(there).netloc}" != self._host or urlsplit(there).query:
                raise Elsewhere("redirects elsewhere, where the board does not follow")
            if not urlsplit(there).path.startswith(urlsplit(address).path):
                raise Elsewhere("redirects out of the folder that is read, where the board does not follow")
            address = there
        raise RemoteTrouble("redirects without end")

    def _answer(self, method: str, address: str, headers: dict[str, str]) -> requests.Response:
        session = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
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
        except requests.RequestException as error:
            raise Passing(f"cannot be reached ({type(error).__name__})") from error


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


def _pieces(answer: requests.Response) -> Iterator[bytes]:
    try:
        yield from answer.iter_content(_PIECE)
    except requests.RequestException as error:
        raise Passing(f"the connection was cut ({type(error).__name__})") from error


def _described(key: str, size: int, answer: requests.Response) -> RemoteObject:
    said = answer.headers.get("Last-Modified", "")
    try:
        modified = int(parsedate_to_datetime(said).timestamp() * 1e9) if said else 0
    except ValueError:
        modified = 0
    return RemoteObject(key, size, modified, answer.headers.get("ETag") or f"{said} {size}")


def _total(content_range: str) -> int:
    """Bytes of the whole of which a range is, as `Content-Range` says; -1 where it does not."""
    total = content_range.rpartition("/")[2]
    return int(total) if total.isdecimal() else -1


def _answer(future: "Future[RemoteObject]") -> RemoteObject | None:
    """What was found; None where it has gone since it was listed, or leads elsewhere."""
    try:
        return future.result()
    except (Vanished, Elsewhere):
        return None
