"""What the reader says of a run: a name, tags, a note, a colour, whether it is pinned or hidden.

A run is known by its path and how it begins, so that a moved run keeps what was said, and another run that takes its path does not get it.
Knows neither what a run holds nor what is shown.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
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
    first: str = ""
    """Digest of its first bytes; empty where it had none yet."""
    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    pinned: bool = False
    hidden: bool = False
    colour: str = ""
    """One of COLOURS; empty for none."""
    id: str = ""
    """What it is kept under; empty where nothing is kept yet."""

    @property
    def says_something(self) -> bool:
        """Whether there is anything to keep."""
        return bool(self.title or self.tags or self.note or self.pinned or self.hidden or self.colour)


KEPT: Final = KeptEntries("run_notes", "note of a run", partial(of_fields, RunNote))


def of(notes: Collection[RunNote], runs: Sequence[tuple[str, str | None]], is_there: Callable[[str], bool]) -> dict[str, RunNote]:
    """By path what is said of each of the runs, given as (path, digest of its first bytes, None where it is not known yet).

    A run that nothing is said of at its path has what was said of one that began so and is not where it was: `is_there` tells of the
    path of any other run whether there is one. Where several did, nobody knows which, and it has none of it.
    """
    by_path, by_first = defaultdict[str, list[RunNote]](list), defaultdict[str, list[RunNote]](list)
    for one in notes:
        by_path[one.path].append(one)
        by_first[one.first].append(one)
    begins = dict(runs)
    found = {}
    for path, first in runs:
        at_path = [one for one in by_path[path] if not one.first or not first or one.first == first]
        if at_path:
            found[path] = max(at_path, key=lambda one: (one.first == first, bool(one.first)))
        elif first and len(lost := [one for one in by_first[first] if _is_gone(one, begins, is_there)]) == 1:
            found[path] = lost[0]
        else:
            found[path] = RunNote(path, first or "")
    return found


def _is_gone(note: RunNote, begins: Mapping[str, str | None], is_there: Callable[[str], bool]) -> bool:
    """Whether the run that it was said of is not where it was, or another is there."""
    if note.path in begins:
        return bool(begins[note.path]) and begins[note.path] != note.first
    return not is_there(note.path)


def change(before: RunNote, path: str, first: str, **said: Any) -> RunNote:
    """Say something else of the run at a path, which begins so: fields of `RunNote`, on top of what is kept by now.

    One of which nothing is said any more is forgotten. Raises BoardError for what cannot be kept.
    """
    name = before.id or blake2b(f"{path}\0{first}".encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()

    def changed(held: dict[str, RunNote]) -> dict[str, RunNote]:
        now = held.get(before.id, before)
        note = _checked(replace(now, path=path, first=first or now.first, id=name, **said))
        return {one: kept for one, kept in {**held, name: note}.items() if kept.says_something}

    return KEPT.change(changed).get(name, RunNote(path, first))


def _checked(note: RunNote) -> RunNote:
    """The note with its name on one line. Raises BoardError for what cannot be shown, and for tags that are too many or too long."""
    title = " ".join(note.title.split())
    if len(note.tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in note.tags):
        raise BoardError(f"A run has {MOST_TAGS} tags of {LONGEST_TAG} characters at most.")
    if not "".join((title, *note.tags)).isprintable():
        raise BoardError("A name or tag holds a character that cannot be shown.")
    return replace(note, title=title)
