"""Writes runs with their truth, and scores the findings on them: `python -m benchmarks.findings.reported --score`."""

import argparse
import json
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from benchmarks.findings.detecting import NoDocument, findings_of
from benchmarks.findings.reported.fault import STRENGTHS
from benchmarks.findings.reported.runs import CLEAN, FAULTS, Case, cases, write
from benchmarks.findings.reported.scoring import Score, score, table, totals
from benchmarks.plan import say


def main() -> None:
    """Write, and score if that is asked for."""
    options = arguments()
    if options.list:
        for name, fault in FAULTS.items():
            lasts = f", {fault.length} steps" if fault.length else ""
            print(
                f"{name}: {fault.shape}{lasts}, at {' or '.join(fault.places)}: {fault.called}; must say {' or '.join(fault.words)}"
            )
        return
    groups = {"clean": tuple(CLEAN), "faults": tuple(FAULTS)}
    asked = [name.strip() for name in options.kinds.split(",") if name.strip()]
    kinds = tuple(kind for name in asked for kind in groups.get(name, (name,)))
    unknown = [kind for kind in kinds if kind not in CLEAN and kind not in FAULTS]
    if unknown:
        raise SystemExit(f"Not known: {', '.join(unknown)}. Known: {', '.join((*groups, *CLEAN, *FAULTS))}")
    chosen = list(cases(kinds, options.first_seed, options.seeds, options.strength))
    with tempfile.TemporaryDirectory() as place:
        folder = options.write or Path(place)
        if not options.score:
            for case in chosen:
                write(case, folder / case.name)
                say(str(folder / case.name))
            return
        os.nice(10)
        with ThreadPoolExecutor(2) as pool:
            scores = list(pool.map(lambda case: scored(case, folder, options.again), chosen))
    print(table(scores))
    if options.json:
        document = {"totals": totals(scores), "scores": [asdict(one) for one in scores]}
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def scored(case: Case, folder: Path, again: bool) -> Score:
    """A run written, looked through by the command, and compared with its truth; what the command said is kept beside it."""
    truth = write(case, folder / case.name)
    said, began = folder / case.name / "findings.json", time.perf_counter()
    try:
        if not (again and said.exists()):
            with tempfile.TemporaryDirectory() as cache:
                said.write_text(
                    json.dumps(findings_of(folder / case.name / "run", Path(cache)), ensure_ascii=False), encoding="utf-8"
                )
        found = score(json.loads(said.read_text(encoding="utf-8")), truth)
    except NoDocument as error:
        found = Score(case.name, case.kind, case.kind in FAULTS, failure=str(error), missed=f"failed: {error}")
    words = found.missed or found.failure or "found" if found.planted else found.accusations
    say(f"{case.name}: {words} ({time.perf_counter() - began:.1f} s)")
    return found


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.findings.reported",
        description=__doc__,
        epilog="A run is drawn from its kind, seed and strength alone: the same seed writes the same bytes. Sound runs have the seeds 0 to 9, "
        "faults 0 to 3; place, size of groups and token arrays take turns by seed. `--list` names every fault with where it may lie and what a "
        "finding must say; it is found where one of the first three findings says so, with first and last step within two.",
    )
    options.add_argument("--kinds", default="clean,faults", help="names, or `clean` or `faults` for all of them")
    options.add_argument("--seeds", type=int, default=0, help="runs of each kind (default: 10 of clean ones, 4 of faults)")
    options.add_argument("--first-seed", type=int, default=0, help="other runs of the same kinds: from this seed on")
    options.add_argument("--strength", default="medium", choices=STRENGTHS, help="of faults")
    options.add_argument("--write", type=Path, help="folder for the runs: of each `run/`, and `truth.json` beside it")
    options.add_argument("--score", action="store_true", help="run the command `findings` on each and print a table")
    options.add_argument("--again", action="store_true", help="score what an earlier `--score --write` kept, without the command")
    options.add_argument("--json", type=Path, help="file for the scores")
    options.add_argument("--list", action="store_true", help="print the faults and end")
    return options.parse_args()


if __name__ == "__main__":
    main()
