"""The catalogue of metrics, read from its tables: meaning, computation, reading, names.

A metric is one `[[metric]]` in the table of its family, `catalogue/<family>.toml`. The entry says its key, unit, formula, source, meaning
and reading, its names in the dialects and, where rollouts give it, its computation. What fields it needs, what is stored of its tokens, the
board's number per step and every dialect's table follow from it. To add one:

1. Write the entry next to its relatives. `computation = { over = "tokens", of = "entropy", statistic = "std" }` takes a quantity of
   `computation.PER_TOKEN`; over rollouts it takes a column, or what a quantity adds up to over a rollout's tokens ("entropy/mean");
   `{ function = "negative", to = [...] }` is a function of `board.metrics.expressions` of several such statistics.
2. Only if it needs a quantity, a function or a statistic that is not there, add that: the fields in `computation` and the numbers in
   `board.metrics.token_sums`; a function in `board.metrics.expressions`.
3. Write its definition into `tests/analysis/test_step_metrics.py`, as a loop over rows. That test must pass, and so must
   `tests/recorder/test_recorded_numbers.py`, which computes every metric of a step alone, too, and `tests/metrics/test_declared.py`.

A dialect is a table in `dialects.toml` of what is true of all its names, with the remarks that metrics give for single names. A name
is looked up as it stands; then without what trackers and the trainer's own logging put before or after every name: "train/", which most of
them do, `Dialect.prefixes` and `suffixes` (ROLL's "@sum"). With "eval/" before it, or transformers' "eval_", it is the same number of an
evaluation, which is a metric of its own. Nothing else is cut off: "my_run/loss" may mean anything.
"""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from board.metrics import OWN_PREFIX
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
from board.metrics.declared.contract import FAMILIES as FAMILIES
from board.metrics.declared.contract import PLACES, Dialect, Interpretation, Metric, Name, Words

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
    """Add the entry's name to the message of an error about it."""
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


_TRAINERS: Final = dialects()
_REMARKS: Final = {dialect.name: dialect.remarks for dialect in _TRAINERS}

METRICS: Final[Mapping[str, Metric]] = {
    metric.key: metric for metric in sorted(metrics(_REMARKS), key=lambda metric: metric.origin != "rollouts")
}
"""Every metric by its key: those that rollouts give first, then those only a trainer logs, each by FAMILIES."""

BOARD: Final = Dialect("board", "Board", {key: key for key in METRICS}, prefixes=(OWN_PREFIX,))
"""The board's own names: the keys."""


def _with_names(dialect: Dialect) -> Dialect:
    """A trainer's dialect with the names that metrics declare for it."""
    declared = [(one, metric.key) for metric in METRICS.values() for one in metric.names if one.dialect == dialect.name]
    remarks = {one.name: one.remark for one, _ in declared if one.remark is not None}
    return replace(dialect, names={one.name: key for one, key in declared}, remarks=remarks)


DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in (BOARD, *map(_with_names, _TRAINERS))}

_TRAINERS_FIRST: Final = sorted(DIALECTS.values(), key=lambda dialect: dialect is BOARD)

Places = Mapping[str, str]
"""What stands for each placeholder of a name."""

_TRAINING: Final = "train/"
_EVALUATION: Final = ("eval/", "eval_")
"""What stands before the names of a training and of an evaluation."""

_PLACE: Final = re.compile(r"\{(\w+)\}")


def resolve(dialect: str, name: str) -> tuple[Metric, Places] | None:
    """The metric a name of a dialect means, with what stands for its placeholders; None for a name it does not have.

    Exact names come before families. Raises KeyError for an unknown dialect.
    """
    found = _resolved([DIALECTS[dialect]], name)
    return None if found is None else found[1:]


def resolve_any(name: str) -> tuple[str, Metric, Places] | None:
    """As `resolve` in the first dialect that has the name, and which one it is; exact names of any come before families.

    Trainers' names come before the board's own, which the board logs with OWN_PREFIX before them.
    """
    return _resolved(_TRAINERS_FIRST, name)


def _resolved(tables: Sequence[Dialect], name: str) -> tuple[str, Metric, Places] | None:
    """The name as it stands in the first of the dialects that has it, else what it means of an evaluation."""
    if found := _as_it_stands(tables, name):
        return found
    for prefix in _EVALUATION:
        if name.startswith(prefix) and (found := _as_it_stands(tables, name.removeprefix(prefix))):
            dialect, metric, places = found
            return dialect, _of_evaluation(metric), places
    return None


def _as_it_stands(tables: Sequence[Dialect], name: str) -> tuple[str, Metric, Places] | None:
    for find in (_exact, _family):
        for table in tables:
            for bare in _bare(table, name):
                if found := find(table, bare):
                    return table.name, *found
    return None


@cache
def _of_evaluation(metric: Metric) -> Metric:
    """The metric of an evaluation's rollouts; the one that rollouts give, where there is one."""
    known = METRICS.get(metric.key.replace("reward/", "evaluation/", 1))
    if known is not None and known.family == "evaluation":
        return known
    meaning = Words(f"{metric.meaning.en.removesuffix('.')}, of an evaluation.", f"评测中：{metric.meaning.zh}")
    return replace(
        metric, key=f"evaluation/{metric.key}", family="evaluation", meaning=meaning, needs=(), computation=None, names=()
    )


def name_of(dialect: str, key: str) -> str | None:
    """The first name of a metric in a dialect, its placeholders as they are; None where it has none. KeyError as `resolve`."""
    return next((name for name, meant in DIALECTS[dialect].names.items() if meant == key), None)


def named(values: Mapping[str, float], dialect: str) -> dict[str, float]:
    """Numbers by key under every name that a dialect has for the key; else, and in the board's own, under the key after "board/".

    Names of what the trainer logs once, at the end of the run, are not among them (`named_once`). Raises KeyError for an unknown dialect.
    """
    table = DIALECTS[dialect]
    by_key: dict[str, list[str]] = {}
    for name, key in table.names.items():
        if table is not BOARD and not name.startswith(table.at_end):
            by_key.setdefault(key, []).append(name)
    return {name: value for key, value in values.items() for name in by_key.get(key, [OWN_PREFIX + key])}


def named_once(values: Mapping[str, float], dialect: str) -> dict[str, float]:
    """Those of the metrics that are numbers, by key, under the names of what the trainer logs once, at the end of the run."""
    names = ((name, values.get(key, math.nan)) for name, key in DIALECTS[dialect].names.items())
    return {name: float(value) for name, value in names if name.startswith(DIALECTS[dialect].at_end) and math.isfinite(value)}


def _bare(table: Dialect, name: str) -> Iterator[str]:
    """The name, then what is left without what trackers and the trainer's own logging put around it."""
    for prefix in dict.fromkeys(("", *table.prefixes, _TRAINING)):
        if not name.startswith(prefix):
            continue
        bare = name.removeprefix(prefix)
        yield bare
        yield from (bare.removesuffix(suffix) for suffix in table.suffixes if bare.endswith(suffix))


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
    """The names of a dialect that stand for families, as patterns, with their keys; the more specific first: fewer placeholders."""
    names = [(_pattern(name), key) for name, key in DIALECTS[dialect].names.items() if _PLACE.search(name)]
    return tuple(sorted(names, key=lambda pair: pair[0].groups))


def _pattern(name: str) -> re.Pattern[str]:
    """A name with {placeholders} as a pattern with a named group for each."""
    literals = _PLACE.split(name)
    parts = (re.escape(part) if i % 2 == 0 else f"(?P<{part}>{PLACES[part]})" for i, part in enumerate(literals))
    return re.compile("".join(parts))
