"""Streamlit's build for the browser, answered from memory: a fresh visit asks for more than a hundred small files.

Streamlit reads each from the disk anew, by way of several threads and five layers, 2 ms of the processor for each file, while the page's
script waits for the same interpreter. Knows addresses and what is answered there; what it does not have it hands on.
"""

import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio.to_thread
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

FOREVER: Final = {"cache-control": f"public, immutable, max-age={365 * 24 * 3600}"}
"""Of what has another name when anything in it is another: a browser need not ask twice."""


def files_below(folder: Path, address: str) -> dict[str, Path]:
    """By address, the files of a folder and of those in it; addresses begin with `address` ("/static/")."""
    return {f"{address}{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}


class KeptFiles:
    """Answers requests for what `contents` has by address: a file, read when it is first asked for, or its bytes.

    Their names change with what is in them, so that a browser need not ask twice.
    """

    def __init__(self, app: ASGIApp, contents: Mapping[str, Path | bytes]) -> None:
        self.app = app
        self.contents = contents
        self.answers: dict[str, Response] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or hand the request on."""
        await (await self._answer(scope) or self.app)(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response | None:
        if scope["type"] != "http" or scope["method"] != "GET" or any(name == b"range" for name, _ in scope["headers"]):
            return None
        path = scope["path"]
        if path in self.contents and path not in self.answers:
            self.answers[path] = await anyio.to_thread.run_sync(_answer_with, path, self.contents[path])
        return self.answers.get(path)


def _answer_with(address: str, content: Path | bytes) -> Response:
    kind = mimetypes.guess_type(address)[0] or "application/octet-stream"
    text = content if isinstance(content, bytes) else content.read_bytes()
    return Response(text, media_type=kind, headers=FOREVER)
