"""The HTML of each page, with the scripts named that the page's first screen will ask for.

Streamlit's browser side asks for the script of an element when the element comes: forty small files, one after another with the page's
own script on the server and the drawing in the browser. Named in the HTML they are there before. Knows Streamlit's build, not what is on a page.
"""

import html
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

_FILES: Final = re.compile(r"\bm\.f=\[([^\]]*)\]")
_NAME: Final = re.compile(r'"\./([^"]+)"|"\.\./([^"]+)"')
_ENTRY: Final = re.compile(r'<script type="module"[^>]* src="\./static/js/([^"]+)"')
_LAZY: Final = re.compile(r"import\(`\./(\w+)\.[\w-]+\.js`\)[^()]*(?:\([^()]*\)[^()]*)*?__vite__mapDeps\(\[([\d,]*)\]\)")


def files_of_elements(static: Path) -> Mapping[str, tuple[str, ...]]:
    """By the name of an element's script (`Selectbox`): it and what it imports, as addresses relative to the page.

    Read out of Streamlit's build in its folder `static`. Empty where the build is made otherwise: then pages load as Streamlit loads them.
    """
    entry = _ENTRY.search(static.joinpath("index.html").read_text(encoding="utf-8"))
    if entry is None:
        return {}
    script = static.joinpath("static", "js", entry[1]).read_text(encoding="utf-8")
    listed = _FILES.search(script)
    if listed is None:
        return {}
    files = [f"./static/js/{here}" if here else f"./static/{above}" for here, above in _NAME.findall(listed[1])]
    return {name: tuple(files[int(at)] for at in places.split(",") if at) for name, places in _LAZY.findall(script)}


def with_preloads(page: str, elements: Collection[str], files: Mapping[str, tuple[str, ...]]) -> str:
    """The HTML text `page` that names the files of those elements, each once, behind those that it names already."""
    wanted = dict.fromkeys(file for element in elements for file in files.get(element, ()))
    links = "".join(_link(file) for file in wanted if f'"{file}"' not in page)
    return page.replace("</head>", f"{links}</head>", 1)


def _link(file: str) -> str:
    if file.endswith(".css"):
        return f'<link rel="preload" as="style" crossorigin href="{html.escape(file)}">\n'
    return f'<link rel="modulepreload" fetchpriority="low" crossorigin href="{html.escape(file)}">\n'
