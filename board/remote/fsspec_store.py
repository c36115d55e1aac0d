"""Any file system that fsspec knows, as a store of objects: Google's storage, SSH.

Each finds credentials by its own usual means. A range is bound to a version by looking at it once more, as fsspec has no other way that all
share. Knows neither which file system it is nor any run.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import fsspec

from board.remote.object_store import Denied, Passing, RemoteObject, RemoteTrouble, Replaced, Vanished
from board.remote.retrying import with_retries

_VERSIONS: Final = ("generation", "etag", "ETag", "blob_id", "md5Hash", "sha256", "ino")
_TIMES: Final = ("mtime", "updated", "LastModified", "last_modified", "modified", "created")
_DENIED: Final = ("Permission", "Unauthorized", "Forbidden", "Auth", "Credentials", "Gated", "HostKey", "Denied", "RefreshError")
_GONE: Final = ("NotFound", "NoSuchFile", "NoSuchPath")


class FsspecStore:
    """One file system; `below` is what its paths have before the keys, such as a bucket's name."""

    def __init__(self, files: fsspec.AbstractFileSystem, below: str = "", *, seeks: bool = False) -> None:
        """With `seeks` a range is read from an open file: not every file system asks for ranges alone when it is told to."""
        self._files, self._below, self._seeks = files, below, seeks

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """The files below a prefix, links left out. Raises RemoteTrouble."""

        def listed() -> Mapping[str, Any]:
            self._files.invalidate_cache()
            return self._asked("find", self._path(prefix), detail=True)  # type: ignore[no-any-return]

        for path, told in with_retries(listed).items():
            if told.get("type") == "file" and not told.get("islink"):
                yield self._described(path, told)

    def look(self, key: str) -> RemoteObject:
        """As it is now. Raises RemoteTrouble."""
        self._files.invalidate_cache()
        return self._described(self._path(key), self._asked("info", self._path(key)))

    def read(self, found: RemoteObject, start: int, stop: int) -> Iterator[bytes]:
        """A range of the object, which is looked at afterwards. Raises RemoteTrouble."""
        data = self._range(self._path(found.key), start, stop)
        if len(data) != min(stop, found.size) - start or self.look(found.key).version != found.version:
            raise Replaced("was changed while it was being read: look again")
        yield data

    def put(self, key: str, path: Path) -> None:
        """A whole object; where files come into being as they are written, under another name first. Raises RemoteTrouble."""
        if not self._seeks:
            self._asked("put_file", str(path), self._path(key))
            return
        unfinished = self._unfinished(key)
        try:
            self._asked("put_file", str(path), unfinished)
            self._asked("mv", unfinished, self._path(key))
        except BaseException:
            with suppress(RemoteTrouble):
                self._asked("rm_file", unfinished)
            raise

    def create(self, key: str, data: bytes) -> None:
        """By a condition that the file system keeps. Raises Replaced where there is one."""
        try:
            if self._seeks:
                self._asked("makedirs", self._path(key).rpartition("/")[0], exist_ok=True)
                with self._asked("open", self._path(key), "xb+") as stream:
                    stream.write(data)
            else:
                self._asked("pipe_file", self._path(key), data, mode="create")
        except RemoteTrouble:
            if self._is_there(key):
                raise Replaced("is there already") from None
            raise

    def remove(self, keys: Sequence[str]) -> None:
        """One after another; those that are gone are gone. Raises RemoteTrouble."""
        for key in keys:
            with suppress(Vanished):
                self._asked("rm_file", self._path(key))

    def _is_there(self, key: str) -> bool:
        try:
            self.look(key)
        except RemoteTrouble:
            return False
        return True

    def _unfinished(self, key: str) -> str:
        above, _, _ = self._path(key).rpartition("/")
        return f"{above}/.{uuid4().hex}.tmp"

    def _range(self, path: str, start: int, stop: int) -> bytes:
        if not self._seeks:
            return bytes(self._asked("cat_file", path, start=start, end=stop))
        with self._asked("open", path, "rb") as stream:
            try:
                stream.seek(start)
                return bytes(stream.read(stop - start))
            except Exception as error:
                raise trouble_of(error) from error

    def _path(self, key: str) -> str:
        return f"{self._below}{key}"

    def _described(self, path: str, told: Mapping[str, Any]) -> RemoteObject:
        plain = str(path)
        key = plain.removeprefix("/").removeprefix(self._below.removeprefix("/"))
        size = int(told.get("size") or 0)
        modified = next((_nanoseconds(told[name]) for name in _TIMES if told.get(name)), 0)
        version = next((str(told[name]) for name in _VERSIONS if told.get(name)), "")
        return RemoteObject(key, size, modified, f"{version} {modified} {size}")

    def _asked(self, method: str, *arguments: Any, **options: Any) -> Any:
        try:
            return getattr(self._files, method)(*arguments, **options)
        except Exception as error:
            raise trouble_of(error) from error


def _nanoseconds(value: Any) -> int:
    """A time as file systems tell it: seconds, a date, or the text of one."""
    if isinstance(value, int | float):
        return int(value * 1e9)
    try:
        return int((value if isinstance(value, datetime) else datetime.fromisoformat(str(value))).timestamp() * 1e9)
    except ValueError:
        return 0


def trouble_of(error: Exception) -> RemoteTrouble:
    """What an error means by its class, without its words, which may quote what was asked."""
    name = type(error).__name__
    forbidden = type(error) is OSError and str(error).startswith("Forbidden")  # gcsfs has no class for it
    if forbidden or _status(error) in (401, 403):  # the Hub says so, too, of what is not there
        return Denied(f"the store refuses the credentials, or there are none for it ({name})")
    if isinstance(error, FileNotFoundError) or any(word in name for word in _GONE):
        return Vanished("it is not there")
    if isinstance(error, PermissionError) or any(word in name for word in _DENIED):
        return Denied(f"the store refuses the credentials, or there are none for it ({name})")
    if isinstance(error, ValueError | TypeError | NotImplementedError):
        return RemoteTrouble(f"the store cannot be asked so ({name})")
    return Passing(f"the store did not answer as it should ({name})")


def _status(error: Exception) -> object:
    """What HTTP answered, as the libraries keep it; None where it did not."""
    return getattr(getattr(error, "response", None), "status_code", None) or getattr(error, "code", None)
