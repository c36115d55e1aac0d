"""All tables that pages and findings make of a part, made at once beside it, so that whoever opens an index finds them there.

Knows which there are; each is known to the module that makes it.
"""

from board.analysis import rollout_measures, vocabulary_counts
from board.findings.measures import MEASURES
from board.runs.parts import Part


def make(part: Part) -> None:
    """Make those tables of a part that are not beside it yet, or are not as they were written."""
    vocabulary_counts.kept(part)
    for name, measure in MEASURES.items():
        rollout_measures.of_part(part, name, measure)
