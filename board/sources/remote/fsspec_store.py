"""The stores of fsspec's file systems: S3, Google, the Hugging Face Hub, SSH.

They do not cache, as every byte is read once. Each finds credentials by its own usual means. A read of S3 names the very version, the Hub
names the version with its answer; of the others a range is looked at once more, as fsspec has no way that all share. Methods that begin
with `_` are the awaitable ones of fsspec's asynchronous file systems, by its documentation.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import fsspec

from board.sources.remote.addresses import Address
from board.sources.remote.object_store import (
    Denied,
    ObjectStore,
    Passing,
    RemoteObject,
    RemoteTrouble,
    Replaced,
    Vanished,
    waited,
    with_retries,
)

_VERSIONS: Final = ("generation", "etag", "ETag", "md5Hash", "sha256")
_TIMES: Final = ("mtime", "updated", "LastModified", "last_modified", "modified", "created")

_DENIED: Final = re.compile(
    "Permission|Unauthor|Forbidden|Auth|Credential|Gated|HostKey|Denied|Refresh|Token|Expired|Signature|AccessKey|AllAccess|Skewed|40[137]$"
)
_GONE: Final = re.compile("NotFound|NoSuch|404$|410$")
_REPLACED: Final = re.compile("Precondition|Conditional|InvalidRange|412$|416$")
_FINAL: Final = re.compile("Invalid|NotImplemented|Redirect|Profile|Validation|UnknownEndpoint|ConfigParse|301$|400$")
"""Names of errors' classes, codes of S3 and of HTTP: what each says is not repeated, as it may quote the request."""

_SECONDS: Final = 20.0
"""To connect; the Hub, for an answer."""

_MOST_LISTING: Final = 600.0
"""Seconds in which `find` is to have all."""

PAGE: Final = 1_000
"""Objects per page of a listing, the most that S3 gives."""


class FsspecStore(ObjectStore):
    """One file system; `below` is what its paths have before the keys, such as a bucket's name."""

    def __init__(self, files: fsspec.AbstractFileSystem, below: str = "") -> None:
        super().__init__()
        self.files, self.below = files, below

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """The files below a prefix, links left out. Raises RemoteTrouble."""
        self.files.invalidate_cache()
        listing = with_retries(lambda: self._request("find", self._path(prefix), detail=True))
        try:
            found = waited(asyncio.wait_for(listing, _MOST_LISTING))
        except TimeoutError as error:
            raise RemoteTrouble(f"takes more than {_MOST_LISTING:.0f} seconds to list: name a folder of it") from error
        yield from (
            self._described(path, info) for path, info in found.items() if info.get("type") == "file" and not info.get("islink")
        )

    async def look(self, key: str) -> RemoteObject:
        """As it is now. Raises RemoteTrouble."""
        self.files.invalidate_cache()
        return self._described(self._path(key), await self._request("info", self._path(key)))

    async def read(self, found: RemoteObject, start: int, stop: int, into: bytearray) -> None:
        """A range of the object, which is looked at afterwards. Raises RemoteTrouble."""
        data = await self._range(self._path(found.key), start, stop)
        if len(data) != stop - start or (await self.look(found.key)).version != found.version:
            raise Replaced
        into += data

    async def _range(self, path: str, start: int, stop: int) -> bytes:
        return bytes(await self._request("cat_file", path, start=start, end=stop))

    def _path(self, key: str) -> str:
        return f"{self.below}{key}"

    def _described(self, path: str, info: Mapping[str, Any]) -> RemoteObject:
        key = str(path).removeprefix("/").removeprefix(self.below.removeprefix("/"))
        size = int(info.get("size") or 0)
        modified = next((_nanoseconds(info[name]) for name in _TIMES if info.get(name)), 0)
        version = next((str(info[name]) for name in _VERSIONS if info.get(name)), "")
        return RemoteObject(key, size, modified, version or f"{modified} {size}")

    async def _request(self, method: str, *arguments: Any, **options: Any) -> Any:
        try:
            if self.files.async_impl:
                return await getattr(self.files, f"_{method}")(*arguments, **options)
            return await asyncio.to_thread(getattr(self.files, method), *arguments, **options)
        except Exception as error:
            raise trouble_of(error) from error


