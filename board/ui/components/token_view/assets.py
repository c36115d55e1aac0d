"""Reads the component's script and style out of the package. Knows nothing of what they draw.

Streamlit runs an inline component from one string of JavaScript, without relative imports. The sources are ordinary ES modules,
so that editors and Node's test runner read them as they are; `script` joins them: files in an order where each comes after
those it imports, import lines dropped, `export` taken off everything but the last file's default. They then share one scope, so
a top-level name may be used once.
"""

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Final

VIEW_FILES: Final = (
    "format.js",
    "marks.js",
    "tokens.js",
    "scale.js",
    "ranges.js",
    "color.js",
    "pins.js",
    "hub.js",
    "stretch.js",
    "heat_layout.js",
    "chart_layout.js",
    "find.js",
    "rank.js",
    "placing.js",
    "bytes.js",
    "alternatives.js",
    "clusters.js",
    "folding.js",
    "units.js",
    "model.js",
    "dom.js",
    "glyphs.js",
    "flow.js",
    "labels.js",
    "text.js",
    "bar.js",
    "brush.js",
    "heat_paint.js",
    "heat.js",
    "chart.js",
    "plots.js",
    "minimap.js",
    "range.js",
    "switches.js",
    "key_names.js",
    "finder.js",
    "tip.js",
    "surroundings.js",
    "compare.js",
    "table.js",
    "skeleton.js",
    "keys.js",
    "view.js",
)
"""What the token view runs; the files before `dom.js` are pure and need no browser."""

CHOICE_FILES: Final = ("pins.js", "hub.js", "choice.js")
"""What carries a choice made on the server into a view that is already drawn."""

_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


def source(name: str) -> str:
    """One file of the package, as written."""
    return files("board.ui.components.token_view").joinpath(name).read_text(encoding="utf-8")


def script(names: Sequence[str]) -> str:
    """The named modules as one, in this order; exactly one of them, the last, exports a default."""
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", source(name))) for name in names)


def style() -> str:
    """The component's style sheet."""
    return source("view.css")
