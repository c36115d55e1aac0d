"""The stores that this process reads: an address → the folder that stands for it, and back; when a store is listed again, and what went wrong.

The path of a mirror says of which store it is: any process knows one for what it is, and fetches what is missing there. Only paths that may
be a mirror's come here (`board.sources.locations` and `presence`). Knows no run.
"""

import io
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

from board.errors import BoardError, RunNotFound
from board.remote import addresses, local_names, placeholders, places, stores
from board.remote.addresses import Address
from board.remote.mirror import Mirror, MirroredFile
from board.remote.object_store import RemoteObject
from board.text.counting import plural
from board.text.path_names import shown
from board.user_files import private_folders, user_folders

POLL_SECONDS: Final = 3.0
COSTS: Final = 20.0
"""A listing is taken for true for POLL_SECONDS, and COSTS times what it took."""

OPENING: Final = 0.1
"""The share of that for which a listing is taken for true when a run is opened: what is opened late may be replaced by then."""

TOLD_OBJECTS: Final = 500
"""So many more are listed before it is told again how many there are."""

TOLD_LEFT_OUT: Final = 20
"""So many files that cannot be read are named."""


@dataclass
class _Listing:
    """What is known of one prefix."""

    at: float = -1e9
    seconds: float = 0.0
    under_way: bool = False
    trouble: str = ""
    kept: list[str] = field(default_factory=list)
    """Files of objects that are gone."""
    left_out: dict[str, str] = field(default_factory=dict)
    """By key why an object that is there cannot be read."""
    listing: threading.Lock = field(default_factory=threading.Lock)

    def is_fresh(self, *, opening: bool = False) -> bool:
        """Whether it need not be listed again yet; a run that is opened is to be as it is now."""
        share = OPENING if opening else 1.0
        return time.monotonic() - self.at < share * max(POLL_SECONDS, COSTS * self.seconds)


class _Mount:
    """A store, its mirror, and the prefixes of it that are listed."""

    def __init__(self, folder: Path, address: Address) -> None:
        self.address = address
        self.mirror = Mirror(folder, lambda: stores.store_of(address))
        self.prefixes: dict[str, _Listing] = {}
        """Those that were named as an address, and those below them that are looked at by themselves."""
        self.changing = threading.Lock()

    def path(self, prefix: str) -> Path:
        """The folder that stands for a prefix."""
        return self.mirror.files / local_names.local_path(prefix) if prefix else self.mirror.files

    def list_now(self, prefix: str, listing: _Listing, asked_at: float, tell: Callable[[int], None] = lambda count: None) -> None:
        """List a prefix and make the files below it what was listed, unless that was done since it was asked for. What goes wrong is noted."""
        with listing.listing:
            if listing.at > asked_at:
                listing.under_way = False
                return
            began = time.monotonic()
            try:
                with self.changing:
                    listing.kept = placeholders.update(self.mirror, prefix, _counted(self.mirror.store.objects(prefix), tell))
                    listing.left_out = dict(self.mirror.store.left_out)
                for name, other in [*self.prefixes.items()]:
                    if not prefix or name == prefix or name.startswith(f"{prefix}/"):
                        other.trouble = ""
            except BoardError as error:
                listing.trouble = str(error)
            except OSError as error:
                listing.trouble = f"{shown_address(self.address, prefix)}: {error.strerror or error}."
                self.mirror.connect_anew()  # with credentials that may be other ones by then
            finally:
                listing.at = time.monotonic()
                listing.seconds = listing.at - began
                listing.under_way = False


def _counted(objects: Iterable[RemoteObject], tell: Callable[[int], None]) -> Iterator[RemoteObject]:
    for count, one in enumerate(objects):
        if not count % TOLD_OBJECTS:
            tell(count)
        yield one


_mounts: dict[Path, _Mount] = {}
_changing = threading.Lock()


def mounted(text: str, *, anew: bool = False, tell: Callable[[int], None] = lambda count: None) -> Path:
    """The folder that stands for an address, listed now, `anew` even if that was done a moment ago; bytes come when they are read.

    `tell` is called while listing, with how many objects there are so far. Where the store cannot be listed, what an earlier look left there
    is given. Raises ArgumentRefused for an address that cannot be used, RunNotFound where nothing is there.
    """
    address = addresses.parsed(text)
    mount = _mount_of(address)
    with suppress(OSError):
        mount.mirror.store  # noqa: B018 - a library that is missing is told at once
    listing = mount.prefixes.setdefault(address.prefix, _Listing())
    if anew or not listing.is_fresh():
        mount.list_now(address.prefix, listing, time.monotonic(), tell)
    folder = mount.path(address.prefix)
    if not folder.is_dir() or not any(folder.iterdir()):
        why = next(iter(_left_out(mount.address, listing.left_out)), "")
        raise RunNotFound(listing.trouble or why or f"Nothing lies under {address}: name a prefix that holds runs, or is one.")
    return folder


def _mount_of(address: Address) -> _Mount:
    store = Address(address.scheme, address.authority, "")
    folder = _folder_of(store)
    private_folders.made(folder / "files", user_folders.cache())
    with _changing:
        return _mounts.setdefault(folder, _Mount(folder, store))