class S3Store(FsspecStore):
    """A bucket of S3, or of anything that speaks as S3 does."""

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """Page by page, as `find` gives nothing before it has all. Raises RemoteTrouble."""
        more: dict[str, Any] = {"MaxKeys": PAGE} | ({"Prefix": f"{prefix}/"} if prefix else {})
        while True:
            page = waited(with_retries(lambda: self._call("list_objects_v2", **more)))
            yield from (self._described(self._path(one["Key"]), {"size": one["Size"], **one}) for one in page.get("Contents", ()))
            if not page.get("IsTruncated"):
                return
            more["ContinuationToken"] = page["NextContinuationToken"]

    async def read(self, found: RemoteObject, start: int, stop: int, into: bytearray) -> None:
        """A range of the object that has that very ETag. Raises RemoteTrouble."""
        answer = await self._call("get_object", Key=found.key, Range=f"bytes={start}-{stop - 1}", IfMatch=found.version)
        try:
            async with answer["Body"] as body:
                if answer["ContentLength"] != stop - start:
                    raise RemoteTrouble("the store sends other bytes than were requested")
                into += await body.read()
        except RemoteTrouble:
            raise
        except Exception as error:
            raise trouble_of(error) from error

    async def _call(self, method: str, **arguments: Any) -> Any:
        return await self._request("call_s3", method, Bucket=self.below.removesuffix("/"), **arguments)


class SshStore(FsspecStore):
    """The files of another machine."""

    async def _range(self, path: str, start: int, stop: int) -> bytes:
        """By an open file, as fsspec's own `cat_file` does it: that of sshfs takes no range."""
        try:
            return bytes(await asyncio.to_thread(fsspec.AbstractFileSystem.cat_file, self.files, path, start, stop))
        except Exception as error:
            raise trouble_of(error) from error


class HubStore(FsspecStore):
    """All of the Hugging Face Hub: `datasets/owner/name[@revision]/path`."""

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """The files below a prefix; none where the repository has no such folder. Raises RemoteTrouble."""
        if len(prefix.removeprefix("datasets/").removeprefix("spaces/").removeprefix("models/").split("/")) < 2:
            raise RemoteTrouble("it names no repository of the Hub, such as datasets/owner/name")
        yield from super().objects(prefix)

    async def look(self, key: str) -> RemoteObject:
        """As the repository has it now. Raises RemoteTrouble."""
        self.files.invalidate_cache()
        return self._described(key, await self._request("info", key, refresh=True, expand_info=True))

    async def read(self, found: RemoteObject, start: int, stop: int, into: bytearray) -> None:
        """A range of the file whose tag is that version's. Raises RemoteTrouble."""
        into += await asyncio.to_thread(self._ranged, found, start, stop)

    def _ranged(self, found: RemoteObject, start: int, stop: int) -> bytes:
        """The Hub may lead to its storage for it, without the token. `cat_file` takes the whole for a range, and looks at no tag."""
        import huggingface_hub
        from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, http_backoff

        headers = build_hf_headers(headers={"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"})
        try:
            place = self.files.resolve_path(found.key)
            url = huggingface_hub.hf_hub_url(
                place.repo_id,
                place.path_in_repo,
                repo_type=place.repo_type,
                revision=place.revision,
                endpoint=self.files.endpoint,
            )
            answer = http_backoff("GET", url, headers=headers, timeout=_SECONDS, max_retries=0)
            hf_raise_for_status(answer)
        except Exception as error:
            raise trouble_of(error) from error
        first = next(iter(answer.history), answer)
        tag = str(first.headers.get("X-Linked-Etag") or first.headers.get("ETag") or "").removeprefix("W/").strip('"')
        if tag != found.version:
            raise Replaced
        if answer.status_code == 200 and (start, stop) != (0, found.size):
            raise RemoteTrouble("the Hub serves no ranges of it")
        return bytes(answer.content)

    def _described(self, path: str, info: Mapping[str, Any]) -> RemoteObject:
        """Large files go by the sum of their content, others by git's name for it: as the tags of answers do."""
        return RemoteObject(str(path), int(info["size"]), 0, str((info.get("lfs") or {}).get("sha256") or info["blob_id"]))


