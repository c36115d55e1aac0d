"""Leaves out of the server's start what is of no use then: Streamlit's look of Plotly charts, its search through all packages, and looking
for garbage in what was only just imported.

On a machine with 140 packages that is half of the time until the server answers. Knows Streamlit's insides, and nothing of pages;
imports Streamlit only once it is asked to, so that it can be imported before.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

_LOOK: Final = Lock()


@contextmanager
def without_plotly() -> Iterator[None]:
    """Within it nothing can import Plotly, unless that is loaded already.

    Streamlit, where it can, imports it as it is imported itself and builds a template for charts; `put_in_plotly_look` does that later.
    """
    if "plotly" in sys.modules:
        yield
        return
    sys.modules["plotly"] = None  # type: ignore[assignment]  # how Python is told that there is no such module
    try:
        yield
    finally:
        del sys.modules["plotly"]


@contextmanager
def without_collecting() -> Iterator[None]:
    """Within it nobody looks for garbage, and what is there at its end is never looked through again.

    A hundred thousand objects of imported modules stay as long as the server: to look through them takes a tenth of a second, and would
    hold up a reader's click now and then.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def put_in_plotly_look() -> None:
    """Have Plotly's figures made in Streamlit's look from now on, as they are where Streamlit was imported with Plotly there."""
    import plotly.io
    from streamlit.elements.lib import streamlit_plotly_theme

    with _LOOK:  # whoever comes second finds the look whole
        if "streamlit" not in plotly.io.templates:
            streamlit_plotly_theme.configure_streamlit_plotly_theme()


def leave_out_component_search() -> None:
    """Have Streamlit read no package's metadata in search of components: the board brings its own, and Streamlit offers no other way."""
    from streamlit.components.v2 import manifest_scanner

    manifest_scanner.scan_component_manifests = lambda max_workers=None: []
