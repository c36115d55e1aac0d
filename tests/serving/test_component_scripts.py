"""Tests of the scripts of components at addresses of their own: each component is in one, under a name that changes with what is in it."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from board.serving import component_scripts as module
from board.serving.script_bundle import Modules

MODULES = Modules()
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


@pytest.fixture
def answered_here() -> Iterator[None]:
    """Within a test this process answers the scripts."""
    module.answer_here()
    yield
    module._ANSWERED.clear()


@pytest.fixture
def browser() -> Iterator[TestClient]:
    """Asks this module and nothing else."""
    with TestClient(Starlette(routes=[Route(f"/{module.PATH}/{{name}}", module.answer)])) as client:
        yield client


def test_every_component_has_a_script_of_its_own() -> None:
    """Under a name that says which, and changes with what is in it."""
    named = module.named_scripts()
    assert set(named) == set(MODULES.entries)
    for entry, (name, text) in named.items():
        assert text == MODULES.script(entry).encode()
        assert name == f"{entry.replace('/', '.').removesuffix('.js')}-{hashlib.sha256(text).hexdigest()[:12]}.js"


def test_served_by_streamlit_alone_a_component_is_its_script() -> None:
    """As `streamlit run` has it, which answers no address of ours."""
    assert module.of("picker/picker.js") == MODULES.script("picker/picker.js")


@pytest.mark.usefixtures("answered_here")
def test_a_message_says_where_the_script_is(browser: TestClient) -> None:
    """In two lines, whatever the script's size; there it is answered, for good."""
    for entry in MODULES.entries:
        said = module.of(entry)
        address = said.split('"')[1]
        assert (said.count("\n"), len(said) < 200) == (2, True)
        answered = browser.get(f"/{address}")
        assert (answered.status_code, answered.text) == (200, MODULES.script(entry))
        assert answered.headers["content-type"].startswith("text/javascript")
        assert "immutable" in answered.headers["cache-control"]


@pytest.mark.parametrize(
    "name", ["picker.picker-000000000000.js", "picker.js", "%2e%2e%2fapp.py", "picker-\N{PILE OF POO}.js", "x" * 9_000]
)
def test_no_other_name_is_answered(name: str, browser: TestClient) -> None:
    """Of a script of before, of a file, of none; and no browser keeps the answer for good."""
    answered = browser.get(f"/{module.PATH}/{name}")
    assert answered.status_code == 404
    assert "cache-control" not in answered.headers


@needs_node
@pytest.mark.usefixtures("answered_here")
def test_what_is_sent_imports_the_component(tmp_path: Path) -> None:
    """From beside the page's own address: a function comes of each."""
    tmp_path.joinpath(module.PATH).mkdir()
    for name, content in module.named_scripts().values():
        tmp_path.joinpath(module.PATH, name).write_bytes(content)
    tmp_path.joinpath("package.json").write_text('{"type": "module"}', encoding="utf-8")
    entries = MODULES.entries
    for i, entry in enumerate(entries):
        tmp_path.joinpath(f"sent_{i}.js").write_text(module.of(entry), encoding="utf-8")
    # A library that finds a document takes Node for a browser: it is gone once the address was read.
    run = f"""
        const get = () => delete globalThis.document && {{ baseURI: "{tmp_path.as_uri()}/responses" }};
        for (let i = 0; i < {len(entries)}; i++) {{
          Object.defineProperty(globalThis, "document", {{ configurable: true, get }});
          console.log(typeof (await import(`./sent_${{i}}.js`)).default);
        }}
    """
    done = subprocess.run(
        [shutil.which("node") or "", "--input-type=module", "-e", run], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["function"] * len(entries), done.stderr
