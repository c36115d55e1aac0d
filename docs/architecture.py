"""Writes `docs/architecture.md` out of the docstrings of board/: `python docs/architecture.py`. A test holds the page to what this gives."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[1]
PAGE: Final = REPOSITORY / "docs" / "architecture.md"

HEAD: Final = """# How the code is laid out

`board/` is a few packages. Each imports those below it in this drawing, never one above; the import contract in `pyproject.toml` holds the
order, and `make lint` checks it. Only `ui` and `serving` know Streamlit. `recorder` needs numpy and orjson alone.

```
 a training process                  a terminal, a script, an agent              a browser
        |                                       |                                   |
    recorder  push                     cli (commands, replies,            serving (server, gates, downloads)
        |       |                      indexing, MCP server)                        |
        |    trackers                           |                       ui (pages, frame, shared, state, components)
        |       |                               |                                   |
        |       |            +------------------+-----------------------------------+
        |       |            |
        |       |        figures    what a chart shows          findings   what looks wrong, and the checks
        |       |            |                                     |
        |       |            +--------------- analysis ------------+      what is computed of a run
        |       |                                |
        |       |                sql ------------+               a reader's filter and queries, in a sandbox
        |       |                                |
        v       v                              runs              files -> parts -> one frame and its token arrays
  *.jsonl   a tracker                            |
        |                                metrics   formats       formulas, catalogue; what each trainer writes
        |                                        |
        +---------------------------------->  sources            folders, stores, files, records
                                                 |
                             settings   text   schema   errors
```

## From a shard to a coloured token

1. `sources` lists the files of a folder or a store and reads records out of each kind of file.
2. `formats` tells by the first records who wrote a file, and makes each record rows under the names of `schema`.
3. `runs/parsing` does so for ranges of files in processes of their own, and writes **parts**: Arrow files in the user's cache (`runs/cache`).
4. `runs/loading` says which ranges come first, so that a page can be drawn before all is read; `runs/run.py` is the opened run: a frame of
   one row a rollout, merged by step, and `run.rollout(key)` with its texts and token arrays. A large index opens as sums of steps and a
   slice (`runs/indexed`).
5. `metrics` holds the formulas (KL estimators, pass@k, advantages) and the catalogue of metrics; `analysis` computes what a page shows.
6. `findings` looks at the run in three ways and ranks what it found; `sql` filters.
7. A page in `ui/pages/<page>/` takes run, step and filter from the link (`ui/state/place.py`), computes by `analysis`, and draws by
   `figures` and `ui/components`. The token view is `ui/components/token_view`: its Python makes the payload, its JavaScript colours the
   tokens.

## Where something new goes

[CONTRIBUTING](../CONTRIBUTING.md) has the steps of each.

| new | goes to |
|---|---|
| format | `formats/trainers/<name>.py`, `formats/evaluations/<name>.py`, or a package of your own |
| metric | `metrics/declared/catalogue/<family>.toml` |
| check | `findings/checks/` |
| finding | a row of `findings/watched_numbers.py`, `throughout.py` or `populations.py`, a module in `findings/kinds/`, a package of your own |
| page | `ui/pages/<name>/<name>.py` |
| command | `cli/commands/<name>.py` |

## The packages

The sentences are those of the packages' docstrings: this page is written by `python docs/architecture.py`. Beside `board/` lie
`rl_logging_board.py` (the Streamlit entry), `start.sh`, `rollout_samples/` (runs that ship with the board), `examples/`, `benchmarks/`,
`docs/` and
`tests/`, whose folders have the names of the packages.
"""


def packages() -> list[str]:
    """The packages and the modules at the top, as the import contract orders them: highest first."""
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(list(one["layers"]) for one in contracts if one["type"] == "layers")


def first_sentence(source: Path) -> str:
    """The first paragraph of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def folders(folder: Path, depth: int = 1) -> Iterator[str]:
    """A line for each package below a folder; those of components, one a widget, are not listed."""
    if folder.name == "components":
        return
    for path in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield f"{'  ' * depth}- `{path.name}/`: {first_sentence(path / '__init__.py')}"
        yield from folders(path, depth + 1)


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for name in packages():
        place = REPOSITORY / "board" / name
        source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        lines.append(f"- **`{name}{'/' if place.is_dir() else '.py'}`**: {first_sentence(source)}")
        lines += folders(place)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
