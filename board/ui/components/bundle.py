"""Joins a component's JavaScript modules into the one script that Streamlit runs. Knows nothing of what they do.

Streamlit runs an inline component from one string of JavaScript, without relative imports. The sources are ordinary ES modules,
so that editors, the type checker and Node's test runner read them as they are. `script` starts at a component's entry module,
follows the imports and puts each module after those it imports; import lines are dropped, and `export` is taken off everything
but the entry's default. All then share one scope, so a top-level name may be used once. Documentation comments, which hold the
types, stay behind: Streamlit sends the script along with the component.
"""

import posixpath
import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

SOURCES: Final = files("board.ui.components")

COMPILED_AT_ONCE: Final = "//# allFunctionsCalledOnLoad"
"""As a script's first line it has Chromium compile all functions beside the page's own work, and not each in the middle of it when it is
first called; to other browsers it is a comment."""

_IMPORT: Final = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_NAMED: Final = re.compile(r'import \{[^{}]*\} from "(\.{1,2}/[\w/]+\.js)";\n')
_RENAMED: Final = re.compile(r"\w\s+as\s+\w")
_DOCUMENTATION: Final = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/\n+", re.MULTILINE | re.DOTALL)
_EXPORT: Final = re.compile(r"^export (?!default\b)", re.MULTILINE)


def script(entry: str, sources: Traversable = SOURCES, library: str = "") -> str:
    """The module `entry` ("token_view/view.js") and all that it imports, as one module that is compiled at once.

    A `library` is a classic script that defines its name at the top level; it stands before the modules, unchanged. Raises ValueError
    where an import names no module below `sources`, is of a form that cannot be joined, or goes in a circle.
    """
    modules = [_joinable(source(name, sources)) for name in order(entry, sources)]
    return "\n".join([COMPILED_AT_ONCE, *([source(library, sources)] if library else []), *modules])


def order(entry: str, sources: Traversable = SOURCES) -> list[str]:
    """The module `entry` and all that it imports, by path below `sources`: each after those it imports. Raises as `script` does."""
    found: list[str] = []
    _visit(entry, sources, found, [])
    return found


def source(name: str, sources: Traversable = SOURCES) -> str:
    """One file of a component, as written. Raises ValueError where there is none."""
    try:
        return sources.joinpath(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"the components have no {name}") from error


def _joinable(text: str) -> str:
    """A module as it can stand among others."""
    for left_out in (_IMPORT, _DOCUMENTATION, _EXPORT):
        text = left_out.sub("", text)
    return text


def _visit(name: str, sources: Traversable, found: list[str], importers: list[str]) -> None:
    if name in found:
        return
    if name in importers:
        raise ValueError(
            f"JavaScript modules import each other in a circle: {' → '.join([*importers[importers.index(name) :], name])}"
        )
    for imported in _imports(name, sources, importers):
        _visit(imported, sources, found, [*importers, name])
    found.append(name)


def _imports(name: str, sources: Traversable, importers: list[str]) -> Iterator[str]:
    """What a module imports, in the order of its lines."""
    try:
        text = source(name, sources)
    except ValueError as error:
        raise ValueError(f"{importers[-1]} imports {name}, which is no module" if importers else str(error)) from error
    for statement in _IMPORT.findall(text):
        named = _NAMED.fullmatch(statement)
        if named is None or _RENAMED.search(statement):
            raise ValueError(f'{name}: only import {{ name }} from "./file.js"; can be joined, not {statement.strip()}')
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), named[1]))
