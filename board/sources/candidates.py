"""Which files may hold rollouts: by their names, else by their first bytes.

Experiments are full of `.json` files, nearly all of one object: configurations, states, results. So of those a list of objects, one object
after another, and an object that says so by its first keys are looked at, as are the names that a trainer gives its episodes; any other
object where a mapping by hand lies next to it, or where it begins as an object next to it that is looked at. A database is one that trackio
wrote traces or completions to. No record is read here.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from board.errors import RunNotFound
from board.sources import presence, run_files, sqlite_files, trackio_rollouts
from board.text.path_names import shown

SUFFIXES: Final = (
    ".jsonl",
    ".jsonl.gz",
    ".jsonl.zst",
    ".jsonl.xz",
    ".jsonl.bz2",
    ".parquet",
    ".arrow",
    ".feather",
    ".csv",
    ".eval",
)

LOOKED_FOR: Final = (
    f"{', '.join('*' + suffix for suffix in SUFFIXES)}, *.json with a list of objects, an object per line or one that holds messages, "
    "*.pt or *.json named after a step or an episode, and *.db of trackio with traces"
)
"""What is looked for, in words."""

_BY_NAME: Final = re.compile(
    r"(?:eval_)?[0-9]+(?:_[0-9]+)?\.pt|.*rollout.*\.pt|episode_.*\.json|completions_[0-9]+_[0-9a-f]+\.table\.json"
)
"""Of the many `.pt` and `.json` files of an experiment those that may hold rollouts; what is in them decides."""

_LOOSE: Final = (".csv", ".json", sqlite_files.ENDING)
"""Endings that say little: such a file next to folders of runs does not make their parent folder a run."""

_SESSION: Final = re.compile(r"[0-9a-f]{32}-[0-9a-f]{32}-.*\.jsonl")
_OF_TRACKIO: Final = re.compile(rb'\{"type": ?"session",[^\r\n]*"harness": ?"trackio"')
"""What trackio calls a trace that it also writes next to its database, to be shown elsewhere, and how that begins."""

_GLANCE: Final = 4_096
_OPENS_LIST: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{")
_OBJECT_PER_LINE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{[^\r\n]*\}[ \t]*\r?\n\s*\{")
_LONG_LINE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{[^\r\n]*\Z")
_OPENS_OBJECT: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*("(?:[^"\\]|\\.)*")\s*:')
_SPEAKS: Final = re.compile(
    rb'(?<!\\)"(?:responses?|response_tokens|completions?|generations?|model_response|output_response|response_str|messages|conversations?|rollouts'
    rb'|trajectory|trajectories|role)"\s*:\s*(?:["\[]|\{\s*"0"\s*:)'
)
"""A key of rollouts, of any trainer, with a text, a list or a column of a table, at any depth."""

_TABLE: Final = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"columns":\s*\[[^\]]*"(?:[^"]*[/ ])?'
    rb"(?:responses?|output|completions?|output_response|model_(?:response|output)|generations?|generated_text|output_text|text|messages"
    rb'|conversations?|predictions?|trajectory|rollout)"',
    re.IGNORECASE,
)
"""How a table of W&B begins that has a column of what was sampled."""

_EVALUATION: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"version":\s*[0-9]+,\s*"status":\s*"[a-z]+",\s*"eval":\s*\{')
"""How a log of inspect_ai begins."""

_SIMULATIONS: Final = re.compile(rb'\s*\{\s*"timestamp":\s*(?:null|"[^"]*"),\s*"info":\s*\{\s*"git_commit"')
"""How the results of tau2-bench begin, whose simulations stand far below."""

_SETTINGS: Final = re.compile(
    r"(?:.*config|.*args|hparams|.*tokenizer.*|special_tokens_map|vocab|added_tokens|.*\.index|.*\.account|trainer_state|dataset_info"
    r"|dataset_dict|state|metadata|manifest|(?:all|train|eval|test|predict)_results|.*metrics|.*summary|.*metadata)\.json"
)
"""What trainers and libraries write next to rollouts: never one itself."""

MAPPING: Final = "rollouts.toml"
"""What a mapping by hand is called, in the run's folder or one above it."""

