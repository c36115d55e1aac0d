"""A reader's notes and choices about a run: a name, tags, a note; its pads, its mapping, from which reward on a response is right.

A run is known by its path.
"""

import math
import os
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from board import atomic_write
from board.errors import BoardError
from board.settings import user_folders
from board.settings.json_settings import JsonSettings, of_fields, texts
from board.text.path_names import shown

LONGEST_TITLE: Final = 120
LONGEST_NOTE: Final = 20_000
"""Characters that a reader can type."""
LONGEST_TAG: Final = 40
MOST_TAGS: Final = 20
"""Characters, and tags of a run."""

COLOURS: Final = ("teal", "orange", "blue", "violet", "pink", "ochre", "grey", "green")
"""What a run can be coloured; how each looks is decided where it is drawn."""

PADS_VARIABLE: Final = "RL_BOARD_PADS"
"""Names the pads of all runs."""


@dataclass(frozen=True)
class RunNote:
    """What is said of one run."""

    path: str
    """Of its folder, absolute, as `board.text.path_names` shows it, with the trainer in brackets where a dump lies next to a recording."""
    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    pinned: bool = False
    hidden: bool = False
    colour: str = ""
    """One of COLOURS; empty for none."""

    @property
    def says_something(self) -> bool:
        """Whether there is anything to keep."""
        return bool(self.title or self.tags or self.note or self.pinned or self.hidden or self.colour)


NOTES: Final = JsonSettings("run_notes", "note of a run", partial(of_fields, RunNote))


def notes() -> dict[str, RunNote]:
    """What is said of each run, by path. Raises BoardError where that cannot be read."""
    return _by_path(NOTES.read())


def save_note(path: str, **said: Any) -> RunNote:
    """Say something else of the run at a path: fields of `RunNote`, on top of what is stored by now.

    One of which nothing is said any more is forgotten. Raises BoardError for what cannot be stored.
    """

    def changed(entries: dict[str, RunNote]) -> dict[str, RunNote]:
        found = _by_path(entries)
        found[path] = _checked(replace(found.get(path, RunNote(path)), **said))
        return {name: note for name, note in found.items() if note.says_something}

    return NOTES.update(changed).get(path, RunNote(path))


def _by_path(entries: dict[str, RunNote]) -> dict[str, RunNote]:
    """Notes that an earlier version stored under a digest stand under their path, too; of several of one path the last."""
    return {note.path: note for note in entries.values()}


def _checked(note: RunNote) -> RunNote:
    """The note with its name on one line. Raises BoardError for what cannot be shown, and for tags that are too many or too long."""
    title = " ".join(note.title.split())
    if len(note.tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in note.tags):
        raise BoardError(f"A run has {MOST_TAGS} tags of {LONGEST_TAG} characters at most.")
    if not "".join((title, *note.tags)).isprintable():
        raise BoardError("A name or tag holds a character that cannot be shown.")
    return replace(note, title=title)


def _pads(given: Any) -> tuple[str, ...]:
    found = texts(given)
    if not all(pad.strip() for pad in found):
        raise ValueError("a pad is empty")
    return found


PADS: Final = JsonSettings("pads", "list of pads", _pads)


def pads(location: Path) -> tuple[str, ...]:
    """The pads of the run in a folder in addition to the common ones, in order, those for all runs among them. Raises BoardError."""
    return tuple(sorted({*pads_of_all(), *own_pads(location)}))


def pads_of_all() -> list[str]:
    """Those for all runs, in the variable with line ends behind them, or else with spaces between."""
    named = os.environ.get(PADS_VARIABLE, "")
    return named.splitlines() if "\n" in named else named.split()


def own_pads(location: Path) -> tuple[str, ...]:
    """Those of the run alone. Raises BoardError where they cannot be read."""
    return PADS.read().get(_key(location), ())


def save_pads(location: Path, named: tuple[str, ...]) -> None:
    """Keep the pads of the run in a folder in place of those before; none of them forgets it. Raises BoardError where that cannot be done."""
    PADS.put(_key(location), named or None)


def _reward(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise TypeError("it is no number")
    return float(given)


RIGHT_REWARDS: Final = JsonSettings("right_rewards", "reward from which on a response is right", _reward)


def right_reward(location: Path) -> float:
    """From which reward on a response of the run in a folder is right; NaN where no one set it. Raises BoardError where that cannot be read."""
    return RIGHT_REWARDS.read().get(_key(location), math.nan)


def save_right_reward(location: Path, reward: float | None) -> None:
    """Keep that of the run in a folder, or forget it with None. Raises BoardError where that cannot be done."""
    RIGHT_REWARDS.put(_key(location), reward)


def _key(location: Path) -> str:
    return shown(location.resolve())


def mapping_path(location: Path) -> Path:
    """The file of the mapping that the reader took for the run in a folder: a TOML file among the settings, never in the run."""
    name = str(location.resolve())
    readable = "".join(character if character.isascii() and character.isalnum() else "_" for character in name[-40:])
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return user_folders.settings() / "mappings" / f"{readable}-{digest}.toml"


def save_mapping(location: Path, mapping: str) -> Path:
    """Keep the text of a mapping for a run; where it lies. Raises BoardError where that cannot be written."""
    path = mapping_path(location)
    try:
        user_folders.make_private(path.parent, user_folders.settings())
        atomic_write.write(path, mapping.encode("utf-8", "surrogatepass"), durable=True)
    except OSError as error:
        raise BoardError(f"{path} cannot be written: {error.strerror}.") from error
    return path
