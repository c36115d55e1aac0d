"""How fast a run opens, and in how much memory, beside what a user would open it with instead.

Every way opens the same run in a process of its own. The ways take turns, so that a busy machine slows them all alike; in each round
another begins. Ratios are taken within a round. Before each the shards are read once, so that all find them in the page cache.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks import rollouts
from benchmarks.openers import LATER_STEP, OPENERS
from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure, ratio

REPOSITORY: Final = Path(__file__).parent.parent
ALL_WAYS: Final = tuple(OPENERS)
OF_SHORT_ROWS: Final = ("ours", "floor", "polars_schema")
SHORT_TOKENS: Final = 8
COPIES: Final = 10
"""So many times over the run of short rows is written: to make up each row takes longer than to read it."""
THROUGH_GZIP: Final = ("ours", "floor", "ujson_loop", "polars_schema", "duckdb")
TIMEOUT_SECONDS: Final = 600
WARM: Final = "ours, warm"

Found = dict[str, float]
"""What one opening took: seconds, megabytes of memory, rows."""
Round = dict[str, Found | str]
"""By way; a sentence where it failed."""


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """All tables of this part, as they are done. The largest run is kept for the tables after the first."""
    folder = place / "run"
    for megabytes in sorted(plan.megabytes):
        shutil.rmtree(folder, ignore_errors=True)
        say(f"opening: writing {megabytes} MB")
        rollouts.write(folder, megabytes * 1_000_000)
        yield cold(folder, place, megabytes, plan)
    yield appended(folder, place, max(plan.megabytes), plan)
    yield sharded(folder, place, max(plan.megabytes), plan)
    yield grown(folder, place, max(plan.megabytes), plan)
    shutil.rmtree(folder)
    yield of_short_rows(place, plan)
    yield through_gzip(place, plan)


def cold(folder: Path, place: Path, megabytes: int, plan: Plan) -> Section:
    """Each way once a round, ours cold and then warm."""
    cache, rounds = place / "cache", []
    for at in range(plan.rounds_of(megabytes)):
        say(f"opening: {megabytes} MB, round {at + 1} of {plan.rounds_of(megabytes)}")
        rounds.append(one_round(folder, cache, turned(ALL_WAYS, at)))
    names = ("ours", WARM, *(name for name in ALL_WAYS if name != "ours"))
    goals = {"polars_schema": "cold_polars", WARM: "warm_1gb", "memory": "resident_1gb"} if megabytes == 1000 else {}
    return ways(f"Cold open, {megabytes} MB", names, rounds, written(folder), goals)


def one_round(folder: Path, cache: Path, names: Sequence[str]) -> Round:
    """Every way once; ours with an empty cache, and again with the one it filled."""
    found: Round = {}
    for name in names:
        if name == "ours":
            shutil.rmtree(cache, ignore_errors=True)
        found[name] = attempt(name, folder, cache)
        if name == "ours":
            found[WARM] = attempt(name, folder, cache)
    return found


def turned(names: Sequence[str], at: int) -> tuple[str, ...]:
    """The names from another on in each round, so that none always follows the same."""
    return (*names[at % len(names) :], *names[: at % len(names)])


def attempt(name: str, folder: Path, cache: Path, *more: str) -> Found | str:
    """What one way took, or why it failed."""
    environment = os.environ | {"RL_BOARD_CACHE": str(cache), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "benchmarks.openers", name, str(folder), *more]
    in_page_cache(folder)
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"failed: not done after {TIMEOUT_SECONDS} s"
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        say(f"opening: {name} failed: {last}")
        return f"failed: {last[:200]}"
    return dict(json.loads(done.stdout.splitlines()[-1]))


def in_page_cache(folder: Path) -> None:
    """Read all shards, after what others left to be written is on the disk."""
    os.sync()
    buffer = bytearray(1 << 22)
    for shard in rollouts.shards(folder):
        with shard.open("rb", buffering=0) as stream:
            while stream.readinto(buffer):
                pass


def written(folder: Path) -> int:
    """Bytes of the run."""
    return sum(shard.stat().st_size for shard in rollouts.shards(folder))


COLUMNS: Final = (
    "way",
    "seconds",
    "MB/s",
    "against ours, cold",
    "ours against it",
    "anonymous (MB)",
    "mapped (MB)",
    "peak (MB)",
    "largest helper (MB)",
)


def ways(title: str, names: Sequence[str], rounds: Sequence[Round], size: int, goals: dict[str, str]) -> Section:
    """The table of ways. `goals`: by way the goal of its ratio (the warm open: of its seconds), `memory` and `speed` those of ours."""
    rows = tuple(row(name, rounds, size, goals) for name in names)
    counts = {found["rows"] for one in rounds for found in one.values() if not isinstance(found, str)}
    unlike = "" if len(counts) == 1 else f"the ways do not agree on the number of rows: {sorted(counts)}"
    return Section("opening", title, COLUMNS, rows, f"{size / 1e6:,.0f} MB written, medians of {len(rounds)}.", unlike)


def row(name: str, rounds: Sequence[Round], size: int, goals: dict[str, str]) -> tuple[Cell, ...]:
    """One way's figures; the reason instead where it failed in any round."""
    failed = failure([one[name] for one in rounds])
    if failed:
        return (name, failed, *[""] * (len(COLUMNS) - 2))
    took = [done(one[name]) for one in rounds]
    seconds = [one["seconds"] for one in took]
    speed = figure([size / 1e6 / one for one in seconds], "MB/s", goals.get("speed") if name == "ours" else None)
    timed = figure(seconds, "s", goals.get(name) if name == WARM else None)
    memory = [figure([one[kind] for one in took], "MB") for kind in ("mapped", "peak", "largest_helper")]
    own = figure([one["anonymous"] for one in took], "MB", goals.get("memory") if name in ("ours", WARM) else None)
    return (name, timed, speed, *ratios(name, rounds, seconds, goals), own, *memory)


