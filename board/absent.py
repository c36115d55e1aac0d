"""A library that is not installed → a sentence that says what to install. Knows which distribution brings a module; imports none of them.

The board is often installed beside a trainer without its dependencies, for the recorder alone (`pip install --no-deps`).
"""

from typing import Final

_DISTRIBUTIONS: Final = {"simdjson": "pysimdjson"}
"""Modules that are not called as what brings them."""


def sentence(error: ModuleNotFoundError, what: str) -> str:
    """What to install so that `what` works. Raises the error itself where it is a module of the board that is missing."""
    module = (error.name or "").partition(".")[0]
    if module in ("", "board"):
        raise error
    name = _DISTRIBUTIONS.get(module, module)
    return (
        f"{what} needs {name}, which is not installed: pip install {name}"
        " (for all that the board needs: pip install -r requirements.txt in its folder)."
    )
