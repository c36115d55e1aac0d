"""Layouts that others document: what lies in `tests/formats/layouts`, a small file of each, and what a guess must hold of it."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree
from typing import Final

from board.errors import NothingRead
from board.formats.mapping import FILE
from board.runs.loading.nothing_read import shards_of
from board.runs.opening import open_run
from board.runs.parsing.format_detection import suggested_mapping
from board.runs.run import Run

_FOLDER: Final = Path(__file__).parents[1] / "formats" / "layouts"


@dataclass(frozen=True)
class Layout:
    """One layout; `layouts.toml` says what its entries mean."""

    name: str
    source: str
    file: str
    fields: dict[str, str]
    each: bool = False
    rows: str = ""
    rewards: list[float] | None = None
    first: dict[str, str] = field(default_factory=dict)
    groups: int | None = None
    refused: int = 0

    def copied(self, folder: Path) -> Path:
        """The file as a run of its own below a folder."""
        return copytree(_FOLDER / self.name, folder / "run")


LAYOUTS: Final[dict[str, Layout]] = {
    name: Layout(name, **entry) for name, entry in tomllib.loads((_FOLDER / "layouts.toml").read_text(encoding="utf-8")).items()
}


def suggestion(run: Path) -> str:
    """The mapping that the board suggests for a run; where it opens by itself, the one that it would suggest for its file."""
    try:
        open_run(run)
    except NothingRead as error:
        return error.suggested_mapping or ""
    return suggested_mapping(shards_of(run)[0][0])


def opened_as_guessed(run: Path) -> Run:
    """The run once the suggestion is saved unchanged beside its files."""
    (run / FILE).write_text(suggestion(run), encoding="utf-8")
    return open_run(run)
