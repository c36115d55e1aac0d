"""An address → the store that it names: which library speaks with it, and what to install where that is missing. Knows no run."""

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from board.errors import ArgumentRefused, pip_install
from board.remote.addresses import Address
from board.remote.object_store import ObjectStore

_SECONDS: Final = 20.0
"""To connect."""


def store_of(address: Address) -> ObjectStore:
    """The store, which may be connected with by then. Raises ArgumentRefused where a library is missing, RemoteTrouble."""
    try:
        return _STORES[address.scheme](address)
    except ModuleNotFoundError as error:
        raise ArgumentRefused(
            f"{address.scheme}:// needs {_NEEDED[address.scheme]}, which is not installed: {pip_install(_NEEDED[address.scheme])}"
        ) from error


_shared: dict[tuple[int, str], ObjectStore] = {}
_changing = threading.Lock()


def shared(address: Address) -> ObjectStore:
    """The store, connected with once for all who ask in this process. Raises what `store_of` raises."""
    with _changing:
        place = os.getpid(), address.store  # a copy of a process must not speak on its connections
        if place not in _shared:
            _shared[place] = store_of(Address(address.scheme, address.authority, ""))
        return _shared[place]


def connect_anew(address: Address) -> None:
    """Have the next who ask get another, with credentials that may be other ones by then."""
    with _changing:
        _shared.pop((os.getpid(), address.store), None)


def _s3(address: Address) -> ObjectStore:
    from board.remote.s3_store import S3Store

    return S3Store(address)


def _web(address: Address) -> ObjectStore:
    from board.remote.web_store import WebStore

    return WebStore(address)


def _by_fsspec(make: Callable[[], Any], below: str = "", *, seeks: bool = False) -> ObjectStore:
    """The store of a file system, which may connect as it is made. Raises RemoteTrouble where that fails."""
    from board.remote import fsspec_store

    try:
        return fsspec_store.FsspecStore(make(), below, seeks=seeks)
    except Exception as error:
        raise fsspec_store.trouble_of(error) from error


def _google(address: Address) -> ObjectStore:
    from gcsfs.core import GCSFileSystem  # that of the package itself asks of each bucket what only administrators may know

    return _by_fsspec(lambda: GCSFileSystem(use_listings_cache=False, skip_instance_cache=True), f"{address.authority}/")


def _hub(address: Address) -> ObjectStore:
    from board.remote.hub_store import HubStore

    return HubStore()


def _ssh(address: Address) -> ObjectStore:
    import sshfs

    user, _, place = address.authority.rpartition("@")
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    # asyncssh reads ~/.ssh/config, keys and the agent, and with known_hosts empty rather than None refuses a host that is not known there
    options = {"known_hosts": (), **({"username": user} if user else {}), **({"port": int(port)} if colon else {})}
    name = (host if colon else place).strip("[]")
    return _by_fsspec(lambda: sshfs.SSHFileSystem(name, skip_instance_cache=True, timeout=_SECONDS, **options), "/", seeks=True)


_STORES: Final[Mapping[str, Callable[[Address], ObjectStore]]] = {
    "s3": _s3,
    "gs": _google,
    "hf": _hub,
    "http": _web,
    "https": _web,
    "ssh": _ssh,
}

_NEEDED: Final[Mapping[str, str]] = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "hf": "huggingface_hub",
    "http": "requests",
    "https": "requests",
    "ssh": "sshfs",
}
