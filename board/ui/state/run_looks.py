"""What runs are called and coloured wherever several are shown, and which of them the link lays side by side. Opens none and draws nothing."""

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

SETTLED: Final = "beside_settled"

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


def names() -> list[str]:
    """The runs that are laid side by side as the link calls them, the run of the place first, each once; that one alone where none is.

    Of more than MOST_RUNS the last are left out, and what is there is not looked at.
    """
    own = place.part("run")
    first = [] if own is None else [str(own)]
    return [*dict.fromkeys([*first, *place.beside()])][:MOST_RUNS]


def settle() -> None:
    """Have the link name the run of the place, too, where it lays others beside it: a run's colour goes by its seat in the link.

    In a link that somebody wrote it comes first; where the reader goes to one more run that takes a seat that is left, and the others keep
    their colours.
    """
    own, beside = place.part("run"), place.beside()
    if own is not None and beside:
        if str(own) not in beside:
            place.fill_in(beside=_seated(place.seats(), [str(own)]) if place.remembered(SETTLED) else (str(own), *place.seats()))
        place.remember(**{SETTLED: True})


def add(address: str) -> None:
    """Lay one more run beside those there are."""
    own = place.part("run")
    place.go(beside=_seated(place.seats() or (() if own is None else (str(own),)), [address]))


def remove(address: str) -> None:
    """Take a run away, which leaves its seat empty; the last one that is left is laid beside none."""
    kept = _left(place.seats(), {address})
    place.go(beside=kept if {*kept} - {"", str(place.part("run"))} else None)


def tick(address: str, *, on: bool) -> None:
    """Lay a run beside the others that are ticked, while there is room, or take it away: who stays keeps his seat."""
    seats = place.seats()
    if not on:
        place.go(beside=_left(seats, {address}) or None)
    elif address not in seats and len(place.beside()) < MOST_RUNS:
        place.go(beside=_seated(seats, [address]))


def _seated(seats: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """The seats with one more run each: on those that are empty, then behind the last. Who has two seats keeps the first."""
    taken = [one if one not in seats[:at] else "" for at, one in enumerate(seats)]
    for address in new:
        if "" in taken:
            taken[taken.index("")] = address
        else:
            taken.append(address)
    return tuple(taken)


def _left(seats: Sequence[str], gone: Collection[str]) -> tuple[str, ...]:
    """The seats without those runs; empty ones at the end are no seats."""
    kept = ["" if one in gone else one for one in seats]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def looks(folders: Sequence[RunFolder], root: Path) -> dict[str, RunLook]:
    """What each of `names` that is there is called and coloured, by address, in the order of the link."""
    there = {folder.name: folder for folder in folders}
    chosen = set(names())
    listed = [name for name in dict.fromkeys([*place.beside(), *names()]) if name in chosen and name in there]
    said = notes([there[name] for name in listed], root)
    called = titles(listed, said, root)
    seats = [*place.seats()]
    colors = run_colors(
        [said[name].colour for name in listed], [seats.index(name) if name in seats else len(seats) for name in listed]
    )
    return {name: RunLook(name, called[name], color, said[name].tags) for name, color in zip(listed, colors, strict=True)}


def offered(folders: Sequence[RunFolder], root: Path, taken: Collection[str]) -> dict[str, str]:
    """What the screen calls the runs that can be laid beside those of `taken`, by address; of very many the first MOST_OFFERED."""
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
    """A run's path as what is said of it is kept under, its trainer in brackets where a dump lies beside a recording."""
    base = shown(root)
    return base if folder.name == HERE else f"{base.rstrip('/')}/{folder.name}"
