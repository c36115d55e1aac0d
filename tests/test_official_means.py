"""The board is an ordinary application: nothing of a library is replaced, and of Streamlit's modules none is imported but the public ones."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
SOURCES = [REPOSITORY / "rl_logging_board.py", *sorted((REPOSITORY / "board").rglob("*.py"))]

STREAMLIT = {
    "streamlit.delta_generator.DeltaGenerator",
    "streamlit.navigation.page.StreamlitPage",
}
"""What is imported of Streamlit beside `streamlit` itself."""

ASSIGNED = {
    "os.environ",
    "sys.argv",
    "sys.excepthook",  # SwanLab replaces it: ours is put back
    "st.session_state",
}
"""What of imported modules is assigned to."""

TRICKS = {"ctypes", "os.fork", "sys.meta_path", "gc.freeze", "multiprocessing"}


def tricks(tree: ast.Module) -> Iterator[str]:
    """What a module does that it should not: `sys.meta_path`, `import ctypes`, `from streamlit.runtime import …`, `module.name = …`."""
    names = dict(imported(tree))
    for name in names.values():
        if name in TRICKS or name.partition(".")[0] in TRICKS or (name.startswith("streamlit.") and name not in STREAMLIT):
            yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in TRICKS:
            yield ast.unparse(node)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        yield from (f"{one} = …" for one in map(assigned, targets) if one.partition(".")[0] in names and one not in ASSIGNED)


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that a module has from others than ours, and what each stands for; `import a.b` is two, as it gives the name `a`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                (one.asname or one.name.partition(".")[0], one.name) for one in node.names if not one.name.startswith("board")
            )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith("board"):
            yield from ((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)


def assigned(target: ast.expr) -> str:
    """The dotted name of an attribute that is assigned to, or in which something is; empty where it is none."""
    held = root = target.value if isinstance(target, ast.Subscript) else target
    while isinstance(root, ast.Attribute):
        root = root.value
    return ast.unparse(held) if isinstance(held, ast.Attribute) and isinstance(root, ast.Name) else ""


def test_only_official_means_are_used() -> None:
    """In no module of the board."""
    found = {path.relative_to(REPOSITORY).as_posix(): [*tricks(ast.parse(path.read_text(encoding="utf-8")))] for path in SOURCES}
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import ctypes",
        "from ctypes import CDLL",
        "import os\nos.fork()",
        "import sys\nsys.meta_path.insert(0, None)",
        "import sys\nsys.modules['plotly'] = None",
        "import gc\ngc.freeze()",
        "from streamlit.runtime.state import SessionState",
        "import streamlit.runtime",
        "import uvicorn.config\nuvicorn.config.HTTP_PROTOCOLS['auto'] = 'ours'",
        "from streamlit.delta_generator import DeltaGenerator\nDeltaGenerator.text = None",
    ],
)
def test_what_is_no_official_means_is_seen(text: str) -> None:
    """Each way that was once gone."""
    assert [*tricks(ast.parse(text))]


STYLED = [path for ending in ("css", "js", "ts", "py") for path in sorted((REPOSITORY / "board").rglob(f"*.{ending}"))]

OF_STREAMLIT = re.compile(r"data-testid|data-variant|data-test-|data-baseweb|st-emotion|\.st[A-Z]|\bst[A-Z]\w*\]|\[kind=")
"""What leads to an element that Streamlit drew, which the next Streamlit may draw otherwise."""

MOST_OF_STREAMLIT = 5
"""The height and the colour of choices, the line below a button without a frame, whether the script runs, whether the server is there."""


def test_elements_of_streamlit_are_hardly_looked_for() -> None:
    """Styles and scripts know our own containers by their keys; a line that knows Streamlit's own elements says why beside it."""
    found = [
        f"{path.relative_to(REPOSITORY)}: {line.strip()}"
        for path in STYLED
        if not {"built", "vendored"} & set(path.parts)
        for line in path.read_text(encoding="utf-8").splitlines()
        if OF_STREAMLIT.search(line)
    ]
    assert len(found) <= MOST_OF_STREAMLIT, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "is_of_streamlit"),
    [
        ('[data-testid="stText"] { color: red; }', True),
        (".stApp { color: red; }", True),
        ('button[kind="pills"]', True),
        (".st-emotion-cache-1e0skez {}", True),
        ('querySelector("[data-baseweb=select]")', True),
        (".st-key-tabs > * { color: red; }", False),
        ('[class*="st-key-finding_"] button p', False),
        ('.fl [data-kind="error"]', False),
    ],
)
def test_what_leads_to_elements_of_streamlit_is_seen(text: str, is_of_streamlit: bool) -> None:
    """Each way, and none of ours."""
    assert bool(OF_STREAMLIT.search(text)) == is_of_streamlit
