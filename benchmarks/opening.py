"""How fast a run opens, beside what a user would open it with instead: `python benchmarks/opening.py --megabytes 25 100`.

Every way opens the same run in a process of its own; the ways take turns, so that a busy machine slows them all alike, and each figure
is a median. Ratios are taken within a round before the median: they say more than seconds on a shared machine.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import rollouts

HERE = Path(__file__).parent
COLD = ("ours", "floor", "ujson_loop", "pandas", "polars", "polars_schema", "duckdb", "pyarrow")
Figures = dict[str, float]


def main() -> None:
    """Measure, and print Markdown; with --json write the figures as well."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=int, nargs="+", default=[25, 100])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--only", nargs="+", choices=COLD, default=list(COLD))
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as place:
        for size in given.megabytes:
            folder = Path(place) / f"run_{size}"
            written = rollouts.write(folder, size * 1_000_000)
            found[size] = {"bytes": written, "rounds": [one_round(folder, Path(place), given.only) for _ in range(given.rounds)]}
            shutil.rmtree(folder)
            print(table(size, found[size]["rounds"], written), flush=True)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


def one_round(folder: Path, place: Path, names: list[str]) -> dict[str, Figures]:
    """Every way once: ours cold, again warm, and with a step of 256 rollouts appended; then the others."""
    cache = place / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    found = {}
    for name in names:
        found[name] = opened(name, folder, cache)
        if name == "ours":
            found["ours, warm"] = opened(name, folder, cache)
            shard = folder / "rank_0.jsonl"
            before = shard.stat().st_size
            with shard.open("ab") as stream:
                stream.write(step_of(256))
            found["ours, 256 rollouts appended"] = opened(name, folder, cache)
            os.truncate(shard, before)
    return found


def step_of(count: int) -> bytes:
    """One more step, as bytes of a shard."""
    import numpy as np
    import orjson

    dice = np.random.default_rng(1)
    return b"".join(orjson.dumps(rollouts.record(10**6, at, 300, dice)) + b"\n" for at in range(count))


def opened(name: str, folder: Path, cache: Path) -> Figures:
    """What one way took; infinite seconds when it could not read the run."""
    environment = os.environ | {"RL_BOARD_CACHE": str(cache), "PYTHONPATH": str(HERE.parent)}
    command = [sys.executable, str(HERE / "openers.py"), name, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"{name} failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return {"seconds": float("inf"), "resident_mb": float("nan"), "peak_mb": float("nan")}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def table(size: int, rounds: list[dict[str, Figures]], written: int) -> str:
    """Medians as Markdown."""
    lines = [
        f"\n{size} MB ({written / 1e6:.0f} written), median of {len(rounds)}:\n",
        "| way | seconds | MB/s | times ours, cold | anonymous memory (MB) | peak (MB) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name in rounds[0]:
        seconds = statistics.median(one[name]["seconds"] for one in rounds)
        ratio = (
            statistics.median(one[name]["seconds"] / one["ours"]["seconds"] for one in rounds)
            if "ours" in rounds[0]
            else float("nan")
        )
        memory = [statistics.median(one[name][kind] for one in rounds) for kind in ("resident_mb", "peak_mb")]
        lines.append(
            f"| {name} | {seconds:.2f} | {written / 1e6 / seconds:.0f} | {ratio:.2f} | {memory[0]:.0f} | {memory[1]:.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
