"""Google's storage as its emulator serves it on loopback, behind a door that may refuse, hang up, and says what passed."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import uuid4

import requests
from gcp_storage_emulator.server import create_server
from quiet_server import QuietServer, send


class GoogleBucket:
    """One bucket, and how its door behaves."""

    def __init__(self, emulator: str, door: int) -> None:
        self.name = f"runs-{uuid4().hex[:12]}"
        self.endpoint = f"http://127.0.0.1:{door}"
        self.status = 0
        """Answer everything so; 0 to hand it on."""
        self.asked: list[tuple[str, str]] = []
        """Path and range of each request."""
        self.before_bytes: dict[str, bytes] = {}
        """What is put in the place of objects before bytes are asked for next."""
        self.emulator = emulator
        requests.post(f"{emulator}/storage/v1/b", json={"name": self.name}, timeout=20).raise_for_status()

    @property
    def address(self) -> str:
        """Of the bucket."""
        return f"gs://{self.name}"

    def put(self, key: str, data: bytes) -> None:
        """Make or replace an object."""
        place = f"{self.emulator}/upload/storage/v1/b/{self.name}/o"
        requests.post(place, params={"uploadType": "media", "name": key}, data=data, timeout=20).raise_for_status()

    def remove(self, key: str) -> None:
        """Let an object vanish."""
        place = f"{self.emulator}/storage/v1/b/{self.name}/o/{requests.utils.quote(key, safe='')}"  # type: ignore[attr-defined]
        requests.delete(place, timeout=20).raise_for_status()

    def hand_on(self, path: str, headers: dict[str, str]) -> requests.Response:
        """What the emulator answers."""
        if "alt=media" in path or "/download/" in path:
            for key, data in self.before_bytes.items():
                self.put(key, data)
            self.before_bytes = {}
        return requests.get(self.emulator + path, headers=headers, timeout=20)


class _Door(BaseHTTPRequestHandler):
    bucket: GoogleBucket
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Hand on, or refuse as Google does."""
        asked = self.headers.get("Range", "")
        self.bucket.asked.append((self.path, asked))
        if self.bucket.status:
            told = {"error": {"code": self.bucket.status, "message": "SECRET", "errors": []}}
            self._send(self.bucket.status, json.dumps(told).encode(), {})
            return
        answer = self.bucket.hand_on(self.path, {"Range": asked} if asked else {})
        kept = {
            name: value
            for name, value in answer.headers.items()
            if name.lower() in ("content-type", "content-range", "x-goog-hash")
        }
        self._send(answer.status_code, answer.content, kept)

    def do_POST(self) -> None:
        """Hand on what is put."""
        self._handed_on("POST")

    def do_PUT(self) -> None:
        """Hand on what is put in pieces."""
        self._handed_on("PUT")

    def do_DELETE(self) -> None:
        """Hand on what is to be gone."""
        self._handed_on("DELETE")

    def _handed_on(self, method: str) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kept = {name: value for name, value in self.headers.items() if name.lower() in ("content-type", "content-range")}
        answer = requests.request(method, self.bucket.emulator + self.path, headers=kept, data=data, timeout=20)
        told = {name: value for name, value in answer.headers.items() if name.lower() in ("content-type", "location")}
        self._send(answer.status_code, answer.content, told)

    def _send(self, code: int, data: bytes, headers: dict[str, str]) -> None:
        send(self, code, data, headers)


@contextmanager
def google_bucket() -> Iterator[GoogleBucket]:
    """A bucket of an emulator that ends with the context."""
    emulator = create_server("127.0.0.1", 0, in_memory=True)
    emulator.start()
    door = QuietServer(("127.0.0.1", 0), type("Door", (_Door,), {}))
    try:
        port = emulator._api._httpd.server_address[1]
        bucket = GoogleBucket(f"http://127.0.0.1:{port}", door.server_address[1])
        door.RequestHandlerClass.bucket = bucket  # type: ignore[attr-defined]
        threading.Thread(target=door.serve_forever, args=(0.02,), daemon=True).start()
        yield bucket
    finally:
        door.shutdown()
        door.server_close()
        emulator.stop()
