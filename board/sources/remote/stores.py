"""An address → its store: which library it needs, and how to install that."""

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from board.errors import ArgumentRefused, pip_install
from board.sources.remote.addresses import Address
from board.sources.remote.object_store import ObjectStore

_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "s3": ("s3fs",),
    "gs": ("gcsfs",),
    "hf": ("fsspec", "huggingface_hub"),
    "http": ("fsspec", "aiohttp"),
    "https": ("fsspec", "aiohttp"),
    "ssh": ("sshfs",),
}


def store_of(address: Address) -> ObjectStore:
    """The store, which may be connected with by then. Raises ArgumentRefused where a library is missing, RemoteTrouble."""
    try:
        if address.scheme in ("http", "https"):
            from board.sources.remote.web_store import WebStore

            return WebStore(address)
        from board.sources.remote import fsspec_store

        made = {"s3": fsspec_store.s3, "gs": fsspec_store.google, "hf": fsspec_store.hub, "ssh": fsspec_store.ssh}
        return made[address.scheme](address)
    except ModuleNotFoundError as error:
        needed = _NEEDED[address.scheme]
        said = f"{address.scheme}:// needs {' and '.join(needed)}, not all of which is installed: {pip_install(*needed)}"
        raise ArgumentRefused(said) from error


def shared(address: Address) -> ObjectStore:
    """The store, connected with once for all who ask in this process. Raises what `store_of` raises."""
    return _shared(os.getpid(), Address(address.scheme, address.authority, ""))


@lru_cache
def _shared(_process: int, store: Address) -> ObjectStore:
    """A copy of a process must not speak on its connections."""
    return store_of(store)
