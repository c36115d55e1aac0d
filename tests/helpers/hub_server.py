"""A small Hugging Face Hub on loopback: one dataset with commits, as the released client asks for it, and a storage on another host."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from quiet_server import QuietServer, send

REPOSITORY = "lab/runs"
TOKEN = "hf_" + "a" * 34
PAGE = 3
"""Entries in a page of a listing."""

LARGE = 100
"""Files of more bytes than this lie in the storage, and the Hub leads there."""


class Hub:
    """What it holds, whom it lets in, and what it was asked."""

    def __init__(self) -> None:
        self.port = 0
        self.files: dict[str, bytes] = {}
        self.other_revision: dict[str, bytes] = {}
        """What lies at `refs/convert/parquet`."""
        self.is_open = True
        """To everybody, or to whoever brings the token."""
        self.status = 0
        """Answer everything so; 0 to answer."""
        self.ranges = True
        self.asked: list[tuple[str, str, str, bool]] = []
        """Method, host and path, range, and whether with a token."""
        self.before_range: dict[str, bytes] = {}
        """What is put in the place of files before the next range is answered."""

    @property
    def endpoint(self) -> str:
        """As HF_ENDPOINT names it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """Of the dataset."""
        return f"hf://datasets/{REPOSITORY}"

    def at(self, revision: str) -> dict[str, bytes]:
        """The files of a revision."""
        return self.other_revision if revision == "refs/convert/parquet" else self.files

    def commit(self, revision: str) -> str:
        """The name of the last commit, which another file changes."""
        return sha1(repr(sorted(self.at(revision).items())).encode(), usedforsecurity=False).hexdigest()


def tag(data: bytes) -> str:
    """What names a file's content: git's name of it, or for large ones its sum."""
    if len(data) > LARGE:
        return sha256(data).hexdigest()
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _told(path: str, data: bytes) -> dict[str, Any]:
    pointer = sha1(b"pointer" + data, usedforsecurity=False).hexdigest()
    if len(data) <= LARGE:
        return {"type": "file", "path": path, "size": len(data), "oid": tag(data)}
    lfs = {"oid": tag(data), "size": len(data), "pointerSize": 134}
    return {"type": "file", "path": path, "size": len(data), "oid": pointer, "lfs": lfs}


class _Handler(BaseHTTPRequestHandler):
    """Answers as `hub` says."""

    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """What the client asks: about the dataset, a listing, a file, or the storage's bytes."""
        self._answer(b"")

    def do_POST(self) -> None:
        """About some paths."""
        self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _answer(self, body: bytes) -> None:
        split = urlsplit(self.path)
        path, bearer = unquote(split.path), self.headers.get("Authorization", "")
        self.hub.asked.append((self.command, self.headers["Host"] + path, self.headers.get("Range", ""), bool(bearer)))
        if path.startswith("/storage/"):
            self._bytes(next(data for data in self.hub.files.values() if tag(data) == path.removeprefix("/storage/")))
        elif self.hub.status:
            self._send(self.hub.status, b"{}")
        elif not self.hub.is_open and bearer != f"Bearer {TOKEN}":
            self._send(401, b'{"error": "Invalid credentials in Authorization header"}')
        elif path.startswith(api := f"/api/datasets/{REPOSITORY}"):
            self._api(path.removeprefix(api).strip("/"), parse_qs(split.query), body)
        elif path.startswith(resolve := f"/datasets/{REPOSITORY}/resolve/"):
            self._file(*path.removeprefix(resolve).split("/", 1) if "refs/" not in path else self._of_ref(path, resolve))
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def _of_ref(self, path: str, resolve: str) -> tuple[str, str]:
        rest = path.removeprefix(resolve)
        return "refs/convert/parquet", rest.removeprefix("refs/convert/parquet/")

    def _api(self, what: str, query: dict[str, list[str]], body: bytes) -> None:
        verb, _, rest = what.partition("/")
        known = ("refs/convert/parquet", "main", self.hub.commit("main"), self.hub.commit("refs/convert/parquet"))
        revision = next((one for one in known if rest == one or rest.startswith(f"{one}/")), "" if rest else "main")
        if not revision:
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            return
        inside = rest.removeprefix(revision).strip("/")
        named = "refs/convert/parquet" if revision in (known[0], known[3]) else "main"
        files = self.hub.at(named)
        if verb in ("", "revision"):
            told = {"id": REPOSITORY, "sha": self.hub.commit(named), "private": False, "tags": [], "downloads": 0, "likes": 0}
            self._send(200, json.dumps(told).encode())
        elif verb == "paths-info":
            asked = parse_qs(body.decode())["paths"]
            self._send(200, json.dumps([_told(one, files[one]) for one in asked if one in files]).encode())
        else:
            self._tree(files, inside, int(query.get("cursor", ["0"])[0]))

    def _tree(self, files: dict[str, bytes], inside: str, begin: int) -> None:
        below = f"{inside}/" if inside else ""
        folders = {name[:at] for name in files for at, letter in enumerate(name) if letter == "/"}
        entries = [_told(name, data) for name, data in files.items() if name.startswith(below)]
        entries += [{"type": "directory", "path": one, "size": 0, "oid": "0" * 40} for one in folders if one.startswith(below)]
        if not entries:
            self._send(404, b"{}", {"X-Error-Code": "EntryNotFound"})
            return
        entries.sort(key=lambda one: str(one["path"]))
        page, more = entries[begin : begin + PAGE], begin + PAGE < len(entries)
        address = f"{self.hub.endpoint}{urlsplit(self.path).path}?recursive=True&expand=False&cursor={begin + PAGE}"
        self._send(200, json.dumps(page).encode(), {"Link": f'<{address}>; rel="next"'} if more else {})

    def _file(self, revision: str, path: str) -> None:
        files = self.hub.at(revision)
        files |= self.hub.before_range
        self.hub.before_range = {}
        data = files.get(path)
        headers = {"X-Repo-Commit": self.hub.commit(revision)}
        if data is None:
            self._send(404, b"{}", {"X-Error-Code": "EntryNotFound"})
        elif len(data) > LARGE:
            there = f"http://localhost:{self.hub.port}/storage/{quote(tag(data))}"
            self._send(
                302, b"", headers | {"Location": there, "X-Linked-Etag": f'"{tag(data)}"', "X-Linked-Size": str(len(data))}
            )
        else:
            self._bytes(data, headers | {"ETag": f'W/"{tag(data)}"'})

    def _bytes(self, data: bytes, headers: dict[str, str] | None = None) -> None:
        asked = self.headers.get("Range", "")
        if not (asked and self.hub.ranges):
            self._send(200, data, headers or {})
            return
        start, stop = (int(part) for part in asked.removeprefix("bytes=").split("-"))
        if start >= len(data):
            self._send(416, b"", headers or {})
            return
        piece = data[start : stop + 1]
        told = {"Content-Range": f"bytes {start}-{start + len(piece) - 1}/{len(data)}"}
        self._send(206, piece, (headers or {}) | told)

    def _send(self, code: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        send(self, code, data, {"Content-Type": "application/json", "X-Request-Id": "1"} | (headers or {}))


@contextmanager
def hub_server() -> Iterator[Hub]:
    """A Hub that ends with the context."""
    hub = Hub()
    server = QuietServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
