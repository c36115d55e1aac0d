"""Streamlit's browser side as one script in place of a hundred small ones, of which each costs a browser some milliseconds to ask for.

`vendored/` holds the merged script and what is answered for each that is in it: its exports, out of the merged one. So Streamlit's other
scripts, which come when their element does, find what they import, and there is one of everything. Knows Streamlit's build, and no page.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_VENDORED: Final = Path(__file__).with_name("vendored")
_SCRIPTS: Final = "./static/js/"
"""Where a page's HTML has them, from the page."""


@dataclass(frozen=True)
class MergedScripts:
    """The merged script, and what goes with it."""

    name: str
    """Another when anything in it is."""
    entry: str
    """The script that a page begins with where nothing is merged."""
    beside: tuple[str, ...]
    """What it imports of Streamlit's own."""
    parts: Mapping[str, str]
    """By the name of a script that is in it, the entry too: what stands in its place."""
    text: str

    def answers(self) -> dict[str, bytes]:
        """By name, what is answered in place of Streamlit's files."""
        return {name: part.encode() for name, part in {**self.parts, self.name: self.text}.items()}

    def begins(self, page: str) -> str:
        """The HTML text `page` of Streamlit, beginning with the merged script."""
        for part in self.parts:
            page = re.sub(rf'\s*<link rel="modulepreload"[^>]* href="{re.escape(_SCRIPTS + part)}">', "", page)
        wanted = (f'<link rel="modulepreload" crossorigin href="{_SCRIPTS}{name}">' for name in self.beside)
        links = "".join(f"{link}\n" for link in wanted if link not in page)
        return page.replace(f'src="{_SCRIPTS}{self.entry}"', f'src="{_SCRIPTS}{self.name}"').replace(
            "</head>", f"{links}</head>", 1
        )


def merged_scripts(static: Path) -> MergedScripts | None:
    """Those of the Streamlit whose build lies in the folder `static`; None where it is another than was merged: its own scripts do, slower.

    A script of a build has a name of its own, which changes with what is in it.
    """
    described = json.loads((_VENDORED / "streamlit.json").read_text(encoding="utf-8"))
    needed = (*described["parts"], *described["beside"])
    if not all((static / "static" / "js" / name).is_file() for name in needed):
        return None
    text = (_VENDORED / "streamlit.js").read_text(encoding="utf-8")
    return MergedScripts(described["name"], described["entry"], tuple(described["beside"]), described["parts"], text)