def ratios(name: str, rounds: Sequence[Round], seconds: Sequence[float], goals: dict[str, str]) -> tuple[Cell, Cell]:
    """How many times longer than ours it takes, and the other way round; the floor's goal is on the latter."""
    if name == "ours" or failure([one["ours"] for one in rounds]):
        return "", ""
    ours = [done(one["ours"])["seconds"] for one in rounds]
    goal = goals.get(name) if name != WARM else None
    below = name == "floor"
    return ratio(seconds, ours, None if below else goal), ratio(ours, seconds, goal if below else None)


def failure(found: Sequence[Found | str]) -> str:
    """Why a way failed in one of its rounds; empty when it never did."""
    return next((one for one in found if isinstance(one, str)), "")


def done(found: Found | str) -> Found:
    """What a way took. Raises RuntimeError for one that failed, with its reason."""
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


def appended(folder: Path, place: Path, megabytes: int, plan: Plan) -> Section:
    """A step of 256 rollouts at the end of the kept run: opened again in a fresh process, and taken in by one that holds the run."""
    cache = place / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    done(attempt("ours", folder, cache))
    warm, fresh, live = [], [], []
    for at in range(plan.rounds_of(megabytes)):
        say(f"opening: append to {megabytes} MB, round {at + 1}")
        warm.append(done(attempt("ours", folder, cache)))
        rollouts.append(folder, LATER_STEP + 2 * at, 256)
        fresh.append(done(attempt("ours", folder, cache)))
        live.append(done(attempt("live", folder, cache, str(LATER_STEP + 2 * at + 1))))
    table = {
        "nothing appended, fresh process": warm,
        "appended, fresh process": fresh,
        "appended, process that holds the run": live,
    }
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            name,
            figure([one["seconds"] for one in took], "s"),
            *(figure([one[kind] for one in took], "MB") for kind in ("anonymous", "mapped", "peak")),
        )
        for name, took in table.items()
    )
    columns = ("case", "seconds", "anonymous (MB)", "mapped (MB)", "peak (MB)")
    return Section("opening", f"One step of 256 rollouts appended to {megabytes} MB", columns, rows, f"Medians of {len(live)}.")


def sharded(folder: Path, place: Path, megabytes: int, plan: Plan) -> Section:
    """The same rows as one shard and as eight."""
    runs = {count: place / f"in_{count}" for count in (1, 8)}
    for count, target in runs.items():
        say(f"opening: {megabytes} MB as {count} shards")
        rollouts.regrouped(folder, target, count)
    taken = alternated(runs, place, plan.rounds_of(megabytes))
    one, eight = ([found["ours"]["seconds"] for found in taken[count]] for count in (1, 8))
    rows: tuple[tuple[Cell, ...], ...] = (("1", figure(one, "s"), ratio(one, eight)), ("8", figure(eight, "s"), ""))
    for target in runs.values():
        shutil.rmtree(target)
    return Section("opening", f"Cold open of {megabytes} MB by number of shards", ("shards", "seconds", "against 8"), rows)


