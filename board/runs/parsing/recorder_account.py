"""What a recorder says it lost: account files → sentences for the load report.

Reads small JSON files and believes nothing in them that is not a number.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from board.runs.load_report import LIGHTENED, LOST
from board.sources import run_files
from board.sources.shards import Shard

TRACKING: Final = "While tracking, "
"""How a sentence begins that says what a tracker did not get: the run itself lacks nothing."""

LOST_ROWS: Final[Mapping[str, str]] = {
    "value": "values could not be written",
    "row": "rollouts could not be written",
    "queue": "rollouts were dropped because the disk was slower than training",
    "redaction": "rollouts were held back because the redaction failed",
    "disk": "rollouts were refused by the disk",
    "closed": "rollouts came after the recorder was closed",
}
"""By the recorder's reason: what is said, behind their number, of what the run lacks."""

UNTRACKED: Final[Mapping[str, str]] = {
    "tracker": "handovers to the tracker failed",
    "tracker_queue": "handovers were dropped because the tracker was slower than training",
    "tracker_value": "numbers could not be tracked",
    "tracker_late": "rollouts came after the numbers of their step had left, and are not in them",
}
"""By the recorder's reason: what is said, behind their number, of what a tracker did not get, which costs no row."""

_MOST_BYTES: Final = 65_536


def loss_sentences(found: Sequence[Shard]) -> list[str]:
    """What the recorders of these shards lost or left out, a sentence each; empty when nothing, or when there is no account."""
    lost: Counter[str] = Counter()
    left_out = 0
    for shard in found:
        account = _account(shard.path)
        losses = account.get("lost")
        lost.update({reason: _count(number) for reason, number in losses.items()} if isinstance(losses, dict) else {})
        left_out += _count(account.get("token_arrays_left_out"))
    sentences = _sentences(lost) if lost else []
    if left_out:
        sentences.append(f"{LIGHTENED}{left_out:,} rollouts without token arrays; their means and sums were recorded.")
    return sentences


def _sentences(lost: Mapping[str, int]) -> list[str]:
    """What so many losses by reason come to; unknown reasons are passed over."""
    return [
        f"{begins}{lost[reason]:,} {counted}."
        for begins, losses in ((LOST, LOST_ROWS), (TRACKING, UNTRACKED))
        for reason, counted in losses.items()
        if lost.get(reason)
    ]


def account_name(shard: str) -> str:
    """The name of the file next to a shard in which its recorder keeps account."""
    return f"{shard}.account.json"


def has_ended(shard: Path) -> bool:
    """Whether the recorder of a shard says that it has ended; False where there is no account."""
    return _account(shard).get("ended") is True


def _account(shard: Path) -> dict[str, Any]:
    path = shard.with_name(account_name(shard.name))
    try:
        account = json.loads(run_files.whole(path, within=path.parent, most=_MOST_BYTES))
    except (OSError, ValueError, RecursionError):  # there is none, or it is no account
        return {}
    return account if isinstance(account, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
