"""Tests of the HTML that every page begins with."""

import base64
import hashlib
import re
from pathlib import Path

import streamlit as st

from board.serving.merged_scripts import merged_scripts
from board.serving.middleware import safe_headers
from board.serving.page_html import page_html

STATIC = Path(st.__file__).with_name("static")


def test_the_server_is_named_before_any_script_asks_for_it() -> None:
    """Whether scripts are merged or not; Streamlit's own HTML follows."""
    for merged in (None, merged_scripts(STATIC)):
        page = page_html(STATIC, merged, login=False)
        assert page.index("BACKEND_BASE_URL") < page.index('<script type="module"')
        assert page.count("<head>") == page.count("window.__streamlit=") == 1


def test_without_merged_scripts_streamlits_are_there() -> None:
    """Another release of Streamlit loads as it does by itself."""
    scripts = re.compile(r'"\./static/([^"]+\.js)"')
    own = STATIC.joinpath("index.html").read_text(encoding="utf-8")
    assert scripts.findall(page_html(STATIC, None, login=False)) == scripts.findall(own)
    assert len(scripts.findall(page_html(STATIC, merged_scripts(STATIC), login=False))) < 8 < len(scripts.findall(own))


def test_the_font_of_icons_is_asked_for_along_with_the_scripts() -> None:
    """By the name that Streamlit's styles ask for it, which is a file of its build."""
    fonts = re.findall(
        r'<link rel="preload" href="\./(static/media/Material[^"]+)" as="font"', page_html(STATIC, None, login=False)
    )
    styles = next(STATIC.glob("static/css/index.*.css")).read_text(encoding="utf-8")
    assert [f"../media/{Path(font).name}" in styles for font in fonts] == [True]
    assert STATIC.joinpath(fonts[0]).is_file()


def test_its_inline_scripts_may_run() -> None:
    """They are named by hash to the browser, which runs no other."""
    page = page_html(STATIC, merged_scripts(STATIC), login=False)
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    policy = safe_headers(page)["content-security-policy"]
    assert len(inline) > 1
    for script in inline:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy


def test_where_readers_log_in_a_page_asks_first() -> None:
    """It is told where the server is, not who may speak to it: so it waits for an answer, and the cookie that comes with it."""
    at_once, asking = (page_html(STATIC, None, login=login) for login in (False, True))
    assert "HOST_CONFIG:" in at_once
    assert "HOST_CONFIG:" not in asking
    assert "BACKEND_BASE_URL:" in asking
