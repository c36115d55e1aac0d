"""A recording and the trainer's own dump in one folder: which files are which.

The dump opens as a run of its own. A shard is a recording's when its recorder keeps an account file of it. Looks at names, and at the first
records of a few files.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Final

from board import formats
from board.formats import native
from board.formats.trainers import slime
from board.runs.parsing.format_detection import Identity, identify
from board.runs.parsing.recorder_account import account_name
from board.sources.shards import Shard

_OF_A_FOLDER: Final = 3
_IN_ALL: Final = 48
"""So many files of a folder, and of a run, are looked into where the runs are listed: one folder's are of one trainer."""


def recorded(found: Sequence[Shard]) -> set[str]:
    """Names of the shards that a recorder of ours wrote."""
    there = {folder: _names(folder) for folder in {shard.path.parent for shard in found}}
    return {shard.name for shard in found if account_name(shard.path.name) in there[shard.path.parent]}


def _names(folder: Path) -> set[str]:
    """What lies in a folder; nothing where it cannot be looked into."""
    try:
        return {path.name for path in folder.iterdir()}
    except OSError:
        return set()


def dumped(identities: Mapping[str, Identity], recording: Collection[str], mapping: str = "") -> dict[str, list[str]]:
    """By trainer the shards of its own dumps next to a recording, as far as their formats are known; nothing where nothing was recorded."""
    found: dict[str, list[str]] = {}
    for name, one in identities.items() if recording else ():
        family = formats.by_name(one.format, mapping).FAMILY if one.format else native.FAMILY
        if family != native.FAMILY and name not in recording:
            found.setdefault(family, []).append(name)
    return found


def places(dumps: Mapping[str, Sequence[str]], others: Collection[str]) -> dict[str, str]:
    """By trainer the folder below the run's that holds its dump and nothing else; "" where there is none such. `others` are the recording's."""
    tops = {family: {_top(name) for name in names} for family, names in dumps.items()}
    taken = [{_top(name) for name in others}, *tops.values()]
    alone = {family: top for family, top in tops.items() if len(top) == 1 and sum(bool(top & one) for one in taken) == 1}
    return {family: next(iter(alone.get(family, {""}))) for family in tops}


def _top(name: str) -> str:
    """The first folder of a shard's name; "" when it lies in none."""
    folder, slash, _ = name.partition("/")
    return folder if slash else ""


def dump_families(found: Sequence[Shard]) -> dict[str, str]:
    """As `places`, of a folder that is only listed: what a few files of each folder tell."""
    recording = recorded(found)
    if not recording or len(recording) == len(found):
        return {}
    dumps: dict[str, list[str]] = {}
    for shard in [*_few([shard for shard in found if shard.name not in recording])][:_IN_ALL]:
        family = _family(shard)
        if family not in ("", native.FAMILY):
            dumps.setdefault(family, []).append(shard.name)
    return places(dumps, recording)


def _few(found: Sequence[Shard]) -> Iterator[Shard]:
    """Some shards of every folder."""
    for _, there in groupby(found, lambda shard: PurePosixPath(shard.name).parent):
        yield from [*there][:_OF_A_FOLDER]


@lru_cache(maxsize=4096)
def _family(shard: Shard) -> str:
    """Whose file it is; "" when its format is unknown. A torch file would have to be read whole, and one trainer's family writes such."""
    if shard.path.suffix == ".pt":
        return slime.FAMILY
    format_name = identify(shard).format
    return formats.by_name(format_name).FAMILY if format_name else ""