def _folder_of(store: Address) -> Path:
    return Path(_real(user_folders.cache()), places.FOLDER, store.scheme, local_names.local_path(store.authority))


def standing_for(text: str) -> Path:
    """The folder that stands for an address as long as it is listed, which is not done here. Raises ArgumentRefused."""
    address = addresses.parsed(text)
    files = _folder_of(Address(address.scheme, address.authority, "")) / "files"
    return files / local_names.local_path(address.prefix) if address.prefix else files


def object_at(path: Path) -> tuple[Address, RemoteObject] | None:
    """The store and the object that a file of a mirror stands for, as it was listed; None for any other path."""
    found = _mount_at(path)
    known = found[0].mirror.known.get(PurePosixPath(found[1]).as_posix()) if found else None
    return (found[0].address, known) if found and known else None


@lru_cache(maxsize=16)
def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def _mount_at(path: Path) -> tuple[_Mount, str] | None:
    """The mount that a path lies in, and its place in the mirror; None where it lies in none."""
    if not places.may_be_mirrored(path):
        return None
    text, cache = str(path), user_folders.cache()
    for root in (_real(cache), cache):
        start = f"{root}{os.sep}{places.FOLDER}{os.sep}"
        if text.startswith(start):
            return _mount_below(PurePath(text[len(start) :]).parts)
    return None


def _mount_below(parts: Sequence[str]) -> tuple[_Mount, str] | None:
    """The same of the parts of a path below the folder of mirrors."""
    if len(parts) < 3 or parts[0] not in addresses.SCHEMES or parts[2] != "files":
        return None
    store = Address(parts[0], local_names.key_of(PurePosixPath(parts[1])), "")
    folder = _folder_of(store)
    with _changing:
        return _mounts.setdefault(folder, _Mount(folder, store)), "/".join(parts[3:])


def mirror_of(path: Path) -> Mirror | None:
    """The mirror that a path lies in; None for a path of this machine's own."""
    found = _mount_at(path)
    return found[0].mirror if found else None


def opened(path: Path) -> io.BufferedReader | None:
    """A file of a mirror to be read, by ranges of its object; None for a path of this machine's own. Raises OSError."""
    mirror = mirror_of(path)
    return io.BufferedReader(MirroredFile(mirror, mirror.found(path)), places.BLOCK) if mirror else None


def shown_address(address: Address, prefix: str) -> str:
    """A prefix of a store as an address."""
    return str(Address(address.scheme, address.authority, prefix))


def address_of(path: Path) -> str:
    """The address that a path of a mirror stands for; empty for any other."""
    found = _mount_at(path)
    if found is None:
        return ""
    prefix = found[1]
    with suppress(RunNotFound):
        prefix = local_names.key_of(Path(found[1])) if found[1] else ""
    return shown_address(found[0].address, prefix)


def refresh(folder: Path, *, wait: bool = False) -> None:
    """List what a folder of a mirror stands for again where that is due: in the background, unless it is waited for.

    Nothing for a folder of this machine's own, nor in a process that was not given the address.
    """
    found = _mount_at(folder)
    if found is None or not found[0].prefixes:
        return
    mount, place = found
    try:
        prefix = local_names.key_of(Path(place)) if place else ""
    except RunNotFound:
        return
    above = [one for name, one in mount.prefixes.items() if not name or prefix == name or prefix.startswith(f"{name}/")]
    if not above or any(one.is_fresh(opening=wait) for one in above):
        return
    now = time.monotonic()
    with _changing:
        listing = mount.prefixes.setdefault(prefix, _Listing())
        begin, listing.under_way = not listing.under_way, True
    if wait:
        mount.list_now(prefix, listing, now)
    elif begin:
        threading.Thread(target=mount.list_now, args=(prefix, listing, now), name="listing", daemon=True).start()


def troubles(folder: Path) -> Sequence[str]:
    """What is wrong with the store of a folder, a sentence each: it cannot be listed now, or objects that were read are gone."""
    found = _mount_at(folder)
    if found is None:
        return []
    mount, place = found
    said = dict.fromkeys(one.trouble for one in mount.prefixes.values() if one.trouble)
    gone = {name for one in mount.prefixes.values() for name in one.kept if not place or name.startswith(f"{place}/")}
    if gone:
        example = sorted(gone)[0]
        said[
            f"Gone from {address_of(folder)}: {len(gone):,} of its files, such as {Path(example).name}. What was read of them is shown."
        ] = None
    left_out = {key: why for one in mount.prefixes.values() for key, why in one.left_out.items()}
    return [*said, *_left_out(mount.address, left_out)]


def _left_out(store: Address, left_out: Mapping[str, str]) -> Iterator[str]:
    for key in [*left_out][:TOLD_LEFT_OUT]:
        yield f"{shown(shown_address(store, key))} is left out: {left_out[key]}."
    if len(left_out) > TOLD_LEFT_OUT:
        yield f"{plural(len(left_out) - TOLD_LEFT_OUT, 'more file')} left out for such reasons."
