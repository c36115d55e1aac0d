"""The stores that this process reads: an address ⇄ the folder that stands for it.

Here is when a store is listed again, and what went wrong. The path of a mirror says of which store it is: any process knows one for what it
is, and fetches what is missing there. Only paths that may be a mirror's come here (`board.sources.locations` and `presence`).
"""

import io
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

from board.errors import ArgumentRefused, RunNotFound
from board.settings import user_folders
from board.sources import presence
from board.sources.remote import addresses, local_names
from board.sources.remote.addresses import Address
from board.sources.remote.mirror import Mirror, MirroredFile
from board.sources.remote.object_store import RemoteObject
from board.text.counting import plural
from board.text.path_names import shown

POLL_SECONDS: Final = 3.0
COSTS: Final = 20.0
"""A listing is taken for true for POLL_SECONDS, and COSTS times what it took."""

OPENING: Final = 0.1
"""The share of that for which a listing is taken for true when a run is opened: what is opened late may be replaced by then."""

PROGRESS_OBJECTS: Final = 500
"""Objects listed between two progress messages."""

NAMED_LEFT_OUT: Final = 20
"""So many files that cannot be read are named."""


@dataclass
class _Listing:
    """What is known of one prefix."""

    at: float = -1e9
    seconds: float = 0.0
    trouble: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """By key why an object that is there cannot be read."""
    listing: threading.Lock = field(default_factory=threading.Lock)


class _Mount(Mirror):
    """A mirror, and the prefixes of its store that are listed."""

    def __init__(self, folder: Path, address: Address) -> None:
        super().__init__(folder, address)
        self.prefixes: dict[str, _Listing] = {}
        """Those that were named as an address, and those below them that are looked at by themselves."""

    def shown(self, prefix: str) -> str:
        """A prefix of the store as an address."""
        return str(replace(self.address, prefix=prefix))

    def is_fresh(self, prefix: str, share: float = 1.0) -> bool:
        """Whether what a prefix holds need not be listed again yet."""
        above = [one for name, one in self.prefixes.items() if _covers(name, prefix)]
        return any(time.monotonic() - one.at < share * max(POLL_SECONDS, COSTS * one.seconds) for one in above)

    def list_now(self, prefix: str, tell: Callable[[int], None] = lambda count: None) -> None:
        """List a prefix and make the files below it match, unless that was done since this call. What goes wrong is noted."""
        called_at, listing = time.monotonic(), self.prefixes.setdefault(prefix, _Listing())
        with listing.listing:
            if listing.at > called_at:
                return
            began = time.monotonic()
            try:
                listing.left_out = self.update(prefix, _counted(self.store.objects(prefix), tell)) | self.store.left_out
                for name, other in [*self.prefixes.items()]:
                    if _covers(prefix, name):
                        other.trouble = ""
            except RunNotFound as error:
                listing.trouble = str(error)
            except ArgumentRefused as error:  # a library is missing: said again until it is there
                listing.trouble = str(error)
                raise
            except OSError as error:
                listing.trouble = f"{self.shown(prefix)}: {error.strerror or error}."
                self.__dict__.pop("store", None)  # made anew, with credentials that may be other ones by then
            finally:
                listing.at = time.monotonic()
                listing.seconds = listing.at - began

    def sentences(self, prefix: str) -> Iterator[str]:
        """What below a prefix was left out of the listings, one sentence each."""
        listed = [item for one in self.prefixes.values() for item in one.left_out.items()]
        left_out = {key: why for key, why in listed if _covers(prefix, key)}
        for key in [*left_out][:NAMED_LEFT_OUT]:
            yield f"{shown(self.shown(key))} is left out: {left_out[key]}."
        if len(left_out) > NAMED_LEFT_OUT:
            yield f"{plural(len(left_out) - NAMED_LEFT_OUT, 'more file')} left out for such reasons."


def _covers(above: str, prefix: str) -> bool:
    return not above or f"{prefix}/".startswith(f"{above}/")


def _counted(objects: Iterable[RemoteObject], tell: Callable[[int], None]) -> Iterator[RemoteObject]:
    for count, one in enumerate(objects):
        if not count % PROGRESS_OBJECTS:
            tell(count)
        yield one


_mounts: dict[Path, _Mount] = {}
_changing = threading.Lock()


def mounted(text: str, *, anew: bool = False, tell: Callable[[int], None] = lambda count: None) -> Path:
    """The folder that stands for an address, listed now, `anew` even if that was done a moment ago; bytes come when they are read.

    `tell` is called while listing, with how many objects there are so far. Where the store cannot be listed, what an earlier look left there
    is given. Raises ArgumentRefused for an address that cannot be used, RunNotFound where nothing is there.
    """
    address, folder = addresses.parsed(text), standing_for(text)
    mount = _mount_of(address)
    if anew or not mount.is_fresh(address.prefix):
        mount.list_now(address.prefix, tell)
    if not folder.is_dir() or not any(folder.iterdir()):
        trouble = mount.prefixes[address.prefix].trouble if address.prefix in mount.prefixes else ""
        why = next(mount.sentences(address.prefix), "")
        raise RunNotFound(trouble or why or f"Nothing lies under {address}: name a prefix that holds runs, or is one.")
    return folder


