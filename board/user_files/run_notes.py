"""What the reader says of a run: a name, tags, a note, a colour, whether it is pinned or hidden.

A run is known by its path, as by all else that a reader sets for it. Knows neither what a run holds nor what is shown.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from board.errors import BoardError
from board.user_files.kept_entries import KeptEntries, of_fields

LONGEST_TITLE: Final = 120
LONGEST_NOTE: Final = 20_000
"""Characters that a reader can type."""
LONGEST_TAG: Final = 40
MOST_TAGS: Final = 20
"""Characters, and tags of a run."""

COLOURS: Final = ("teal", "orange", "blue", "violet", "pink", "ochre", "grey", "green")
"""What a run can be coloured; what each looks like is for whoever draws."""


@dataclass(frozen=True)
class RunNote:
    """What is said of one run."""

    path: str
    """Of its folder, absolute, as `board.text.path_names` shows it, with the trainer in brackets where a dump lies beside a recording."""
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


KEPT: Final = KeptEntries("run_notes", "note of a run", partial(of_fields, RunNote))


def read() -> dict[str, RunNote]:
    """What is said of each run, by path. Raises BoardError where that cannot be read."""
    return _by_path(KEPT.read())


def change(path: str, **said: Any) -> RunNote:
    """Say something else of the run at a path: fields of `RunNote`, on top of what is kept by now.

    One of which nothing is said any more is forgotten. Raises BoardError for what cannot be kept.
    """

    def changed(held: dict[str, RunNote]) -> dict[str, RunNote]:
        notes = _by_path(held)
        notes[path] = _checked(replace(notes.get(path, RunNote(path)), **said))
        return {name: note for name, note in notes.items() if note.says_something}

    return KEPT.change(changed).get(path, RunNote(path))


def _by_path(notes: dict[str, RunNote]) -> dict[str, RunNote]:
    """Notes that an earlier version kept under a digest stand under their path, too; of several of one path the last."""
    return {note.path: note for note in notes.values()}


def _checked(note: RunNote) -> RunNote:
    """The note with its name on one line. Raises BoardError for what cannot be shown, and for tags that are too many or too long."""
    title = " ".join(note.title.split())
    if len(note.tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in note.tags):
        raise BoardError(f"A run has {MOST_TAGS} tags of {LONGEST_TAG} characters at most.")
    if not "".join((title, *note.tags)).isprintable():
        raise BoardError("A name or tag holds a character that cannot be shown.")
    return replace(note, title=title)
