"""The text of an object in a notebook: one line, or a small table in escaped HTML."""

import html
from collections.abc import Iterable, Mapping
from typing import Final

from board.text.display import shorten
from board.text.path_names import encodable

LONGEST: Final = 2_000
"""Code points of one fact; a longer one is cut, as a cell is to be glanced at."""

_CELL: Final = '<td style="text-align: left"><pre style="margin: 0; white-space: pre-wrap">'


def line(kind: str, name: str, facts: Iterable[str]) -> str:
    """`Run('tiny', 128 rollouts, 4 steps)`; control characters of the name are written out."""
    return f"{kind}({', '.join([repr(name), *facts])})"


def table(title: str, facts: Mapping[str, str]) -> str:
    """A row for each fact, as HTML. All is escaped, and stands in `<pre>`, where notebooks look for no formulas either."""
    rows = "".join(f"<tr>{_CELL}{_safe(name)}</pre></td>{_CELL}{_safe(fact)}</pre></td></tr>" for name, fact in facts.items())
    return f"<table><caption><pre>{_safe(title)}</pre></caption><tbody>{rows}</tbody></table>"


def _safe(text: str) -> str:
    cut = shorten(text, LONGEST)
    return html.escape(encodable(cut if cut == text else f"{cut}…"))
