"""Tests of the merged script: it is made of the installed Streamlit, whole, and stands aside where another is installed."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import streamlit as st

from board.serving import merged_scripts as module
from board.serving.merged_scripts import MergedScripts, merged_scripts

REPOSITORY = Path(__file__).parents[2]
STATIC = Path(st.__file__).with_name("static")
VENDORED = Path(module.__file__).with_name("vendored")
MERGED = MergedScripts(
    "all.1.js", "index.1.js", ("beside.js",), {"index.1.js": 'import"./all.1.js"', "a.js": "a"}, Path("all.js")
)
needs_rollup = pytest.mark.skipif(
    shutil.which("node") is None or not (REPOSITORY / "node_modules/@rollup").exists(), reason="node_modules is not installed"
)


@needs_rollup
def test_merging_again_gives_the_same(tmp_path: Path) -> None:
    """Nothing was changed by hand: out of the installed build come these very bytes."""
    script = REPOSITORY / "tools" / "merge_scripts.mjs"
    done = subprocess.run(["node", script, STATIC, tmp_path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for made in ("streamlit.js", "streamlit.json"):
        assert (tmp_path / made).read_bytes() == (VENDORED / made).read_bytes(), made


@needs_rollup
def test_a_build_of_another_kind_is_not_merged(tmp_path: Path) -> None:
    """The command says what it did not find, and writes nothing."""
    tmp_path.joinpath("index.html").write_text("<html></html>", encoding="utf-8")
    script = REPOSITORY / "tools" / "merge_scripts.mjs"
    done = subprocess.run(["node", script, tmp_path, tmp_path / "into"], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "index.html has no entry script" in done.stderr
    assert not tmp_path.joinpath("into").exists()


def test_what_is_merged_is_noted() -> None:
    """The release, beside the licence; nothing else lies there."""
    assert f"# Streamlit {st.__version__}\n" in (VENDORED / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in VENDORED.iterdir()} == {"streamlit.js", "streamlit.json", "README.md", "LICENSE"}


def test_every_replacement_finds_its_exports() -> None:
    """What stands in a script's place gives the names that the script gave, out of the merged one, which has them all."""
    merged = merged_scripts(STATIC)
    assert merged is not None
    text = merged.script.read_text(encoding="utf-8")
    exported = set(re.findall(r"\bas (m\d+_[\w$]+)", text[text.rindex("export{") :]))
    for name, text_there in merged.replacements.items():
        own = re.search(r"export\{([^}]*)\};?\s*$", STATIC.joinpath("static/js", name).read_text(encoding="utf-8"))
        pairs = re.findall(r"(m\d+_[\w$]+) as ([\w$]+)", text_there)
        assert sorted(to for _, to in pairs) == sorted(one.split(" as ")[-1] for one in own[1].split(",")) if own else not pairs
        assert {out_of for out_of, _ in pairs} <= exported
        assert text_there.endswith(f'"./{merged.name}";')
    assert len(merged.replacements) > 80


@pytest.mark.parametrize("of", ["replacements", "beside"])
def test_another_release_is_left_as_it_is(of: str, tmp_path: Path) -> None:
    """A build that lacks one of the scripts, as any other release does, gets no merged one."""
    described = json.loads((VENDORED / "streamlit.json").read_text(encoding="utf-8"))
    scripts = tmp_path / "static" / "js"
    scripts.mkdir(parents=True)
    for name in (*described["replacements"], *described["beside"]):
        (scripts / name).touch()
    assert merged_scripts(tmp_path) is not None
    (scripts / next(iter(described[of]))).unlink()
    assert merged_scripts(tmp_path) is None


def test_a_page_begins_with_the_merged_script() -> None:
    """It stands in the entry's place, and what it imports is named; what is in it is not asked for any more."""
    page = """<html><head>
    <script type="module" crossorigin src="./static/js/index.1.js"></script>
    <link rel="modulepreload" crossorigin href="./static/js/a.js">
    <link rel="modulepreload" crossorigin href="./static/js/beside.js">
    <link rel="modulepreload" crossorigin href="./static/js/other.js">
  </head></html>"""
    named = ["merged-1/all.1.js", "js/other.js", "merged-1/beside.js"]
    assert re.findall(r"static/([\w./-]+)\"", MERGED.begins(page)) == named


def test_all_scripts_lie_in_one_folder(tmp_path: Path) -> None:
    """Those that are merged, as what stands in for them, and all others as they are: nothing is imported from where a browser has kept
    Streamlit's own."""
    for name in ("a.js", "index.1.js", "other.js"):
        (tmp_path / name).write_text("Streamlit's", encoding="utf-8")
    assert MERGED.contents(tmp_path, "/static/") == {
        "/static/merged-1/a.js": b"a",
        "/static/merged-1/index.1.js": b'import"./all.1.js"',
        "/static/merged-1/other.js": tmp_path / "other.js",
        "/static/merged-1/all.1.js": Path("all.js"),
    }
