"""An index made of a run that may change meanwhile: what was replaced or has gone while it was read is listed, and read, again.

Knows what has changed; what is done of an index each time is the job's.
"""

from dataclasses import replace
from typing import Final

from board.indexing.engine import Engine
from board.indexing.job import IndexJob, IndexResult, Tell
from board.indexing.target import IndexTarget

MOST_ROUNDS: Final = 3
"""So often a run is looked at, where its shards are others each time: then they are reported, and left to the next run of the command."""


def make(target: IndexTarget, engine: Engine, tell: Tell | None = None, *, verify: bool | None = None) -> IndexResult:
    """Bring an index up to date. Raises what `IndexJob.run` raises."""
    result = IndexJob(target, engine, tell, verify=verify).run()
    for _ in range(MOST_ROUNDS - 1):
        if not result.failed:
            break
        now = target.looked_at_again()
        changed = _changed(target, now, {one.shard for one in result.failed})
        if not changed:
            break
        target = now
        result = _joined(result, IndexJob(target, engine, tell, verify=False).run(), changed)
    return result


def _changed(before: IndexTarget, now: IndexTarget, failed: set[str]) -> list[str]:
    """Which of the shards that failed are others now, or gone."""
    states = {one.name: (one.size, one.mtime_ns) for one in now.found}
    return sorted(one.name for one in before.found if one.name in failed and states.get(one.name) != (one.size, one.mtime_ns))


def _joined(first: IndexResult, then: IndexResult, changed: list[str]) -> IndexResult:
    return replace(
        then,
        ranges_parsed=first.ranges_parsed + then.ranges_parsed,
        ranges_kept=first.ranges_kept,
        ranges_mended=first.ranges_mended + then.ranges_mended,
        shards_gone=sorted({*first.shards_gone, *then.shards_gone}),
        shards_changed=sorted({*first.shards_changed, *changed}),
        seconds=first.seconds + then.seconds,
        seconds_alone=first.seconds_alone + then.seconds_alone,
    )
