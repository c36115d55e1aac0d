"""A bucket of S3, or of anything that speaks as S3 does, by s3fs, which finds credentials, region and endpoint as every AWS tool does.

Knows pages of listings, ranges bound to an ETag, whole objects put in one request or several, and what S3's errors mean; knows no run.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import s3fs
from fsspec.asyn import sync

from board.remote.addresses import Address
from board.remote.object_store import Denied, Passing, RemoteObject, RemoteTrouble, Replaced, Vanished
from board.remote.retrying import with_retries

_EXPIRED: Final = frozenset({"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired", "InvalidToken"})
_DENIED: Final = frozenset(
    {"AccessDenied", "403", "401", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AllAccessDisabled", "RequestTimeTooSkewed"}
)
_GONE: Final = frozenset({"NoSuchKey", "NoSuchBucket", "404"})
_REPLACED: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "InvalidRange", "416"})
_FINAL: Final = frozenset(
    {"InvalidBucketName", "InvalidArgument", "InvalidRequest", "NotImplemented", "400", "PermanentRedirect", "301"}
)
PAGE: Final = 1_000
"""Objects asked for at a time, the most that S3 gives."""

_AT_ONCE: Final = 64 << 20
"""Bytes put in one request; what is larger goes in parts, and is there once all of them are."""

_SECONDS: Final = {"connect_timeout": 10, "read_timeout": 30, "retries": {"max_attempts": 1}, "max_pool_connections": 32}


class S3Store:
    """One bucket."""

    def __init__(self, address: Address) -> None:
        self._bucket = address.authority
        self._files = s3fs.S3FileSystem(use_listings_cache=False, skip_instance_cache=True, config_kwargs=_SECONDS)
        self._files.retries = 1  # ours are enough, and say what they wait for

    def objects(self, prefix: str) -> Iterator[RemoteObject]:
        """Page by page, as S3 lists them. Raises RemoteTrouble."""
        more: dict[str, Any] = {"MaxKeys": PAGE} | ({"Prefix": f"{prefix}/"} if prefix else {})
        while True:
            page = with_retries(lambda: self._call("list_objects_v2", **more))
            for one in page.get("Contents", ()):
                yield _described(one["Key"], one["Size"], one["LastModified"], one["ETag"])
            if not page.get("IsTruncated"):
                return
            more["ContinuationToken"] = page["NextContinuationToken"]

    def look(self, key: str) -> RemoteObject:
        """As the bucket has it now. Raises RemoteTrouble."""
        head = self._call("head_object", Key=key)
        return _described(key, head["ContentLength"], head["LastModified"], head["ETag"])

    def read(self, found: RemoteObject, start: int, stop: int) -> Iterator[bytes]:
        """A range of the object that has that very ETag. Raises RemoteTrouble."""
        yield self._call("get_object", read=True, Key=found.key, Range=f"bytes={start}-{stop - 1}", IfMatch=found.version)

    def put(self, key: str, path: Path) -> None:
        """A whole object. Raises RemoteTrouble."""
        if path.stat().st_size <= _AT_ONCE:
            self._call("put_object", Key=key, Body=path.read_bytes())
            return
        try:
            self._files.put_file(str(path), f"{self._bucket}/{key}")
        except OSError as error:
            raise _trouble(error) from error
        except Exception as error:
            raise _foreign(error) from error

    def create(self, key: str, data: bytes) -> None:
        """By a condition that S3 keeps; a server that ignores it puts the object in any case. Raises Replaced where there is one."""
        self._call("put_object", Key=key, Body=data, IfNoneMatch="*")

    def remove(self, keys: Sequence[str]) -> None:
        """As many at a time as S3 takes. Raises RemoteTrouble."""
        for at in range(0, len(keys), PAGE):
            named = [{"Key": key} for key in keys[at : at + PAGE]]
            self._call("delete_objects", Delete={"Objects": named, "Quiet": True})

    def _call(self, method: str, *, read: bool = False, **arguments: Any) -> Any:
        try:
            answer = self._files.call_s3(method, Bucket=self._bucket, **arguments)
            return sync(self._files.loop, _whole, answer["Body"]) if read else answer
        except OSError as error:
            raise _trouble(error) from error
        except Exception as error:
            raise _foreign(error) from error


async def _whole(stream: Any) -> Any:
    async with stream as body:
        return await body.read()


def _described(key: str, size: int, modified: datetime, etag: str) -> RemoteObject:
    return RemoteObject(key, int(size), int(modified.timestamp() * 1e9), etag)


def _trouble(error: OSError) -> RemoteTrouble:
    """What an error of S3 means, without the words of the server, which may quote what was asked."""
    answer = getattr(error.__cause__, "response", None) or {}
    code = str(answer.get("Error", {}).get("Code", ""))
    if code in _EXPIRED:
        return Denied(f"the credentials for S3 have expired ({code}): renew them, and the board goes on")
    if code in _DENIED or isinstance(error, PermissionError):
        return Denied(f"S3 refuses the credentials, or there are none for it ({code or 'no access'})")
    if code in _GONE or isinstance(error, FileNotFoundError):
        return Vanished(f"S3 has nothing there ({code or 'not found'})")
    if code in _REPLACED:
        return Replaced("was changed while it was being read: look again")
    if code in _FINAL:
        return RemoteTrouble(f"S3 does not take the request ({code})")
    return Passing(f"S3 did not answer as it should ({code or type(error).__name__})")


def _foreign(error: Exception) -> RemoteTrouble:
    """What botocore and aiohttp raise that s3fs passes on."""
    name = type(error).__name__
    if name in (
        "NoCredentialsError",
        "PartialCredentialsError",
        "TokenRetrievalError",
        "UnauthorizedSSOTokenError",
        "SSOTokenLoadError",
    ):
        return Denied(f"there are no credentials for S3 that can be used ({name}): give them as the AWS tools take them")
    if name in ("ProfileNotFound", "ParamValidationError", "InvalidEndpoint", "UnknownEndpointError", "ConfigParseError"):
        return RemoteTrouble(f"S3 cannot be asked as the AWS settings are ({name})")
    return Passing(f"S3 cannot be reached ({name})")
