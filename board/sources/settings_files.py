"""The settings files of a run, each read into plain values or refused with a reason.

They lie next to its rollouts. Known are a trainer's own `config.yaml`, `args.json` and the like, Hydra's folder (verl and others are set by
Hydra), W&B's `config.yaml`, whose values stand under `value`, and TRL's training_args as JSON. `training_args.bin` is a pickle, which would
execute what it holds: it is named and left. Only regular files inside the root are read, and only small ones.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from board.errors import RowRefused
from board.sources import nearby_files, run_files, toml_text, yaml_text
from board.text.path_names import shown

MOST_BYTES: Final = 1 << 20
"""Of one file; the largest trainer's settings have some 40 kB."""

MOST_LETTERS: Final = 4_000_000
"""Of all values and of their dotted names, written out one by one. A name of half the file's size above many values, or a long text that
aliases repeat, would come to gigabytes."""

_LEVELS: Final = 2
"""Folders above the run's that are looked into: trainers write rollouts into a folder of their own, below what made them. In the upper one
only Hydra's folder counts, which nothing else is called."""

_HYDRA: Final = ".hydra"
_OVERRIDES: Final = "overrides.yaml"
_PICKLED: Final = "training_args.bin"

NAMES: Final = tuple(
    f"{stem}{ending}" for stem in ("config", "args", "training_args", "hparams") for ending in (".yaml", ".yml", ".json", ".toml")
)
"""What such a file is called, what is likeliest to hold all of it first."""

_OF_WANDB: Final = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-.+")
_SECRET: Final = re.compile(
    r"(?:^|[_/.-])(?:api_?key|access_key|secret|secret_key|password|passwd|(?:hub|hf|auth|access|api)_token)$", re.IGNORECASE
)

HIDDEN: Final = "(not shown)"
"""Stands for keys and passwords, which trainers write among their settings."""


@dataclass(frozen=True)
class SettingsFile:
    """One file of settings as it was read, or why it was not."""

    name: str
    """Its path from the run's folder, as `board.text.path_names` shows it; `../` leads out of it."""
    values: Any = None
    """Dictionaries by text, lists, texts, numbers, truth values and None; None where it could not be read."""
    refused: str = ""
    """Why it could not be read; empty where it was."""


def find_settings(location: Path, root: Path) -> tuple[SettingsFile, ...]:
    """The settings in a run's folder, or in the nearest of the two above it that has any, but in none outside the root; likeliest first.

    What could not be read in nearer folders stands at the end.
    """
    unread: list[SettingsFile] = []
    folder = location if location.is_dir() else location.parent
    for level, above in enumerate((folder, *folder.parents[:_LEVELS])):
        if not above.resolve().is_relative_to(root.resolve()):
            break
        found = [_read(path, folder, root) for path in (_files(above) if level < _LEVELS else _of_hydra(above))]
        if any(not one.refused for one in found):
            return (*found, *unread)
        unread += found
    return tuple(unread)


def _files(folder: Path) -> Iterator[Path]:
    """The files of settings of a folder, in the order of how much they say."""
    yield from _of_hydra(folder)
    here = {path.name: path for path in nearby_files.listed_files(folder)}
    yield from (here[name] for name in NAMES if name in here)
    yield from _of_wandb(folder)
    if _PICKLED in here:
        yield here[_PICKLED]


def _of_hydra(folder: Path) -> Iterator[Path]:
    """What Hydra composed; where that was not saved, what its command line overrode."""
    inside = folder / _HYDRA
    files = {path.name: path for path in nearby_files.listed_files(inside)} if not inside.is_symlink() else {}
    yield from [files[name] for name in ("config.yaml", _OVERRIDES) if name in files][:1]


def _of_wandb(folder: Path) -> Iterator[Path]:
    """The settings that W&B keeps of the last run it began here, whose folders are named after their time."""
    runs = folder / "wandb"
    inside = [one for one in nearby_files.folders(runs) if _OF_WANDB.fullmatch(one.name)] if not runs.is_symlink() else []
    begun = sorted(inside, key=lambda one: one.name.removeprefix("offline-"))
    files = [path for one in begun[-1:] for path in nearby_files.listed_files(one / "files")]
    yield from (path for path in files if path.name == "config.yaml")


def _read(path: Path, folder: Path, root: Path) -> SettingsFile:
    name = shown(os.path.relpath(path, folder))
    if path.name == _PICKLED:
        return SettingsFile(name, refused="is a pickle, which executes what it holds: save the same as training_args.json")
    try:
        values = _PARSERS[path.suffix](run_files.whole(path, most=MOST_BYTES, within=root))
        plain = _plain(_settings(values, path.name))
        if _letters(plain, 0) > MOST_LETTERS:
            return SettingsFile(
                name, refused=f"comes to more than {MOST_LETTERS:,} letters once it is written out, as no settings do"
            )
        return SettingsFile(name, plain)
    except OSError as error:
        return SettingsFile(name, refused=f"cannot be read: {error.strerror or error}")
    except RowRefused as error:
        return SettingsFile(name, refused=str(error))
    except RecursionError:
        return SettingsFile(name, refused="is nested too deeply, as no settings are")


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise RowRefused(f"is not JSON: {error}") from error


def _toml(data: bytes) -> Any:
    try:
        return toml_text.parse(data.decode())
    except UnicodeDecodeError as error:
        raise RowRefused(f"is not TOML: {error}") from error


_PARSERS: Final[Mapping[str, Callable[[bytes], Any]]] = {
    ".yaml": yaml_text.parse,
    ".yml": yaml_text.parse,
    ".json": _json,
    ".toml": _toml,
}


def _settings(values: Any, name: str) -> dict[Any, Any]:
    """What the writer of the file set, without what it keeps for itself. Raises RowRefused where the file holds no settings."""
    if name == _OVERRIDES and isinstance(values, list):
        return dict(_override(str(one)) for one in values if "=" in str(one))
    if not isinstance(values, dict):
        raise RowRefused(f"holds no settings by name, but {'nothing' if values is None else f'a {type(values).__name__}'}")
    if "wandb_version" in values or "_wandb" in values:
        return {key: one["value"] for key, one in values.items() if key != "_wandb" and isinstance(one, dict) and "value" in one}
    return values


def _override(written: str) -> tuple[str, Any]:
    """A setting as it is overridden on Hydra's command line: `+trainer.lr=1e-6`."""
    name, _, value = written.partition("=")
    try:
        return name.lstrip("+"), yaml_text.parse(value.encode())
    except RowRefused:  # a value in Hydra's own grammar
        return name.lstrip("+"), value


def _plain(value: Any) -> Any:
    """A value of settings as JSON can hold it: names as texts, keys and passwords hidden, what JSON does not have as texts."""
    if isinstance(value, dict):
        return {str(name): HIDDEN if is_secret(str(name), one) else _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _letters(value: Any, above: int) -> int:
    """How long values are with their dotted names, `above` being the length of the name so far; no more than somewhat beyond MOST_LETTERS."""
    if not isinstance(value, (dict, list)) or not value:
        return above + len(str(value)) if not isinstance(value, int) else above + value.bit_length() // 3
    inside = value.items() if isinstance(value, dict) else ((str(at), one) for at, one in enumerate(value))
    count = 0
    for name, one in inside:
        count += _letters(one, above + len(name) + 1)
        if count > MOST_LETTERS:
            break
    return count


def is_secret(name: str, value: object) -> bool:
    """Whether a setting of that name, with dots, slashes or underscores between its words, is a key or a password."""
    return isinstance(value, str) and bool(value) and _SECRET.search(name) is not None