def s3(address: Address) -> ObjectStore:
    """A bucket, whose listings are not cached; what may pass is tried again by `with_retries` alone."""
    import s3fs

    limits = {"connect_timeout": 10, "read_timeout": 30, "retries": {"max_attempts": 1}, "max_pool_connections": 32}
    files = s3fs.S3FileSystem(use_listings_cache=False, skip_instance_cache=True, config_kwargs=limits)
    files.retries = 1
    return S3Store(files, f"{address.authority}/")


def google(address: Address) -> ObjectStore:
    """A bucket of Google's storage."""
    from gcsfs.core import GCSFileSystem  # that of the package itself asks of each bucket what only administrators may know

    return FsspecStore(GCSFileSystem(use_listings_cache=False, skip_instance_cache=True), f"{address.authority}/")


def hub(address: Address) -> ObjectStore:
    """The Hub: an address names the repository."""
    import huggingface_hub

    return HubStore(huggingface_hub.HfFileSystem(skip_instance_cache=True))


def ssh(address: Address) -> ObjectStore:
    """Another machine. Raises RemoteTrouble where it cannot be connected with."""
    import sshfs

    user, _, place = address.authority.rpartition("@")
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    # asyncssh reads ~/.ssh/config, keys and the agent, and with known_hosts empty rather than None refuses a host that is not known there
    options = {"known_hosts": (), **({"username": user} if user else {}), **({"port": int(port)} if colon else {})}
    name = (host if colon else place).strip("[]")
    try:
        return SshStore(sshfs.SSHFileSystem(name, skip_instance_cache=True, timeout=_SECONDS, **options), "/")
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


def trouble_of(error: BaseException) -> RemoteTrouble:
    """What an error means by its class and its code, or those of the error that it came of."""
    if isinstance(error, RemoteTrouble):
        return error
    code = next(filter(None, map(_code, (error, error.__cause__))), "")
    forbidden = type(error) is OSError and str(error).startswith("Forbidden")  # gcsfs has no class for it
    name = code or type(error).__name__
    if forbidden or _DENIED.search(code):  # the Hub says so, too, of what is not there
        return _denied(name)
    if isinstance(error, FileNotFoundError) or _GONE.search(name):
        return Vanished(f"the store has nothing there ({name})")
    if isinstance(error, PermissionError) or _DENIED.search(name):
        return _denied(name)
    if _REPLACED.search(name):
        return Replaced()
    if isinstance(error, ValueError | TypeError | NotImplementedError) or _FINAL.search(name):
        return RemoteTrouble(f"the store refuses this kind of request ({name})")
    return Passing(f"the store cannot be reached, or did not answer as it should ({name})")


def _denied(name: str) -> Denied:
    if "Expired" in name:
        return Denied(f"the credentials have expired ({name}): renew them, and the board goes on")
    return Denied(f"the store refuses the credentials, or there are none for it that can be used ({name})")


def _code(error: BaseException | None) -> str:
    """What S3 or HTTP answered, as the libraries keep it; empty where they did not."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return str(response.get("Error", {}).get("Code", ""))
    found = getattr(response, "status_code", None) or getattr(error, "code", None)
    return str(found) if isinstance(found, int) and 100 <= found < 600 else ""
