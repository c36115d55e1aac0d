"""Tests of the files that are answered from memory."""

from pathlib import Path

import anyio
import httpx
import pytest
from starlette.responses import PlainTextResponse

from board.serving.kept_files import KeptFiles, files_below


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A build of two files, beside one that is none of it."""
    tmp_path.joinpath("static/js").mkdir(parents=True)
    tmp_path.joinpath("static/js/a.js").write_text("export {}", encoding="utf-8")
    tmp_path.joinpath("static/font.woff2").write_bytes(b"\0font")
    tmp_path.joinpath("secret.txt").write_text("secret", encoding="utf-8")
    return tmp_path / "static"


def asked(app: KeptFiles, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    """What is answered."""

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://board") as client:
            return await client.request(method, path, headers=headers)

    return anyio.run(ask)


def test_a_file_is_read_once(folder: Path) -> None:
    """It comes with its type and may be kept by the browser; what becomes of it on the disk later changes nothing."""
    app = KeptFiles(PlainTextResponse("handed on"), files_below(folder, "/base/static/"))
    first = asked(app, "/base/static/js/a.js")
    assert (first.text, first.headers["content-type"]) == ("export {}", "text/javascript; charset=utf-8")
    assert first.headers["cache-control"] == "public, immutable, max-age=31536000"
    folder.joinpath("js/a.js").unlink()
    assert asked(app, "/base/static/js/a.js").text == "export {}"
    assert asked(app, "/base/static/font.woff2").content == b"\0font"


def test_bytes_are_answered_as_files_are(folder: Path) -> None:
    """In the place of a file or beside them, with the type that the address tells."""
    contents: dict[str, Path | bytes] = {
        **files_below(folder, "/static/"),
        "/static/js/a.js": b"export{a}",
        "/static/new/b.js": b"let b",
    }
    app = KeptFiles(PlainTextResponse("handed on"), contents)
    assert [asked(app, f"/static/{name}.js").text for name in ("js/a", "new/b", "new/a")] == ["export{a}", "let b", "handed on"]
    assert asked(app, "/static/new/b.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert asked(app, "/static/font.woff2").content == b"\0font"


@pytest.mark.parametrize(
    ("path", "method", "headers"),
    [
        pytest.param("/base/static/js/b.js", "GET", {}, id="no such file"),
        pytest.param("/base/static/js/", "GET", {}, id="a folder"),
        pytest.param("/base/static/../secret.txt", "GET", {}, id="outside"),
        pytest.param("/base/static/%2e%2e/secret.txt", "GET", {}, id="outside, written otherwise"),
        pytest.param("/static/js/a.js", "GET", {}, id="another address"),
        pytest.param("/base/static/js/a.js", "HEAD", {}, id="head alone"),
        pytest.param("/base/static/js/a.js", "GET", {"range": "bytes=0-1"}, id="a part"),
    ],
)
def test_everything_else_is_handed_on(folder: Path, path: str, method: str, headers: dict[str, str]) -> None:
    """What is no whole file of the folder is none of its business."""
    answer = asked(KeptFiles(PlainTextResponse("handed on"), files_below(folder, "/base/static/")), path, method, **headers)
    assert answer.text == ("" if method == "HEAD" else "handed on")
    assert "immutable" not in answer.headers.get("cache-control", "")
