"""Joins the JavaScript modules of components into scripts that a browser runs. Knows nothing of what they do.

The sources are ordinary ES modules, so that editors, the type checker and Node's test runner read them as they are. A component's
entry is the module that exports a default. What is joined starts there, follows the imports and puts each module after those it imports;
import lines are dropped, and `export` is taken off everything but the entry's default. All then share one scope, so a top-level name may
be used once. Documentation comments, which hold the types, stay behind.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from importlib.resources.abc import Traversable
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

_ASKED_FOR: Final = """\
const made = new Map();

export function component(name) {
  if (!made.has(name)) made.set(name, makers[name]());
  return made.get(name);
}
"""


def entries(sources: Traversable = SOURCES) -> list[str]:
    """The components, by their entry modules' paths below `sources`."""
    return [name for name in _modules(sources, "") if _DEFAULT.search(source(name, sources))]


def script(entry: str, sources: Traversable = SOURCES) -> str:
    """The module `entry` ("token_view/view.js") and all that it imports, as one module that is compiled at once.

    Above them stand the libraries they use. Raises ValueError where an import names no module below `sources`, is of a form that cannot
    be joined, or goes in a circle.
    """
    return f"{COMPILED_AT_ONCE}\n{_joined(entry, sources)}"


def bundle(names: Iterable[str], sources: Traversable = SOURCES) -> str:
    """Several entries as one module, which exports `component(entry)`: that entry's default, made when first asked for.

    Each has a scope of its own. Raises as `script` does.
    """
    makers = "".join(
        f"makers[{json.dumps(name)}] = () => {{\n{_DEFAULT.sub('const exported =', _joined(name, sources))}return exported;\n}};\n"
        for name in names
    )
    return f"{COMPILED_AT_ONCE}\nconst makers = {{}};\n{makers}{_ASKED_FOR}"


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


def _joined(entry: str, sources: Traversable) -> str:
    """Libraries, then modules."""
    modules = "\n".join(_joinable(source(name, sources)) for name in order(entry, sources))
    libraries = [text for name, text in _libraries(entry, sources) if re.search(rf"\b{re.escape(name)}\b", modules)]
    return "\n".join([*libraries, modules])


def _libraries(entry: str, sources: Traversable) -> Iterator[tuple[str, str]]:
    """What each library beside an entry defines, and its text."""
    folder = sources.joinpath(posixpath.dirname(entry), VENDORED)
    if folder.is_dir():
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.name.endswith(".js"):
                yield file.name.partition(".")[0], file.read_text(encoding="utf-8")


def _modules(folder: Traversable, path: str) -> Iterator[str]:
    """All modules in a folder and in those in it, by their paths."""
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.is_dir() and file.name != VENDORED:
            yield from _modules(file, f"{path}{file.name}/")
        elif file.name.endswith(".js"):
            yield f"{path}{file.name}"


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
