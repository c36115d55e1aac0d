"""Answers the scripts of components at addresses of their own: a browser asks for each once, and keeps it.

Streamlit sends a component's script along with every message that mounts it, at every click. Here two lines go along that import it from its
address. Where the pages are served by Streamlit alone, it is sent the script itself.
"""

import json
from functools import cache
from hashlib import sha256
from threading import Event
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from board.serving.script_bundle import Modules

PATH: Final = "scripts"
"""Below which address they are answered."""

_FOREVER: Final = {"cache-control": f"public, immutable, max-age={365 * 24 * 3600}"}
"""Of what has another name when anything in it is another: a browser need not ask twice."""

_ANSWERED: Final = Event()
"""Set where this process answers the scripts."""


@cache
def named_scripts() -> dict[str, tuple[str, bytes]]:
    """Name and text of each component's script, by its entry module: a name is another when anything in the script is."""
    modules = Modules()
    texts = {entry: modules.script(entry).encode() for entry in modules.entries}
    return {entry: (f"{entry.replace('/', '.')[:-3]}-{sha256(text).hexdigest()[:12]}.js", text) for entry, text in texts.items()}


def answer_here() -> None:
    """Have `of` say where the scripts are from now on, not what they are: this process answers them."""
    _ANSWERED.set()


def of(entry: str) -> str:
    """What Streamlit is to run for the component whose entry module is `entry`: the script itself, or two lines that import it.

    Pages lie side by side, so that one relative address leads there from all.
    """
    if not _ANSWERED.is_set():
        return Modules().script(entry)
    address = json.dumps(f"{PATH}/{named_scripts()[entry][0]}")
    # Streamlit takes a single line for the name of a file.
    return f"const script = await import(new URL({address}, document.baseURI).href);\nexport default script.default;\n"


def answer(request: Request) -> Response:
    """The script that a request's `name` asks for."""
    found = dict(named_scripts().values()).get(request.path_params["name"])
    if found is None:
        return PlainTextResponse("There is no such script.\n", status_code=404)
    return Response(found, media_type="text/javascript", headers=_FOREVER)
