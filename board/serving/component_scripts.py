"""Where the scripts of components are: built files that a browser asks for once, at addresses that change with what is in them.

Streamlit sends a component's script along with every message that mounts it, at every click. Here two lines go along that import it from its
address. Where the pages are served by Streamlit alone, it is sent the script itself. `npm run build` writes the files from the modules there.
"""

import json
from functools import cache
from pathlib import Path
from threading import Event
from typing import Final

from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

SOURCES: Final = Path(__file__).parents[1] / "ui" / "components"
BUILT: Final = SOURCES / "built"

PATH: Final = "scripts"
"""Below which address they are answered."""

_ANSWERED: Final = Event()
"""Set where this process answers the scripts."""


def mounted(prefix: str) -> Mount:
    """Answers them below that path; `of` says where they are from now on, not what they are."""
    _ANSWERED.set()
    return Mount(f"{prefix}/{PATH}", StaticFiles(directory=BUILT))


@cache
def built(entry: str) -> Path:
    """The file that was made of an entry module ("token_view/view.js"), under a name with a hash of what is in it. Raises ValueError."""
    found = [*BUILT.glob(f"{entry.removesuffix('.js').replace('/', '.')}-*.js")]
    if len(found) != 1:
        raise ValueError(f"{entry} is built {len(found)} times: npm run build")
    return found[0]


def of(entry: str) -> str:
    """What Streamlit is to run for the component whose entry module is `entry`: the script itself, or two lines that import it.

    Pages lie side by side, so that one relative address leads there from all.
    """
    if not _ANSWERED.is_set():
        return built(entry).read_text(encoding="utf-8")
    address = json.dumps(f"{PATH}/{built(entry).name}")
    # Streamlit takes a single line for the name of a file.
    return f"const script = await import(new URL({address}, document.baseURI).href);\nexport default script.default;\n"


def style(name: str) -> str:
    """A component's style sheet ("token_view/view.css"), as it is written."""
    return SOURCES.joinpath(name).read_text(encoding="utf-8")
