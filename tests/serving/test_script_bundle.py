"""Joining JavaScript modules: their order follows the imports, and what cannot be joined is told."""

import re
from pathlib import Path

import pytest

from board.serving.script_bundle import COMPILED_AT_ONCE, SOURCES, Modules

MODULES = Modules()
IMPORTED = re.compile(r'from "(\.{1,2}/[^"]+\.js)"')
ENTRIES = MODULES.entries
PARSES_MARKUP = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "createContextualFragment",
    "document.write",
    "eval(",
    "DOMParser",
)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_joined_script_is_one_module(entry: str) -> None:
    """Import lines are gone and exactly one export, the default, is left; nothing parses model text as markup."""
    text = MODULES.script(entry)
    modular = [line for line in text.splitlines() if line.startswith(("import", "export"))]
    assert [line.split("(")[0] for line in modular] == ["export default function "]
    assert not [word for word in PARSES_MARKUP if word in text]


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_module_comes_after_what_it_imports(entry: str) -> None:
    """The entry is the last, and each module finds its imports above it."""
    names = MODULES.order(entry)
    assert names[-1] == entry
    assert len(names) == len(set(names))
    for i, name in enumerate(names):
        imported = {(SOURCES / name).parent.joinpath(path).resolve() for path in IMPORTED.findall(MODULES.source(name))}
        assert imported <= {(SOURCES / above).resolve() for above in names[:i]}


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_component_stays_until_it_is_gone(entry: str) -> None:
    """Streamlit calls what a draw returns while the component stays, too: each hands back what waits until it is gone, or nothing."""
    draw = MODULES.source(entry).partition("export default")[2].partition("\n}\n")[0]
    returned = re.findall(r"^  return (.+)$", draw, re.MULTILINE)
    assert not [one for one in returned if one.startswith("(")]
    assert "whenGone(" in draw or not returned


def test_every_module_is_part_of_a_component() -> None:
    """No module lies about that no entry leads to."""
    reached = {name for entry in ENTRIES for name in MODULES.order(entry)}
    assert {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.js") if path.parent.name != "vendored"} == reached


def write(folder: Path, modules: dict[str, str]) -> None:
    """Modules by path."""
    for name, text in modules.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_modules_of_another_component_can_be_imported(tmp_path: Path) -> None:
    """Each module stands once, below those it imports, without its documentation; the order of the import lines does not matter."""
    write(
        tmp_path,
        {
            "one/entry.js": 'import {\n  a,\n} from "../two/a.js";\nimport { b } from "./b.js";\nexport default () => a + b;\n',
            "one/b.js": 'import { a } from "../two/a.js";\n/**\n * @type {X}\n */\nexport const b = /** @type {X} */ (a);\n',
            "two/a.js": "export const a = 1;\n",
        },
    )
    joined = "const a = 1;\n\nconst b = /** @type {X} */ (a);\n\nexport default () => a + b;\n"
    assert Modules(tmp_path).script("one/entry.js") == f"{COMPILED_AT_ONCE}\n{joined}"


def test_a_browser_is_told_on_the_first_line_to_compile_all(tmp_path: Path) -> None:
    """Above a library, too: further down nobody looks for it."""
    write(tmp_path, {"a/entry.js": "export default () => lib;\n", "a/vendored/lib.min.js": "/* lib 1.0 */\nvar lib = 1;\n"})
    assert Modules(tmp_path).script("a/entry.js").splitlines() == [
        "//# allFunctionsCalledOnLoad",
        "/* lib 1.0 */",
        "var lib = 1;",
        "",
        "export default () => lib;",
    ]


def test_a_library_goes_where_its_name_is_used(tmp_path: Path) -> None:
    """To those beside which it lies, and of these not to an entry that has another word only."""
    write(
        tmp_path,
        {
            "a/entry.js": "export default () => lib();\n",
            "a/other.js": "export default () => library();\n",
            "b/entry.js": "export default () => lib();\n",
            "a/vendored/lib.min.js": "var lib = 1;\n",
            "a/vendored/lib.css": "lib {}\n",
        },
    )
    assert Modules(tmp_path).entries == ["a/entry.js", "a/other.js", "b/entry.js"]
    assert [name for name in Modules(tmp_path).entries if "var lib" in Modules(tmp_path).script(name)] == ["a/entry.js"]


UNJOINABLE = {
    "unknown": ({"a/a.js": 'import { b } from "./b.js";\n'}, "a/a.js imports a/b.js, which is no module"),
    "no entry": ({}, "the components have no a/a.js"),
    "circle": (
        {
            "a/a.js": 'import { b } from "./b.js";\n',
            "a/b.js": 'import { c } from "./c.js";\n',
            "a/c.js": 'import { b } from "./b.js";\n',
        },
        "circle: a/b.js → a/c.js → a/b.js",
    ),
    "of itself": ({"a/a.js": 'import { b } from "./a.js";\n'}, "circle: a/a.js → a/a.js"),
    "renamed": ({"a/a.js": 'import { b as c } from "./b.js";\n', "a/b.js": ""}, "can be joined, not import { b as c }"),
    "all of it": ({"a/a.js": 'import * as b from "./b.js";\n', "a/b.js": ""}, "can be joined, not import * as b"),
    "a default": ({"a/a.js": 'import b from "./b.js";\n', "a/b.js": ""}, "can be joined, not import b from"),
    "a package": ({"a/a.js": 'import { b } from "b";\n'}, 'can be joined, not import { b } from "b"'),
}


@pytest.mark.parametrize(("modules", "told"), UNJOINABLE.values(), ids=UNJOINABLE)
def test_what_cannot_be_joined_is_told(modules: dict[str, str], told: str, tmp_path: Path) -> None:
    """An import of nothing, in a circle or of another form is an error that names the module."""
    write(tmp_path, modules)
    with pytest.raises(ValueError, match=re.escape(told)):
        Modules(tmp_path).script("a/a.js")
