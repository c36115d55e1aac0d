"""From a name in a trainer's log to the metric it means, and back. Knows the tables of the catalogue and nothing of runs.

A name is looked for as it stands; then without what the trainer's own logging puts before or after every name (`Dialect.prefixes`
and `suffixes`: TRL's "train/" in TensorBoard, ROLL's "@sum"). Nothing else is cut off: "my_run/loss" may mean anything.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from board.catalogue import computed, logged
from board.catalogue.contract import PLACES, Dialect, Metric
from board.catalogue.dialects.re_grpo import RE_GRPO
from board.catalogue.dialects.roll import ROLL
from board.catalogue.dialects.trl import TRL
from board.catalogue.dialects.verl import VERL

_ALL: Final = (*computed.METRICS, *logged.METRICS)

METRICS: Final[Mapping[str, Metric]] = {metric.key: metric for metric in _ALL}
"""Every metric by its key: those that rollouts give first, then those only a trainer logs."""

BOARD: Final = Dialect("board", "Board", {key: key for key in METRICS}, prefixes=("board/",))
"""The board's own names: the keys. Pushed to a tracker they bear "board/"."""

DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in (BOARD, ROLL, TRL, RE_GRPO, VERL)}

Places = Mapping[str, str]
"""What stands for each placeholder of a name."""

_PLACE: Final = re.compile(r"\{(\w+)\}")


def resolve(dialect: str, name: str) -> tuple[Metric, Places] | None:
    """The metric a name of a dialect means, with what stands for its placeholders; None for a name it does not have.

    Exact names come before families. Raises KeyError for an unknown dialect.
    """
    table = DIALECTS[dialect]
    return next((found for bare in _bare(table, name) if (found := _exact(table, bare) or _family(table, bare))), None)


def resolve_any(name: str) -> tuple[str, Metric, Places] | None:
    """As `resolve` in the first dialect that has the name, and which one it is; exact names of any come before families."""
    for find in (_exact, _family):
        for table in DIALECTS.values():
            for bare in _bare(table, name):
                if found := find(table, bare):
                    return table.name, *found
    return None


def name_of(dialect: str, key: str) -> str | None:
    """The first name of a metric in a dialect, its placeholders as they are; None where it has none. KeyError as `resolve`."""
    return next((name for name, meant in DIALECTS[dialect].names.items() if meant == key), None)


def _bare(table: Dialect, name: str) -> Iterator[str]:
    """The name, then what is left without what the trainer's own logging puts around it."""
    yield name
    for prefix in table.prefixes:
        if name.startswith(prefix):
            yield name.removeprefix(prefix)
    for suffix in table.suffixes:
        if name.endswith(suffix):
            yield name.removesuffix(suffix)


def _exact(table: Dialect, name: str) -> tuple[Metric, Places] | None:
    key = table.names.get(name)
    return None if key is None or _PLACE.search(name) else (METRICS[key], {})


def _family(table: Dialect, name: str) -> tuple[Metric, Places] | None:
    for pattern, key in _families(table.name):
        if found := pattern.fullmatch(name):
            return METRICS[key], found.groupdict()
    return None


@cache
def _families(dialect: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The names of a dialect that stand for families, as patterns, with their keys."""
    names = DIALECTS[dialect].names.items()
    return tuple((_pattern(name), key) for name, key in names if _PLACE.search(name))


def _pattern(name: str) -> re.Pattern[str]:
    """A name with {placeholders} as a pattern with a named group for each."""
    literals = _PLACE.split(name)
    parts = (re.escape(part) if i % 2 == 0 else f"(?P<{part}>{PLACES[part]})" for i, part in enumerate(literals))
    return re.compile("".join(parts))
