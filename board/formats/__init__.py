"""Trainers' dumps: one module per format, each recognising its records and mapping one record to rollouts.

A format knows field names and shapes; it knows nothing of files, frames or screens. To add one: write the module, list it in FORMATS.
"""

from typing import Final, Protocol

from board.errors import RowRefused
from board.formats import native
from board.formats.row import Row
from board.records import Record


class Format(Protocol):
    """What a format module offers."""

    NAME: str

    def recognise(self, record: Record) -> bool:
        """Whether a record of this shape is this format's."""

    def read(self, record: Record) -> Row:
        """The rollout in the record. Raises RowRefused with the reason."""


FORMATS: Final[tuple[Format, ...]] = (native,)

ARRAYS: Final = native.ARRAYS
"""Keys under which a list of numbers is a token array."""


def read(record: Record) -> Row:
    """The rollout in a record of any known format; the native one answers for what nobody recognises, so that the reason names its keys.

    Raises RowRefused with the reason.
    """
    chosen = next((candidate for candidate in FORMATS if candidate.recognise(record)), native)
    try:
        return chosen.read(record)
    except RecursionError as error:  # what orjson could parse, the standard library may be unable to write out
        raise RowRefused("is nested too deeply to be read") from error
