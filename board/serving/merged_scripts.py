"""Streamlit's browser side as one script in place of a hundred small ones, of which each costs a browser some milliseconds to ask for.

`vendored/` holds the merged script and what is answered for each that is in it: its exports, out of the merged one. So Streamlit's other
scripts, which come when their element does, find what they import, and there is one of everything. All are answered in a folder of their own:
a browser may have kept Streamlit's own from another time. Knows Streamlit's build, and no page.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_VENDORED: Final = Path(__file__).with_name("vendored")
_STATIC: Final = "./static/"
"""Where a page's HTML has Streamlit's files, from the page."""

_PRELOAD: Final = re.compile(r'\s*<link rel="modulepreload"[^>]* href="\./static/js/([^"]+)">')


@dataclass(frozen=True)
class MergedScripts:
    """The merged script, and what goes with it."""

    name: str
    """Another when anything in it is."""
    entry: str
    """The script that a page begins with where nothing is merged."""
    beside: tuple[str, ...]
    """What it imports of Streamlit's own."""
    replacements: Mapping[str, str]
    """By the name of a script that is in it, the entry too: what stands in its place."""
    script: Path
    """The file that it is kept in."""

    @property
    def folder(self) -> str:
        """Beside Streamlit's `js`: another when anything in the merged script is."""
        return f"merged-{self.name.split('.')[1]}"

    def contents(self, scripts: Path, address: str) -> dict[str, Path | bytes]:
        """By address, which begin with `address` ("/static/"): Streamlit's `scripts`, with the merged one and what replaces those in it."""
        named: dict[str, Path | bytes] = {path.name: path for path in scripts.iterdir() if path.is_file()}
        named |= {name: text.encode() for name, text in self.replacements.items()}
        named[self.name] = self.script
        return {f"{address}{self.folder}/{name}": content for name, content in named.items()}

    def begins(self, page: str) -> str:
        """The HTML text `page` of Streamlit, beginning with the merged script."""
        gone = {*self.replacements, *self.beside}
        page = _PRELOAD.sub(lambda link: "" if link[1] in gone else link[0], page)
        here = f"{_STATIC}{self.folder}/"
        links = "".join(f'<link rel="modulepreload" crossorigin href="{here}{name}">\n' for name in self.beside)
        return page.replace(f'src="{_STATIC}js/{self.entry}"', f'src="{here}{self.name}"').replace(
            "</head>", f"{links}</head>", 1
        )


def merged_scripts(static: Path) -> MergedScripts | None:
    """Those of the Streamlit whose build lies in the folder `static`; None where it is another than was merged: its own scripts do, slower.

    A script of a build has a name of its own, which changes with what is in it.
    """
    described = json.loads((_VENDORED / "streamlit.json").read_text(encoding="utf-8"))
    there = {path.name for path in (static / "static" / "js").iterdir()}
    if not there.issuperset((*described["replacements"], *described["beside"])):
        return None
    script = _VENDORED / "streamlit.js"
    return MergedScripts(described["name"], described["entry"], tuple(described["beside"]), described["replacements"], script)
