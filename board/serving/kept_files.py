"""Streamlit's build for the browser, answered from memory: a fresh visit asks for more than a hundred small files.

Streamlit reads each from the disk anew, by way of several threads and five layers, 2 ms of the processor for each file, while the page's
script waits for the same interpreter. Knows the files of one folder, by name; what it does not have it hands on.
"""

import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio.to_thread
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_A_YEAR: Final = 365 * 24 * 3600


class KeptFiles:
    """Answers requests for the files below `folder` at addresses that begin with `address` ("/static/"); each is read when first asked for.

    Their names change with what is in them, so that a browser need not ask twice. `instead` has by address below that what is answered in
    place of files, or beside them.
    """

    def __init__(self, app: ASGIApp, folder: Path, address: str, instead: Mapping[str, bytes]) -> None:
        self.app = app
        self.files = {f"{address}{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}
        self.answers = {f"{address}{name}": _answer_of(name, content) for name, content in instead.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or hand the request on."""
        await (await self._answer(scope) or self.app)(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response | None:
        if scope["type"] != "http" or scope["method"] != "GET" or any(name == b"range" for name, _ in scope["headers"]):
            return None
        path = scope["path"]
        if path in self.files and path not in self.answers:
            self.answers[path] = await anyio.to_thread.run_sync(_read, self.files[path])
        return self.answers.get(path)


def _read(file: Path) -> Response:
    return _answer_of(file.name, file.read_bytes())


def _answer_of(name: str, content: bytes) -> Response:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(content, media_type=kind, headers={"cache-control": f"public, immutable, max-age={_A_YEAR}"})
