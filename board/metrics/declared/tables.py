"""Reads the catalogue: a table of metrics for each family, and one of dialects. Knows what an entry may hold, and no metric."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from board.metrics.declared.computation import (
    Applied,
    Computation,
    Number,
    OfColumns,
    OfEvaluation,
    SoFar,
    Statistic,
    needed_fields,
)
from board.metrics.declared.contract import FAMILIES, Dialect, Interpretation, Metric, Name, Words

_HERE: Final = Path(__file__).parent
_CATALOGUE: Final = _HERE / "catalogue"

Table = Mapping[str, Any]
Made = TypeVar("Made")


def dialects() -> tuple[Dialect, ...]:
    """The trainers' dialects, with all their remarks by the name that metrics give for one, and without names."""
    return tuple(
        _made(Dialect, one | {"name": name, "remarks": {key: Words(**words) for key, words in one["remarks"].items()}})
        for name, one in _read(_HERE / "dialects.toml").items()
    )


def metrics(remarks: Mapping[str, Mapping[str, Words]], folder: Path = _CATALOGUE) -> Iterator[Metric]:
    """The metrics by FAMILIES, each family in its table's order; `remarks` are those of the dialects.

    Raises ValueError, with file and entry, for what no metric may hold.
    """
    for file in sorted(folder.glob("*.toml"), key=lambda file: FAMILIES.index(file.stem)):
        table = _read(file)
        readings: dict[str, Interpretation] = {}
        for name, one in table.get("reading", {}).items():
            with _named(f"{file.name}, reading {name}"):
                readings[name] = _made(Interpretation, one)
        for entry in table["metric"]:
            with _named(f"{file.name}, {entry.get('key', 'a metric without a key')}"):
                metric = _metric(file.stem, entry, readings, remarks)
            yield metric


@contextmanager
def _named(entry: str) -> Iterator[None]:
    """What is wrong with an entry, told with the entry."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{entry}: {error}") from error


def _read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _metric(
    family: str, entry: Table, readings: Mapping[str, Interpretation], remarks: Mapping[str, Mapping[str, Words]]
) -> Metric:
    read, names = entry["reading"], entry.get("names", {})
    computation = _computation(entry["computation"]) if "computation" in entry else None
    made = {
        "reading": readings[read] if isinstance(read, str) else _made(Interpretation, read),
        "computation": computation,
        "needs": () if computation is None else needed_fields(computation),
        "names": tuple(_name(dialect, one, remarks[dialect]) for dialect, ones in names.items() for one in ones),
    }
    return _made(Metric, {"family": family, **entry, **made})


def _name(dialect: str, one: str | Table, remarks: Mapping[str, Words]) -> Name:
    """A name as it stands, or with the remark of its dialect that is called so."""
    return Name(dialect, one) if isinstance(one, str) else Name(dialect, one["name"], remarks[one["remark"]])


def _computation(table: Table) -> Computation:
    match table:
        case {"so_far": combine, "of": of}:
            return _made(SoFar, {"combine": combine, "of": _statistic(of)})
        case {"evaluation": of}:
            return OfEvaluation(_statistic(of))
        case {"function": function, "columns": columns}:
            return OfColumns(function, tuple(columns))
        case {"function": function, "to": to}:
            return Applied(function, tuple(_statistic(one) for one in to))
    return _statistic(table)


def _statistic(table: Table) -> Statistic:
    of = table["of"]
    number: Number = of if isinstance(of, str) else Applied(of["function"], tuple(of["to"]))
    return _made(Statistic, {"over": table["over"], "of": number, "name": table["statistic"]})


def _made(kind: type[Made], values: Table) -> Made:
    """A dataclass made of a table: lists are tuples, tables of two languages Words. Raises TypeError or ValueError for what it cannot hold."""
    hints = get_type_hints(kind)
    made: dict[str, Any] = {}
    for name, value in values.items():
        hint = hints.get(name)
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise ValueError(f"{name} is {value!r}, which is none of {get_args(hint)}.")
        made[name] = Words(**value) if hint is Words else tuple(value) if isinstance(value, list) else value
    return kind(**made)