ONE_OBJECT: Final = f"is one JSON object that does not look like a rollout; with a mapping ({MAPPING}) next to it, it is read"
"""Why a file is left out that may be one rollout."""

HALF_WRITTEN: Final = "has the name of a file that is still being written, and is not read"

_HALF_WRITTEN: Final = re.compile(r"(.+)\.(?:tmp|temp|part|partial|incomplete)(?:[._-]?\w+)?")
"""What programs call a file until it is whole: its name, and an ending of theirs."""

_DATABASES: Final = {"SQLite": (0, b"SQLite format 3\0"), "DuckDB": (8, b"DUCK")}
"""Where in a file what stands that tells whose it is."""

_EXPORT: Final = {
    "SQLite": 'sqlite3 -json FILE "SELECT * FROM rollouts" > rollouts.json',
    "DuckDB": "duckdb FILE \"COPY rollouts TO 'rollouts.parquet'\"",
}


def may_hold_rollouts(path: Path, within: Path) -> bool:
    """Whether a file is to be looked at, which must lie within the folder. What cannot be opened is not."""
    name = path.name
    if _SESSION.fullmatch(name) and _OF_TRACKIO.match(_beginning(path, within)):
        return False
    return _has_traces(path, within) if name.endswith(sqlite_files.ENDING) else _is_called_so(path, name, within)


def _first_key(path: Path, within: Path) -> bytes:
    """The first key of a `.json` file that is an object and is not known to be something else than rollouts; empty for any other file."""
    if not path.name.endswith(".json") or _SETTINGS.fullmatch(path.name):
        return b""
    found = _OPENS_OBJECT.match(_beginning(path, within))
    return found[1] if found else b""


def mapping_of(folder: Path) -> Path | None:
    """The mapping by hand of a run: in its folder, else in the one above it. No link counts, nor an empty file, as a shell makes it first."""
    places = [place / MAPPING for place in (folder, folder.resolve().parent)]
    return next((path for path in places if path.is_file() and not path.is_symlink() and path.stat().st_size), None)


def sorted_out(folder: Path, names: list[str], within: Path, *, mapped: bool) -> tuple[list[Path], dict[Path, str]]:
    """The files of a folder that may hold rollouts, and why others are left out: objects that do not look like it, half-written files.

    An object is looked at, too, where its first key is that of another one which is, and where there is a mapping: its size says nothing.
    """
    paths = [folder / name for name in names if not name.startswith(".")]
    taken = [path for path in presence.ahead(paths, _looked_into) if may_hold_rollouts(path, within)]
    others = {path: key for path in {*paths} - {*taken} if (key := _first_key(path, within))}
    alike = {_first_key(path, within) for path in taken} if others else ()
    read = [path for path, key in others.items() if mapped or key in alike]
    half = [path for path in paths if (stem := _HALF_WRITTEN.fullmatch(path.name)) and _is_called_so(path, stem[1], within)]
    left_out = dict.fromkeys(others.keys() - {*read}, ONE_OBJECT) | dict.fromkeys({*half} - {*taken}, HALF_WRITTEN)
    return [*taken, *read], dict(sorted(left_out.items()))


def _is_called_so(path: Path, name: str, within: Path) -> bool:
    """Whether a file would be looked at if that were its name."""
    if name.endswith(SUFFIXES) or _BY_NAME.fullmatch(name):
        return True
    return name.endswith(".json") and not _SETTINGS.fullmatch(name) and _has_records(_beginning(path, within))


def _looked_into(path: Path) -> list[presence.Span]:
    """The beginning of a file whose name does not say whether it is to be looked at."""
    is_open = _SESSION.fullmatch(path.name) or path.name.endswith((".json", sqlite_files.ENDING))
    return [(path, 0, _GLANCE)] if is_open else []


def is_loose(name: str) -> bool:
    """Whether the end of the name says so little that the file alone makes no run of its folder."""
    return name.endswith(_LOOSE)


