"""Names and colours of runs, and which runs the link compares."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from board.analysis.compare.run_overlay import MOST_RUNS
from board.errors import BoardError
from board.figures.theme import run_colors
from board.runs.library import HERE, RunFolder
from board.settings import run_choices
from board.settings.run_choices import RunNote
from board.sources import locations
from board.text.path_names import shown
from board.ui.state import place

MOST_OFFERED: Final = 500
"""Runs in the list of what can be added: the browser is slow with long lists."""


@dataclass(frozen=True)
class RunLook:
    """What a run is called and coloured."""

    address: str
    """What the link calls it."""
    name: str
    """What the screen calls it: what the reader does, else its path; no two alike. Text of a reader or of a folder."""
    color: str
    """ "#rrggbb", the same on every page, light and dark."""
    tags: tuple[str, ...]


def addresses() -> list[str]:
    """Addresses of the runs to compare, the page's own first, each once.

    The page's own alone where the link names no other. At most MOST_RUNS: the last are left out. Whether the runs exist is not checked.
    """
    own = place.part("run")
    first = [] if own is None else [str(own)]
    return [*dict.fromkeys([*first, *place.compared()])][:MOST_RUNS]


def settle() -> None:
    """Add the page's own run to the runs that the link compares, if there are any.

    A run's colour depends on its seat in the link. In a link written by hand the page's own run comes first; a run that the reader goes to
    later takes an empty seat, so that the others keep their colours.
    """
    own, compared, seats = place.part("run"), place.compared(), place.seats()
    if own is not None and compared:
        if str(own) not in compared:
            place.fill_in(beside=_seated(seats, [str(own)]) if place.remembered("compared_settled") else (str(own), *seats))
        place.remember(compared_settled=True)


def add(address: str) -> None:
    """Add a run to compare."""
    own = place.part("run")
    place.compare(_seated(place.seats() or (() if own is None else (str(own),)), [address]))


def remove(address: str) -> None:
    """Remove a run, which leaves its seat empty; where the page's own alone remains nothing is compared."""
    remaining = _left(place.seats(), {address})
    place.compare(remaining if {*remaining} - {"", str(place.part("run"))} else None)


def tick(address: str, *, on: bool) -> None:
    """Add a run to those that are ticked, while there is room, or remove it: the other runs keep their seats."""
    seats = place.seats()
    if not on:
        place.compare(_left(seats, {address}) or None)
    elif address not in seats and len(place.compared()) < MOST_RUNS:
        place.compare(_seated(seats, [address]))


def _seated(seats: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """The seats with the new runs: on empty seats, then behind the last. A run with two seats keeps the first."""
    taken = [one if one not in seats[:at] else "" for at, one in enumerate(seats)]
    for address in new:
        if "" in taken:
            taken[taken.index("")] = address
        else:
            taken.append(address)
    return tuple(taken)


def _left(seats: Sequence[str], gone: Collection[str]) -> tuple[str, ...]:
    """The seats without those runs; empty ones at the end are no seats."""
    remaining = ["" if address in gone else address for address in seats]
    while remaining and not remaining[-1]:
        remaining.pop()
    return tuple(remaining)


def looks(folders: Sequence[RunFolder], root: Path) -> dict[str, RunLook]:
    """Name and colour of each run of `addresses` that exists, by address, in the order of the link."""
    there = {folder.name: folder for folder in folders}
    chosen = set(addresses())
    listed = [name for name in dict.fromkeys([*place.compared(), *addresses()]) if name in chosen and name in there]
    said = notes([there[name] for name in listed], root)
    called = titles(listed, said, root)
    seats = [*place.seats()]
    colors = run_colors(
        [said[name].colour for name in listed], [seats.index(name) if name in seats else len(seats) for name in listed]
    )
    return {name: RunLook(name, called[name], color, said[name].tags) for name, color in zip(listed, colors, strict=True)}


def offered(folders: Sequence[RunFolder], root: Path, taken: Collection[str]) -> dict[str, str]:
    """Titles of the runs that can be compared with those of `taken`, by address; at most MOST_OFFERED."""
    others = [folder for folder in folders if folder.shards and folder.name not in taken][:MOST_OFFERED]
    return titles([one.name for one in others], notes(others, root), root)


def titles(addresses: Sequence[str], said: Mapping[str, RunNote], root: Path) -> dict[str, str]:
    """What the screen calls runs, by address; where two are called alike their paths stand behind."""
    own = {name: said[name].title or (locations.shown_name(root) if name == HERE else name) for name in addresses}
    often = Counter(own.values())
    return {name: title if often[title] == 1 else f"{title} ({name})" for name, title in own.items()}


def notes(folders: Sequence[RunFolder], root: Path) -> dict[str, RunNote]:
    """What the reader said of runs, by address; nothing of any where it cannot be read, which the page Runs tells."""
    try:
        said = run_choices.notes()
    except BoardError:
        said = {}
    paths = {folder.name: run_path(folder, root) for folder in folders}
    return {name: said.get(path, RunNote(path)) for name, path in paths.items()}


def run_path(folder: RunFolder, root: Path) -> str:
    """The path that a run's note is stored under, its trainer in brackets where a trainer's dump stands next to a recording."""
    base = shown(root)
    return base if folder.name == HERE else f"{base.rstrip('/')}/{folder.name}"
