"""Writes `docs/architecture.md` out of the docstrings of board/: `python docs/architecture.py`. A test holds the page to what this gives."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[1]
PAGE: Final = REPOSITORY / "docs" / "architecture.md"

HEAD: Final = """# How the code is laid out

`board/` is cut into wings: folders with one job each, listed here from the command line down. A module imports from its own wing and from
those below it, never from one above; only `ui/` and `serving/` know Streamlit; `recorder/` needs numpy and orjson alone. The import
contract in `pyproject.toml` says so, and `make lint` checks it. The sentences below are the first of each module's docstring: this page is
written by `python docs/architecture.py`.

Beside `board/` lie `rl_logging_board.py` (the Streamlit entry), `start.sh`, `rollout_samples/` (runs that ship with the board), `examples/`
(trainer integrations, and the tiny trainer that wrote the samples), `benchmarks/`, `docs/` and `tests/`, whose folders mirror the wings.
"""


def wings() -> list[str]:
    """The wings and the modules beside them, as the import contract orders them: highest first."""
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(list(one["layers"]) for one in contracts if one["type"] == "layers")


def first_sentence(source: Path) -> str:
    """The first paragraph of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def rooms(folder: Path, depth: int = 0) -> Iterator[str]:
    """A line for each module and folder below a folder."""
    inside = [path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    for path in sorted(inside, key=lambda one: (one.is_dir(), one.name)):
        if path.name in ("__init__.py", "__main__.py"):
            continue
        said = first_sentence(path / "__init__.py" if path.is_dir() else path)
        yield f"{'  ' * depth}- `{path.name}{'/' if path.is_dir() else ''}`: {said}"
        if path.is_dir():
            yield from rooms(path, depth + 1)


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for wing in wings():
        place = REPOSITORY / "board" / wing
        if place.is_dir():
            parts.append("\n".join([f"## {wing}/", "", first_sentence(place / "__init__.py"), "", *rooms(place)]) + "\n")
        else:
            parts.append(f"## {wing}.py\n\n{first_sentence(place.with_suffix('.py'))}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
