"""Joins the JavaScript modules of components into scripts that a browser runs. Knows nothing of what they do.

The sources are ordinary ES modules, so that editors, the type checker and Node's test runner read them as they are. A component's
entry is the module that exports a default. What is joined starts there, follows the imports and puts each module after those it imports;
import lines are dropped, and `export` is taken off everything but the entry's default. All then share one scope, so a top-level name may
be used once. Documentation comments, which hold the types, stay behind.
"""

import posixpath
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).parents[1] / "ui" / "components"

COMPILED_AT_ONCE: Final = "//# allFunctionsCalledOnLoad"
"""As a script's first line it has Chromium compile all functions beside the page's own work, and not each in the middle of it when it is
first called; to other browsers it is a comment."""

VENDORED: Final = "vendored"
"""The folder beside an entry with the libraries of others: classic scripts, each named after what it defines."""

_IMPORT: Final = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_NAMED: Final = re.compile(r'import \{[^{}]*\} from "(\.{1,2}/[\w/]+\.js)";\n')
_RENAMED: Final = re.compile(r"\w\s+as\s+\w")
_DOCUMENTATION: Final = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/\n+", re.MULTILINE | re.DOTALL)
_EXPORT: Final = re.compile(r"^export (?!default\b)", re.MULTILINE)
_DEFAULT: Final = re.compile(r"^export default\b", re.MULTILINE)


class Modules:
    """The modules below a folder, each read once: what is changed meanwhile is not seen. Names are paths below it."""

    def __init__(self, folder: Path = SOURCES) -> None:
        self._folder = folder
        self._texts: dict[str, str] = {}

    @cached_property
    def entries(self) -> list[str]:
        """The components, by their entry modules."""
        found = (file.relative_to(self._folder).as_posix() for file in self._folder.rglob("*.js") if file.parent.name != VENDORED)
        return sorted(name for name in found if _DEFAULT.search(self.source(name)))

    def source(self, name: str) -> str:
        """A module as it is written. Raises ValueError where there is none."""
        if name not in self._texts:
            self._texts[name] = source(name, self._folder)
        return self._texts[name]

    def script(self, entry: str) -> str:
        """The module `entry` ("token_view/view.js") and all that it imports, as one module that is compiled at once.

        Above them stand the libraries they use. Raises ValueError where an import names no module below the folder, is of a form that
        cannot be joined, or goes in a circle.
        """
        modules = "\n".join(_joinable(self.source(name)) for name in self.order(entry))
        libraries = [text for name, text in self._libraries(entry) if re.search(rf"\b{re.escape(name)}\b", modules)]
        return "\n".join([COMPILED_AT_ONCE, *libraries, modules])

    def order(self, entry: str) -> list[str]:
        """The module `entry` and all that it imports: each after those it imports. Raises as `script` does."""
        found: list[str] = []
        self._visit(entry, found, [])
        return found

    def _libraries(self, entry: str) -> Iterator[tuple[str, str]]:
        """What each library beside an entry defines, and its text."""
        for file in sorted((self._folder / entry).parent.glob(f"{VENDORED}/*.js")):
            yield file.name.partition(".")[0], file.read_text(encoding="utf-8")

    def _visit(self, name: str, found: list[str], importers: list[str]) -> None:
        if name in found:
            return
        if name in importers:
            raise ValueError(
                f"JavaScript modules import each other in a circle: {' → '.join([*importers[importers.index(name) :], name])}"
            )
        for imported in self._imports(name, importers):
            self._visit(imported, found, [*importers, name])
        found.append(name)

    def _imports(self, name: str, importers: list[str]) -> Iterator[str]:
        """What a module imports, in the order of its lines."""
        try:
            text = self.source(name)
        except ValueError as error:
            raise ValueError(f"{importers[-1]} imports {name}, which is no module" if importers else str(error)) from error
        for statement in _IMPORT.findall(text):
            named = _NAMED.fullmatch(statement)
            if named is None or _RENAMED.search(statement):
                raise ValueError(f'{name}: only import {{ name }} from "./file.js"; can be joined, not {statement.strip()}')
            yield posixpath.normpath(posixpath.join(posixpath.dirname(name), named[1]))


def source(name: str, folder: Path = SOURCES) -> str:
    """One file of a component, as it is written. Raises ValueError where there is none."""
    try:
        return folder.joinpath(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"the components have no {name}") from error


def _joinable(text: str) -> str:
    """A module as it can stand among others."""
    for left_out in (_IMPORT, _DOCUMENTATION, _EXPORT):
        text = left_out.sub("", text)
    return text