def _mount_of(address: Address) -> _Mount:
    """That of the address's store, made where there is none yet. Raises OSError, of a mirror that another user made too."""
    folder = _folder_of(address)
    user_folders.make_private(folder / "files", user_folders.cache())
    with _changing:
        return _mounts.setdefault(folder, _Mount(folder, replace(address, prefix="")))


def _folder_of(store: Address) -> Path:
    # the Hub has none, and an empty part has a name of its own
    authority = local_names.local_path(store.authority or "/").parts[0]
    return _real(user_folders.cache()) / presence.FOLDER / store.scheme / authority


def standing_for(text: str) -> Path:
    """The folder that stands for an address as long as it is listed, which is not done here. Raises ArgumentRefused."""
    address = addresses.parsed(text)
    place = local_names.local_path(address.prefix)
    if local_names.is_too_long(place.as_posix()):
        raise ArgumentRefused(
            f"This {address.scheme}:// address cannot be opened: a part of its path is too long for a file's name."
        )
    return _folder_of(address) / "files" / place


def object_at(path: Path) -> tuple[Address, RemoteObject] | None:
    """The store and the object that a file of a mirror stands for, as it was listed; None for any other path."""
    found = _mount_at(path)
    known = found[0].known.get(found[1].as_posix()) if found else None
    return (found[0].address, known) if found and known else None


@lru_cache(maxsize=16)
def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def _mount_at(path: Path) -> tuple[_Mount, PurePosixPath] | None:
    """The mount that a path lies in, and its place in the mirror; None where it lies in none."""
    start = f"{_real(user_folders.cache())}{os.sep}{presence.FOLDER}{os.sep}"
    scheme, *parts = PurePath(str(path).removeprefix(start)).parts
    if not str(path).startswith(start) or scheme not in addresses.SCHEMES or parts[1:2] != ["files"]:
        return None
    store = Address(scheme, local_names.key_of(PurePosixPath(parts[0])), "")
    return _mounts.get(_folder_of(store)) or _mount_of(store), PurePosixPath(*parts[2:])


def mirror_of(path: Path) -> Mirror | None:
    """The mirror that a path lies in; None for a path of this machine's own."""
    found = _mount_at(path)
    return found[0] if found else None


def opened(path: Path) -> io.BufferedReader | None:
    """A file of a mirror to be read, by ranges of its object; None for a path of this machine's own. Raises OSError."""
    mirror = mirror_of(path)
    return io.BufferedReader(MirroredFile(mirror, mirror.found(path)), presence.BLOCK) if mirror else None


def address_of(path: Path) -> str:
    """The address that a path of a mirror stands for; empty for any other."""
    found = _mount_at(path)
    return found[0].shown(local_names.key_of(found[1])) if found else ""


def refresh(folder: Path, *, wait: bool = False) -> None:
    """List what a folder of a mirror stands for again where that is due: in the background, unless it is waited for.

    Nothing for a folder of this machine's own, nor in a process that was not given the address.
    """
    found = _mount_at(folder)
    if found is None:
        return
    mount, prefix = found[0], local_names.key_of(found[1])
    if not any(_covers(name, prefix) for name in mount.prefixes) or mount.is_fresh(prefix, OPENING if wait else 1.0):
        return
    under_way = mount.prefixes.get(prefix)
    if wait:
        mount.list_now(prefix)
    elif under_way is None or not under_way.listing.locked():
        threading.Thread(target=mount.list_now, args=(prefix,), name="listing", daemon=True).start()


def troubles(folder: Path) -> Sequence[str]:
    """What is wrong with what a folder stands for, a sentence each: it cannot be listed now, or objects that were read are gone."""
    found = _mount_at(folder)
    if found is None:
        return []
    mount, place = found
    prefix = local_names.key_of(place)
    listed = [one for name, one in mount.prefixes.items() if _covers(name, prefix) or _covers(prefix, name)]
    said = dict.fromkeys(one.trouble for one in listed if one.trouble)
    gone = sorted(name for name in mount.gone if PurePosixPath(name).is_relative_to(place))
    if gone:
        example = f"{len(gone):,} of its files, such as {PurePath(gone[0]).name}"
        said[f"Gone from {address_of(folder)}: {example}. What was read of them is shown."] = None
    return [*said, *mount.sentences(prefix)]
