"""Trainers' dumps: one module per format, each recognising its files and mapping a record to rollouts under our names.

To add one: write the module (`board.formats.contract` says what it offers) in `trainers` or `evaluations`, where it is found by
itself, or in a package of your own, which names it as an entry point (`board.plugins`).
"""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Final, cast

from board.errors import RowRefused
from board.formats import chat, contained_rows, evaluations, mapping_file, native, row_reader, trainers
from board.formats.added import added
from board.formats.contract import Format, Head, Place
from board.formats.mapping import FILE, HandMapping
from board.formats.row import Row
from board.formats.token_names import namer
from board.schema import PADDED
from board.sources import bounds
from board.sources.json_record import Record
from board.text.padding import COMMON_PADS, unpadded


def _modules() -> tuple[Format, ...]:
    """Those of other packages, then every module of `trainers` and `evaluations`, and `native`, in the order of their names."""
    modules = {"native": cast(Format, native)}
    for package in (trainers, evaluations):
        for module in iter_modules(package.__path__):
            modules[module.name] = cast(Format, import_module(f"{package.__name__}.{module.name}"))
    ours = [modules[name] for name in sorted(modules)]
    return (*added({one.NAME for one in ours}), *ours)


FORMATS: Final = _modules()
"""A file belongs to the first that recognises it; no two may recognise the same file. Those that none does may be `contained_rows`."""


BY_DIGITS: Final = namer("")
"""Names tokens of which there are only ids by the ids."""


def recognise(head: Head, mapping: str = "") -> Format | None:
    """Whose file begins so; None when none does. A mapping by hand, if its text is given, comes before all others."""
    by_hand = (mapped(mapping),) if mapping else ()
    return next(
        (candidate for candidate in (*by_hand, *FORMATS, cast(Format, contained_rows)) if candidate.recognise(head)), None
    )


def by_name(name: str, mapping: str = "") -> Format:
    """The format of that name, the mapping by hand among them when its text is given. Raises KeyError, MappingRefused."""
    by_hand = (mapped(mapping),) if mapping else ()
    named: dict[str, Format] = {candidate.NAME: candidate for candidate in (*FORMATS, cast(Format, contained_rows), *by_hand)}
    return named[name]


@lru_cache(maxsize=4)
def mapped(text: str, file: str = FILE) -> HandMapping:
    """The mapping in the text of a file. Raises MappingRefused, which names the file."""
    return mapping_file.parse(text, file)


def read(
    record: Record,
    kind: Format,
    place: Place,
    name: Callable[[Record], Record] = BY_DIGITS,
    pads: frozenset[str] = COMMON_PADS,
    refuse: Callable[[str], None] | None = None,
    *,
    trains_ends: bool = False,
) -> list[Row]:
    """The rollouts in a record without their padding, arrays not yet aligned; `name` gives tokens to those that have only ids.

    `trains_ends` as `unpadded` takes it. `refuse` receives why one of several cannot be read; without it, and where none can, RowRefused with
    the reason is raised.
    """
    rows: list[Row] = []
    chat.PADS.set(pads)
    try:
        for count, rollout in enumerate(kind.rollouts(record, place), 1):
            if count > bounds.ROWS:
                raise RowRefused(f"holds more than {bounds.ROWS:,} rollouts in one record, which no trainer writes")
            if not isinstance(rollout, RowRefused):
                rows.append(row_reader.read(unpadded(name(rollout), pads, PADDED, trains_ends=trains_ends)))
            elif refuse is None:
                raise rollout
            else:
                refuse(str(rollout))
    except RecursionError as error:  # what orjson could parse, the standard library may be unable to write out
        raise RowRefused("is nested too deeply to be read") from error
    return rows
