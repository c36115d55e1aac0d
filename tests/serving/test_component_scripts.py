"""Tests of the scripts of components: each is built of its modules as they are, is answered at its address, and is one function."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from board.serving import component_scripts as module
from board.serving.component_scripts import BUILT, SOURCES

REPOSITORY = Path(__file__).parents[2]
ESBUILD = REPOSITORY / "node_modules/.bin/esbuild"
MODULES = {
    path.relative_to(SOURCES).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(SOURCES.rglob("*.js"))
    if not {"built", "vendored"} & set(path.parts)
}
ENTRIES = [name for name, text in MODULES.items() if re.search(r"^export default\b", text, re.MULTILINE)]
PARSES_MARKUP = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "createContextualFragment",
    "document.write",
    "eval(",
    "DOMParser",
)
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


@pytest.fixture
def browser() -> Iterator[TestClient]:
    """Asks this module and nothing else, which says where scripts are as long as the test runs."""
    with TestClient(Starlette(routes=[module.mounted("")])) as client:
        yield client
    module._ANSWERED.clear()


@pytest.mark.skipif(not ESBUILD.exists(), reason="esbuild is not installed")
def test_what_is_built_is_what_the_modules_say(tmp_path: Path) -> None:
    """Byte for byte: a module that was changed without `npm run build` is noticed."""
    for name in ("package.json", "board/ui/components"):
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy)(REPOSITORY / name, target)
    tmp_path.joinpath("node_modules").symlink_to(REPOSITORY / "node_modules")
    subprocess.run(["npm", "run", "--silent", "build"], cwd=tmp_path, check=True, timeout=120)

    def files(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    assert files(tmp_path / "board/ui/components/built") == files(BUILT)


def test_every_component_is_built_once() -> None:
    """And nothing else is."""
    assert sorted(path.name for path in BUILT.iterdir()) == sorted(module.built(entry).name for entry in ENTRIES)
    with pytest.raises(ValueError, match="npm run build"):
        module.built("no/such.js")


def test_every_module_is_part_of_a_component() -> None:
    """No module lies about that no entry leads to."""
    reached, waiting = set(ENTRIES), [*ENTRIES]
    while waiting:
        name = waiting.pop()
        for path in re.findall(r'from "(\.{1,2}/[^"]+\.js)"', MODULES[name]):
            found = (SOURCES / name).parent.joinpath(path).resolve().relative_to(SOURCES).as_posix()
            if found not in reached and "vendored" not in found:
                reached.add(found)
                waiting.append(found)
    assert reached == set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_nothing_parses_text_as_markup(name: str) -> None:
    """A run's texts enter pages as texts."""
    assert not [word for word in PARSES_MARKUP if word in MODULES[name]]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_component_stays_until_it_is_gone(entry: str) -> None:
    """Streamlit calls what a draw returns while the component stays, too: each hands back what waits until it is gone, or nothing."""
    draw = MODULES[entry].partition("export default")[2].partition("\n}\n")[0]
    returned = re.findall(r"^  return (.+)$", draw, re.MULTILINE)
    assert not [one for one in returned if one.startswith("(")]
    assert "whenGone(" in draw or not returned


def test_served_by_streamlit_alone_a_component_is_its_script() -> None:
    """As `streamlit run` has it, which answers no address of ours; of several lines, as Streamlit takes one for a file's name."""
    for entry in ENTRIES:
        text = module.of(entry)
        assert text == module.built(entry).read_text(encoding="utf-8")
        assert len(text.splitlines()) > 1


def test_a_message_says_where_the_script_is(browser: TestClient) -> None:
    """In two lines, whatever the script's size; there it is answered."""
    for entry in ENTRIES:
        said = module.of(entry)
        address = said.split('"')[1]
        assert (said.count("\n"), len(said) < 200) == (2, True)
        answered = browser.get(f"/{address}")
        assert (answered.status_code, answered.text) == (200, module.built(entry).read_text(encoding="utf-8"))
        assert "javascript" in answered.headers["content-type"]


@pytest.mark.parametrize(
    "name",
    [
        "picker.picker-00000000.js",
        "picker.js",
        "%2e%2e/table/table.js",
        "%2e%2e%2fkeys/keys.js",
        "picker-\N{PILE OF POO}.js",
        "x" * 9_000,
    ],
)
def test_no_other_name_is_answered(name: str, browser: TestClient) -> None:
    """Of a script of before, of a file beside, of none."""
    assert browser.get(f"/{module.PATH}/{name}").status_code == 404


@needs_node
def test_what_is_sent_imports_the_component(tmp_path: Path, browser: TestClient) -> None:
    """From beside the page's own address: a function comes of each."""
    shutil.copytree(BUILT, tmp_path / module.PATH)
    tmp_path.joinpath("package.json").write_text('{"type": "module"}', encoding="utf-8")
    for i, entry in enumerate(ENTRIES):
        tmp_path.joinpath(f"sent_{i}.js").write_text(module.of(entry), encoding="utf-8")
    # A library that finds a document takes Node for a browser: it is gone once the address was read.
    run = f"""
        const get = () => delete globalThis.document && {{ baseURI: "{tmp_path.as_uri()}/responses" }};
        for (let i = 0; i < {len(ENTRIES)}; i++) {{
          Object.defineProperty(globalThis, "document", {{ configurable: true, get }});
          console.log(typeof (await import(`./sent_${{i}}.js`)).default);
        }}
    """
    done = subprocess.run(
        [shutil.which("node") or "", "--input-type=module", "-e", run], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["function"] * len(ENTRIES), done.stderr
