"""What a kind of finding says of rows: a small run on disk, opened, and one kind asked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rows import write_run

from board import open_run
from board.analysis.texts.tagged_responses import MEASURES
from board.findings.context import Context
from board.findings.contract import Answer, Found, Kind
from board.runs.run import Run


def opened(folder: Path, rows: Sequence[dict[str, Any]]) -> Run:
    """A run of these rows in one shard."""
    return open_run(write_run(folder, {"data.jsonl": rows}))


def asked(kind: Kind, folder: Path, rows: Sequence[dict[str, Any]], **limits: float) -> Answer:
    """The kind's answer about a run of these rows in one shard, by its own limits but for those that are given."""
    return kind.run(Context(opened(folder, rows), dict(MEASURES)), {**kind.limits, **limits})


def one(answer: Answer) -> Found:
    """The only thing that was found."""
    found = [answer] if isinstance(answer, Found) else answer
    assert isinstance(found, Sequence), answer
    (only,) = found
    return only


def silent(answer: Answer) -> bool:
    """Whether it looked and found nothing."""
    return answer is None or (isinstance(answer, Sequence) and not answer)
