"""Tests of the HTML that names what a page's first screen will ask for."""

from pathlib import Path

import pytest
import streamlit as st

from board.serving.app import pages_html
from board.serving.page_addresses import EVERYWHERE, TABS
from board.serving.preloads import files_of_elements, with_preloads

STATIC = Path(st.__file__).with_name("static")
PAGE = '<html><head><link rel="modulepreload" href="./static/js/a.js"></head><body></body></html>'


def test_every_element_of_a_page_is_one_of_streamlits() -> None:
    """What pages say they draw has files in Streamlit's build, and each of those is there."""
    files = files_of_elements(STATIC)
    for name in {*EVERYWHERE, *(name for tab in TABS for name in tab.elements)}:
        assert Path(files[name][0]).name.startswith(f"{name}.")
        assert [file for file in files[name] if not (STATIC / file).is_file()] == []


def test_each_page_names_what_it_draws() -> None:
    """The scripts of its elements stand in the HTML of a page, and only there; none names Plotly or Streamlit's grid, megabytes both."""
    pages = pages_html()
    assert pages.keys() == {tab.path for tab in TABS}
    assert all("js/BidiComponent." in page for page in pages.values())
    assert all(f"js/{large}." not in page for page in pages.values() for large in ("PlotlyChart", "DataFrame"))
    assert "js/Metric." in pages["compare"]
    assert "js/Metric." not in pages["metrics"]


def test_a_file_is_named_once() -> None:
    """What the page names already, and what two elements share, stands there once; a name is text in the HTML, whatever is in it."""
    files = {
        "One": ("./static/js/a.js", "./static/js/b.js"),
        "Two": ("./static/js/b.js", './static/js/"c.js', "./static/css/d.css"),
    }
    page = with_preloads(PAGE, ("One", "Two", "Three"), files)
    head = page[: page.index("</head>")]
    assert [head.count(f"/{name}") for name in ("a.js", "b.js", "&quot;c.js", "d.css")] == [1, 1, 1, 1]
    assert '<link rel="preload" as="style" crossorigin href="./static/css/d.css">' in head


@pytest.mark.parametrize(
    ("page", "script"),
    [
        pytest.param("<html></html>", "", id="no entry script"),
        pytest.param('<script type="module" src="./static/js/index.js"></script>', "import(`./A.js`)", id="no list of files"),
        pytest.param('<script type="module" src="./static/js/index.js"></script>', 'm.f=["./A.1.js"]', id="nothing comes late"),
    ],
)
def test_another_build_is_left_as_it_is(page: str, script: str, tmp_path: Path) -> None:
    """Where Streamlit is built otherwise nothing is named, and the page is as it was."""
    tmp_path.joinpath("static/js").mkdir(parents=True)
    tmp_path.joinpath("index.html").write_text(page, encoding="utf-8")
    tmp_path.joinpath("static/js/index.js").write_text(script, encoding="utf-8")
    files = files_of_elements(tmp_path)
    assert files == {}
    assert with_preloads(PAGE, EVERYWHERE, files) == PAGE