def grown(folder: Path, place: Path, megabytes: int, plan: Plan) -> Section:
    """The run and the same many times over: what grows with bytes, and what with rows."""
    folders = {megabytes: folder}
    for times in sorted({max(1, size // megabytes) for size in plan.growth} - {1}):
        say(f"opening: writing {times * megabytes} MB")
        folders[times * megabytes] = place / f"times_{times}"
        rollouts.multiplied(folder, folders[times * megabytes], times)
    taken = alternated(folders, place, plan.large_rounds)
    rows = tuple(growth_row(size, found, written(folders[size])) for size, found in taken.items())
    for target in folders.values():
        if target != folder:
            shutil.rmtree(target)
    columns = (
        "MB",
        "rollouts",
        "cold (s)",
        "MB/s",
        "ours against floor",
        "warm (s)",
        "anonymous (MB)",
        "mapped (MB)",
        "peak (MB)",
    )
    return Section("opening", f"Growth from {megabytes} MB", columns, rows, f"Medians of {plan.large_rounds}.")


def growth_row(size: int, found: Sequence[dict[str, Found]], written_bytes: int) -> tuple[Cell, ...]:
    """One size's figures."""
    ours, warm, floor = ([one[name] for one in found] for name in ("ours", WARM, "floor"))
    seconds = [one["seconds"] for one in ours]
    return (
        f"{size:,}",
        f"{ours[0]['rows']:,.0f}",
        figure(seconds, "s"),
        figure([written_bytes / 1e6 / one for one in seconds], "MB/s"),
        ratio(seconds, [one["seconds"] for one in floor]),
        figure([one["seconds"] for one in warm], "s"),
        figure([one["anonymous"] for one in warm], "MB", "resident_10gb" if size >= 10_000 else None),
        *(figure([one[kind] for one in warm], "MB") for kind in ("mapped", "peak")),
    )


def alternated(folders: dict[int, Path], place: Path, rounds: int) -> dict[int, list[dict[str, Found]]]:
    """Ours (cold, then warm) and the floor on each folder in turn. Raises RuntimeError when one fails."""
    taken: dict[int, list[dict[str, Found]]] = {key: [] for key in folders}
    for at in range(rounds):
        for key, folder in folders.items():
            say(f"opening: {folder.name}, round {at + 1} of {rounds}")
            found = one_round(folder, place / "cache", turned(("ours", "floor"), at))
            taken[key].append({name: done(one) for name, one in found.items()})
    return taken


def of_short_rows(place: Path, plan: Plan) -> Section:
    """A run of many rows of few tokens, where what each row costs counts for more than its bytes."""
    few, many = place / "few", place / "many"
    say(f"opening: writing {plan.short_rows:,} short rows")
    rollouts.write(few, 0, tokens=SHORT_TOKENS, rows=max(1, plan.short_rows // COPIES))
    rollouts.multiplied(few, many, COPIES)
    rounds = []
    for at in range(plan.large_rounds):
        say(f"opening: short rows, round {at + 1} of {plan.large_rounds}")
        rounds.append(one_round(many, place / "cache", turned(OF_SHORT_ROWS, at)))
    size = written(many)
    for target in (few, many):
        shutil.rmtree(target)
    names = ("ours", WARM, *OF_SHORT_ROWS[1:])
    return ways(f"Cold open of {plan.short_rows:,} rows of {SHORT_TOKENS} tokens", names, rounds, size, {})


def through_gzip(place: Path, plan: Plan) -> Section:
    """A run of gzipped shards, which can only be read from their start."""
    plain, packed = place / "plain", place / "packed"
    say(f"opening: writing {plan.gzip_megabytes} MB through gzip")
    rollouts.write(plain, plan.gzip_megabytes * 1_000_000)
    rollouts.compressed(plain, packed)
    size, stored = written(plain), written(packed)
    rounds = []
    for at in range(plan.rounds):
        say(f"opening: gzip, round {at + 1} of {plan.rounds}")
        rounds.append(one_round(packed, place / "cache", turned(THROUGH_GZIP, at)))
    for target in (plain, packed):
        shutil.rmtree(target)
    names = ("ours", WARM, *THROUGH_GZIP[1:])
    title = f"Cold open of {plan.gzip_megabytes} MB in 2 gzipped shards ({stored / 1e6:.0f} MB on disk)"
    return ways(title, names, rounds, size, {})
