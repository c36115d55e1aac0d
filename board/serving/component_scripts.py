"""Answers the scripts of components at addresses of their own: a browser asks for each once, and keeps it.

Streamlit sends a component's script along with every message that mounts it, at every click, and the browser makes a file of it each time.
Here a line goes along that says where the script is. Small scripts are joined into one, which every page asks for along with Streamlit's
own; a large one comes when its component does. Where the pages are served by Streamlit alone, it is sent the scripts themselves.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from threading import Event
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from board.serving.kept_files import FOREVER
from board.serving.script_bundle import Modules

PATH: Final = "scripts"
"""Below which address they are answered."""

LARGE: Final = 20_000
"""A script of more characters is none that every page asks for: it takes a browser 10 ms and more to read."""

_ANSWERED: Final = Event()
"""Set where this process answers the scripts."""

_MADE: Final = Event()
"""Set once the scripts are made."""


@dataclass(frozen=True)
class ComponentScripts:
    """The scripts of all components, by name; a name is another when anything in the script is."""

    contents: Mapping[str, bytes]
    of_entry: Mapping[str, str]
    """The name of the script that has a component, by the component's entry module."""
    of_all_pages: str
    """The name of the one that has all that are small."""


def made(modules: Modules) -> ComponentScripts:
    """Those of all components. Raises ValueError as `Modules.script` does."""
    large = [entry for entry in modules.entries if len(modules.joined(entry)) > LARGE]
    small = [entry for entry in modules.entries if entry not in large]
    bundles = [_named("small", small, modules), *(_named(_called(entry), [entry], modules) for entry in large)]
    of_entry = {entry: name for name, of_it, _ in bundles for entry in of_it}
    return ComponentScripts({name: text for name, _, text in bundles}, of_entry, bundles[0][0])


@cache
def component_scripts() -> ComponentScripts:
    """Those of the board, made with the first component of the first page."""
    scripts = made(Modules())
    _MADE.set()
    return scripts


def asked_for_in(page: str) -> str:
    """The HTML text `page`, asking for what all pages need along with its own scripts; the first page of all does not wait until it is made."""
    if not _MADE.is_set():
        return page
    link = f'<link rel="modulepreload" crossorigin href="./{PATH}/{component_scripts().of_all_pages}">'
    return page.replace("</head>", f"{link}</head>", 1)


def answer_here() -> None:
    """Have `of` say where the scripts are from now on, not what they are: this process answers them."""
    _ANSWERED.set()


def of(entry: str) -> str:
    """What Streamlit is to run for the component whose entry module is `entry`: the script itself, or a line that fetches it.

    The first line is for the merged script, which goes to the address at once; without that, as at an address that is no page's, the
    browser runs the others.
    """
    if not _ANSWERED.is_set():
        return Modules().script(entry)
    address = f"{PATH}/{component_scripts().of_entry[entry]}"
    return (
        f"// at {address} component {entry}\n"
        "const server = window.__streamlit?.BACKEND_BASE_URL ?? document.baseURI;\n"
        f"const address = new URL({json.dumps(address)}, server).href;\n"
        f"export default (await import(address)).component({json.dumps(entry)});\n"
    )


def answer(request: Request) -> Response:
    """The script that a request's `name` asks for."""
    content = component_scripts().contents.get(request.path_params["name"])
    if content is None:
        return PlainTextResponse("There is no such script.\n", status_code=404)
    return Response(content, media_type="text/javascript", headers=FOREVER)


def _called(entry: str) -> str:
    """What a component's own script is called, after its folder."""
    return entry.partition("/")[0]


def _named(called: str, entries: list[str], modules: Modules) -> tuple[str, list[str], bytes]:
    """A script's name, the entries that are in it, and its text."""
    text = modules.bundle(entries).encode()
    return f"{called}-{sha256(text).hexdigest()[:12]}.js", entries, text
