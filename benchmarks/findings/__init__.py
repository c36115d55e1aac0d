"""How well findings are found: runs written by a generator, with one fault planted into each and the truth kept beside it.

What is planted follows the definitions of the kinds, not how the detector looks for them: nothing here imports `board.findings`, which is
run as a reader would run it, by its command.
"""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.plan import Plan
from benchmarks.sections import Section


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """What `python benchmarks --only findings` measures."""
    from benchmarks.findings.part import sections as measured  # it imports modules of this package

    yield from measured(plan, place)