def database(path: Path, within: Path) -> str:
    """What to do with a file that is a database, one sentence; empty when it is none, whatever its name."""
    if path.name.endswith(sqlite_files.ENDING) and _has_traces(path, within):
        return ""
    start = _beginning(path, within)
    kind = next((name for name, (at, magic) in _DATABASES.items() if start[at : at + len(magic)] == magic), "")
    how = _EXPORT.get(kind, "").replace("FILE", shown(path.name))
    return (
        f"is a database of {kind}, which the board does not open: export the table of its rollouts, as by {how}" if kind else ""
    )


def databases_in(folder: Path, within: Path | None = None) -> dict[str, str]:
    """Files directly in a folder that are databases, by name, and what to do with each."""
    allowed = (within or folder).resolve()
    others = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".") and not path.name.endswith(SUFFIXES)]
    return {shown(path.name): said for path in others if (said := database(path, allowed))}


def _has_records(start: bytes) -> bool:
    """Whether a file that begins so is a list of objects, or has an object per line, the first of which may go on behind the glance, or is
    an object with a key of rollouts."""
    if any(one.match(start) for one in (_OPENS_LIST, _OBJECT_PER_LINE, _EVALUATION, _SIMULATIONS, _TABLE)):
        return True
    if _OPENS_OBJECT.match(start) and _SPEAKS.search(start):
        return True
    return len(start) == _GLANCE and bool(_LONG_LINE.match(start))


def _has_traces(path: Path, within: Path) -> bool:
    """Whether a file is a database of trackio with traces or completions, looked at again when it or its log has changed."""
    _, magic = _DATABASES["SQLite"]
    if not _beginning(path, within).startswith(magic):
        return False
    try:
        return _holds(path, within, *sqlite_files.state(path, run_files.check(path, within=within)))
    except OSError:
        return False


@lru_cache(maxsize=1_000)
def _holds(path: Path, within: Path, _size: int, _mtime_ns: int) -> bool:
    return trackio_rollouts.holds(path, within)


def _beginning(path: Path, within: Path) -> bytes:
    """The first bytes of a file, looked at again when it has changed; none when it cannot be opened."""
    try:
        status = run_files.check(path, within=within)
        return _read(path, within, status.st_size, status.st_mtime_ns)
    except OSError:
        return b""


@lru_cache(maxsize=10_000)
def _read(path: Path, within: Path, _size: int, _mtime_ns: int) -> bytes:
    with run_files.opened(path, within=within) as stream:
        return stream.read(_GLANCE)


_INSTEAD: Final = {
    re.compile(r".*\.tsv"): "is separated by tabs: with commas, as .csv, it is read",
    re.compile(r".*\.json\.(?:gz|zst|xz|bz2)"): "is packed: unpacked, as .json, it is read",
}
_LISTS: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*[\[\"]")

_LOOKED_INTO: Final = 1_000
"""Of a folder without a shard so many files are looked into, to tell what they are."""


def no_shards(folder: Path) -> RunNotFound:
    """The error for a folder without a single shard: what was looked for, and what is there instead."""
    seen = sorted(shown(path.name) for path in folder.iterdir() if not path.name.startswith("."))[:8]
    there = f"It holds {', '.join(seen)}." if seen else "It is empty."
    hints = [f"{name} {said}." for name, said in databases_in(folder).items()]
    for path in sorted(folder.iterdir())[:_LOOKED_INTO]:
        hints += [f"{shown(path.name)} {said}." for name, said in _INSTEAD.items() if name.fullmatch(path.name)]
        if path.suffix == ".json" and _LISTS.match(_beginning(path, folder.resolve())):
            hints.append(
                f"{shown(path.name)} is a list without objects: an object for each rollout, its texts under keys, is read."
            )
    hints += [
        f"{shown(path.name)} looks like JSON: with .json at the end of its name it is read."
        for path in sorted(folder.iterdir())[:_LOOKED_INTO]
        if path.suffix != ".json" and _OPENS_OBJECT.match(_beginning(path, folder.resolve()))
    ]
    return RunNotFound(
        f"No rollouts in {shown(folder.resolve().name)!r}: looked for {LOOKED_FOR}, at any depth. {' '.join([there, *hints[:8]])}"
    )
