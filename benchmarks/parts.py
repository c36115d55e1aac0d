"""The parts of the benchmark, and one of them run in a process of its own: `python -m benchmarks.parts NAME PLAN FILE`.

A section is written to FILE, one JSON line each, as soon as it is done: a part that dies leaves what it had.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.plan import Plan
from benchmarks.sections import Section, to_json

PARTS: Final = {
    "opening": "Opening a run",
    "index": "A run made into an index",
    "scale": "An index that is larger than memory",
    "first_view": "First view",
    "cold_first": "Cold: first curve, first rollout by link, complete",
    "browsing": "Browser idle after each click",
    "viewers": "More viewers, and a run that grows while it is looked at",
    "readers": "Many readers",
    "token_view": "The token view",
    "findings": "Findings",
}
"""Module → title. They are imported when they are run: each needs other libraries."""


def sections_of(name: str) -> Callable[[Plan, Path], Iterator[Section]]:
    """What measures a part."""
    found: Callable[[Plan, Path], Iterator[Section]] = import_module(f"benchmarks.{name}").sections
    return found


def plan_from(written: dict[str, Any]) -> Plan:
    """A plan out of its JSON, whose lists were tuples."""
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in written.items()}
    return Plan(**values)


def main() -> None:
    """Measure one part, in a temporary folder."""
    name, plan, into = sys.argv[1], plan_from(json.loads(sys.argv[2])), Path(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="bench_") as place, into.open("w", encoding="utf-8") as out:
        started = time.perf_counter()
        for section in sections_of(name)(plan, Path(place)):
            out.write(json.dumps(to_json(replace(section, seconds=time.perf_counter() - started))) + "\n")
            out.flush()
            started = time.perf_counter()


if __name__ == "__main__":
    main()
