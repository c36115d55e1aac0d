"""A run's location: what a reader names → the folder to read, and its shown name.

An address is resolved here, once, to the folder that stands for it; a folder of this machine is itself, recognised by its path alone, and
nothing that reads elsewhere is loaded for it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from board.sources import presence
from board.sources.remote import addresses
from board.text.path_names import path_of, shown


def is_address(text: str) -> bool:
    """Whether a text is an address rather than a path."""
    return addresses.is_address(text)


def folder_of(location: Path | str, tell: Callable[[int], None] = lambda count: None) -> Path:
    """The folder to read: for an address the one that stands for it, listed now; `tell` is called with how many objects there are so far.

    Raises ArgumentRefused for an address that cannot be used, RunNotFound where nothing is there.
    """
    if isinstance(location, Path) or not is_address(location):
        return Path(location)
    return Path(_mounts().mounted(location, tell=tell))


def folder_unlisted(named: str) -> Path:
    """The folder of a location as `shown_place` says it; nothing need be there. Raises ArgumentRefused."""
    return Path(_mounts().standing_for(named)) if is_address(named) else Path(path_of(named))


def address_of(folder: Path) -> str:
    """The address that a folder stands for; empty for one of this machine."""
    return str(_mounts().address_of(folder)) if presence.may_be_mirrored(folder) else ""


def shown_place(folder: Path) -> str:
    """A folder as it is shown: its path, or the address that it stands for."""
    return address_of(folder) or shown(folder)


def shown_name(folder: Path) -> str:
    """The name of a folder as it is shown: where it stands for a whole store, the bucket's or host's."""
    return shown_place(folder).rstrip("/").rpartition("/")[2] if address_of(folder) else shown(folder.name)


def look_again(folder: Path, *, wait: bool = False) -> None:
    """Have what lies elsewhere listed again where that is due: in the background, unless it is waited for."""
    if presence.may_be_mirrored(folder):
        _mounts().refresh(folder, wait=wait)


def troubles(folder: Path) -> Sequence[str]:
    """What is wrong with what lies elsewhere, a sentence each."""
    return list(_mounts().troubles(folder)) if presence.may_be_mirrored(folder) else []


def _mounts() -> ModuleType:
    """What reads elsewhere."""
    from board.sources.remote import listings

    return listings
