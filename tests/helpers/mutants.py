"""Golden runs, damaged by chance: `python tests/helpers/mutants.py COUNT SEED` reads so many mutants and prints what became of them.

A mutant is a record of a golden run with something wrong in it, or the bytes of its line, or of its file, with something wrong in them. It must
be read or refused with its place, and nothing else: a line without a row and without a problem is lost, a row of no line is invented.
"""

import copy
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from damages import JUNK, SIZES, spots
from golden_runs import FOLDERS, GOLDEN, MODULES, records
from golden_runs import shards as golden_shards

from board.errors import RowRefused
from board.formats.contract import Format, Place
from board.runs.cache.parts import Part
from board.runs.load_report import LoadReport
from board.runs.parsing import part_builder
from board.runs.read_options import ReadOptions
from board.sources import files as containers
from board.sources.files import Parsed
from board.sources.json_record import parse
from board.sources.shards import Line, Problem, Shard

FILES = 20
"""One of so many mutants of a golden file that is not of lines is of the file's bytes."""

ARROW = sorted((Path(__file__).parents[1] / "sources" / "saved_dataset").rglob("*.arrow"))

AT_ONCE = 64
"""So many mutants are read together, as lines of one shard."""


def damaged_record(record: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """The record with one value replaced, moved, doubled or gone."""
    mutant = copy.deepcopy(record)
    holder, key, _ = dice.choice([*spots(mutant)] or [(mutant, "x", ())])
    change = dice.randrange(5)
    if change == 0 and isinstance(holder, dict):
        holder.pop(key, None)
    elif change == 1 and isinstance(holder, dict):
        holder[f"{key}_"] = holder.pop(key, None)
    elif change == 2:
        other, place, _ = dice.choice([*spots(mutant)] or [(mutant, "x", ())])
        holder[key] = copy.deepcopy(other[place])
    elif change == 3 and isinstance(holder, list):
        holder[key:] = [*holder[key:], *holder[key:]]
    else:
        holder[key] = copy.deepcopy(dice.choice((*JUNK, *SIZES)))
    return mutant


def damaged_bytes(data: bytes, dice: random.Random) -> bytes:
    """The bytes with some changed, gone, doubled or put in."""
    at = dice.randrange(max(1, len(data)))
    end = min(len(data), at + dice.choice((1, 1, 2, 8, 64)))
    change = dice.randrange(5)
    if change == 0:
        return data[:at]
    middle = (
        b"",
        data[at:end] * 2,
        dice.randbytes(end - at),
        bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 : end] if data else b"",
    )[change - 1]
    return data[:at] + middle + data[end:]


def line_mutants(path: Path, dice: random.Random) -> Iterator[bytes]:
    """Lines that hold a damaged record of a golden file, without end."""
    sound = records(path)
    while sound:
        record = dice.choice(sound)
        if dice.random() < 0.7:
            yield json.dumps(damaged_record(record, dice)).encode()
        else:
            yield damaged_bytes(json.dumps(record).encode(), dice).replace(b"\n", b" ") or b"0"


def read(items: list[Line | Parsed | Problem], name: str, kind: Format) -> tuple[set[int], set[int]]:
    """The lines that gave rows, and those that were refused."""
    report, parts = LoadReport(), list[Part]()
    part_builder.read_parts(items, Shard(Path(name), name, 0, 0), kind, ReadOptions(), report, parts.append)
    rows = {line for part in parts for line in part.scalars.column("line").to_pylist()}
    assert report.rows == sum(map(len, parts))
    return rows, {problem.line or 0 for problem in report.problems if problem.severity == "refused"}


def check_lines(mutants: list[bytes], name: str, kind: Format) -> Counter[str]:
    """Read mutants as lines of one shard; each must be loaded or refused, not both, unless its record holds none or several rollouts."""
    rows, refused = read([Line(at, 0, data, True) for at, data in enumerate(mutants, 1)], name, kind)
    both, neither = rows & refused, set(range(1, len(mutants) + 1)) - rows - refused
    for at in both:
        assert refuses_one(mutants[at - 1], name, kind), f"{name}: {mutants[at - 1]!r} gave rows and was refused"
    for at in neither:
        assert holds_none(mutants[at - 1], name, kind), f"{name}: {mutants[at - 1]!r} was lost"
    return Counter(loaded=len(rows), refused=len(refused), empty=len(neither))


def refuses_one(data: bytes, name: str, kind: Format) -> bool:
    """Whether a line is a record of several rollouts, as a table or a log, of which one is refused alone."""
    return any(isinstance(one, RowRefused) for one in kind.rollouts(parse(data), Place(name, 1)))


def holds_none(data: bytes, name: str, kind: Format) -> bool:
    """Whether a line is a record in which the format finds no rollout and nothing wrong: statistics, a group without members."""
    return not [*kind.rollouts(parse(data), Place(name, 1))]


def check_file(data: bytes, path: Path, name: str, kind: Format, folder: Path) -> Counter[str]:
    """Read a damaged file; each of its records must be loaded or refused, and a file without records must be a problem."""
    place = folder / f"mutant{path.suffix}"
    place.write_bytes(data)
    items = [*containers.read(Shard(place, name, len(data), 0))]
    numbers = {one.number for one in items if isinstance(one, Parsed)}
    rows, refused = read([*items], name, kind)
    problems = {one.line for one in items if isinstance(one, Problem)}
    assert numbers or problems or not data.strip() or path.suffix in (".parquet", ".arrow"), f"{name}: {data[:2_000]!r} was lost"
    assert rows <= numbers
    assert numbers <= rows | refused
    return Counter(loaded=bool(rows), refused=not rows)


def main(count: int, seed: int) -> None:
    """Read the mutants and print how many were loaded and refused."""
    dice, told, spent = random.Random(seed), Counter[str](), time.process_time()
    files = [
        (MODULES[folder], path, path.relative_to(GOLDEN / folder).as_posix())
        for folder in FOLDERS
        for path in golden_shards(folder)
    ]
    files = [one for one in files if one[1].suffix != ".pt" or find_spec("torch")]
    with tempfile.TemporaryDirectory() as folder:
        while told.total() < count:
            kind, path, name = dice.choice(files)
            mutants = line_mutants(path, dice)
            told += check_lines([data for data, _ in zip(mutants, range(AT_ONCE), strict=False)], name, kind)
            files_of = [(path, kind)] * (path.suffix in (".parquet", ".json")) + [(dice.choice(ARROW), MODULES["native"])]
            for whole, owner in files_of * (AT_ONCE // FILES):
                told += check_file(damaged_bytes(whole.read_bytes(), dice), whole, name, owner, Path(folder))
    sys.stdout.write(json.dumps({**told, "cpu_seconds": round(time.process_time() - spent, 1)}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
