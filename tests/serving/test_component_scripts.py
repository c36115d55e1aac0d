"""Tests of the scripts of components at addresses of their own: each component is in one, under a name that changes with what is in it."""

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


def write(folder: Path, entries: dict[str, str]) -> None:
    """Components by entry, each of which hands back its text."""
    for entry, text in entries.items():
        (folder / entry).parent.mkdir(parents=True, exist_ok=True)
        (folder / entry).write_text(f"export default () => {text!r};\n", encoding="utf-8")


def test_every_component_is_in_one_script() -> None:
    """The small ones together, each large one alone; the board's are neither all small nor all large."""
    scripts = module.component_scripts()
    assert set(scripts.of_entry) == set(MODULES.entries)
    assert set(scripts.of_entry.values()) == set(scripts.contents)
    for entry, name in scripts.of_entry.items():
        alone = len(MODULES.joined(entry)) > module.LARGE
        assert (name != scripts.of_all_pages) is alone, entry
        assert f'makers["{entry}"]'.encode() in scripts.contents[name]
    assert 1 < len(scripts.contents) < len(scripts.of_entry)


def test_a_script_has_another_name_when_anything_in_it_is(tmp_path: Path) -> None:
    """And only that one: what a browser has of the others stays good."""
    write(tmp_path, {"a/a.js": "a", "b/b.js": "b" * module.LARGE, "c/c.js": "c" * module.LARGE})
    before = module.made(Modules(tmp_path))
    write(tmp_path, {"b/b.js": "B" * module.LARGE})
    after = module.made(Modules(tmp_path))
    assert set(before.contents) ^ set(after.contents) == {before.of_entry["b/b.js"], after.of_entry["b/b.js"]}
    assert before.of_entry["b/b.js"] != after.of_entry["b/b.js"]
    assert before.of_all_pages == before.of_entry["a/a.js"] == after.of_all_pages


def test_served_by_streamlit_alone_a_component_is_its_script() -> None:
    """As `streamlit run` has it, which answers no address of ours."""
    assert module.of("picker/picker.js") == MODULES.script("picker/picker.js")


@pytest.mark.usefixtures("answered_here")
def test_a_message_says_where_the_script_is(browser: TestClient) -> None:
    """In a few words, whatever the script's size; there it is answered, for good."""
    for entry in MODULES.entries:
        said = module.of(entry)
        _, _, address, _, name = said.partition("\n")[0].split(" ")
        assert (name, len(said) < 400) == (entry, True)
        answered = browser.get(f"/{address}")
        assert answered.status_code == 200
        assert answered.content == module.component_scripts().contents[module.component_scripts().of_entry[entry]]
        assert answered.headers["content-type"].startswith("text/javascript")
        assert "immutable" in answered.headers["cache-control"]


@pytest.mark.parametrize(
    "name", ["small-000000000000.js", "picker.js", "%2e%2e%2fapp.py", "small-\N{PILE OF POO}.js", "x" * 9_000]
)
def test_no_other_name_is_answered(name: str, browser: TestClient) -> None:
    """Of a script of before, of a file, of none; and no browser keeps the answer for good."""
    answered = browser.get(f"/{module.PATH}/{name}")
    assert answered.status_code == 404
    assert "cache-control" not in answered.headers


def test_every_page_asks_for_the_small_scripts_along_with_its_own() -> None:
    """Once, in its head, from the second page of a server on; a large one comes when its component does."""
    page = "<html><head><title></title></head><body></head></body></html>"
    module._MADE.clear()
    assert module.asked_for_in(page) == page
    module.component_scripts.cache_clear()
    scripts = module.component_scripts()
    asking = module.asked_for_in(page)
    assert asking.count(".js") == 1
    assert f'<link rel="modulepreload" crossorigin href="./scripts/{scripts.of_all_pages}"></head><body>' in asking


@needs_node
@pytest.mark.usefixtures("answered_here")
def test_what_stands_below_the_address_fetches_the_component(tmp_path: Path) -> None:
    """For the browser side of another Streamlit than was merged, which runs what it is sent: a function comes of each."""
    tmp_path.joinpath(module.PATH).mkdir()
    for name, content in module.component_scripts().contents.items():
        tmp_path.joinpath(module.PATH, name).write_bytes(content)
    tmp_path.joinpath("package.json").write_text('{"type": "module"}', encoding="utf-8")
    entries = MODULES.entries
    for i, entry in enumerate(entries):
        tmp_path.joinpath(f"sent_{i}.js").write_text(module.of(entry), encoding="utf-8")
    # A library that finds a window takes Node for a browser: it is gone once the address was read.
    run = f"""
        const window = {{ __streamlit: {{ BACKEND_BASE_URL: "{tmp_path.as_uri()}/" }} }};
        const get = () => delete globalThis.window && window;
        for (let i = 0; i < {len(entries)}; i++) {{
          Object.defineProperty(globalThis, "window", {{ configurable: true, get }});
          console.log(typeof (await import(`./sent_${{i}}.js`)).default);
        }}
    """
    done = subprocess.run(
        [shutil.which("node") or "", "--input-type=module", "-e", run], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["function"] * len(entries), done.stderr
