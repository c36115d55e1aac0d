"""Write a run as prime-rl has since 2026-08-31: a stream of episodes in sealed chunks, and annotations of two producers beside it.

prime-rl is no package on the index: put its `src` on PYTHONPATH, beside `orjson` and `pyzstd`. Its own `ChunkedJsonl` and `make_update`
write; the episodes are those of the golden run of the layout before, a second group and one that failed among them.

    PYTHONPATH=prime-rl/src python tests/writers/prime_rl_stream.py tests/formats/golden/traces/run/rollouts/step_12/train/all/traces.jsonl \
        tests/formats/golden/traces/run_stream
"""

import copy
import json
import sys
from pathlib import Path
from typing import Any

import orjson
from prime_rl.monitors.file.traces.chunks import ChunkedJsonl
from prime_rl.monitors.file.traces.update import make_update, update_index_row


def append(folder: Path, records: list[dict[str, Any]], index: bool = False, most: int = 5 << 30) -> None:
    """Write records as lines of a stream of chunks, and of annotations the index beside it."""
    stream = ChunkedJsonl(folder, most, True)
    rows = [
        update_index_row(record, *stream.append(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))) for record in records
    ]
    stream.flush()
    for thread in stream._sealing:
        thread.join()
    if index:
        folder.with_name(f"{folder.name}.index.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def arrived(episodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The episodes as they land, stamped with what the orchestrator knows then; the last one after the newest batch was sent."""
    late = copy.deepcopy(episodes[0])
    late["id"], late["traces"][0]["id"] = "e9", "t9"
    for episode, step in zip([*episodes, late], [12] * len(episodes) + [13], strict=True):
        for trace in episode["traces"]:
            trace["info"] = {"kind": "train", "dispatch": {"step": 11, "time": 1.0}, "arrival": {"step": step, "time": 2.0}}
    return [*episodes, late]


def shipped(trace: str, advantage: float, stream: list[float]) -> dict[str, Any]:
    """What the orchestrator adds of a trace that it sends to the trainer."""
    info = {"effective": True, "ship": {"step": 12, "time": 3.0}, "advantage": advantage}
    return make_update(trace, info=info, branches={0: {"advantages": stream}})


def trained(trace: str, logprobs: list[float | None], entropies: list[float | None], masked: list[bool | None]) -> dict[str, Any]:
    """What the trainer adds: null outside of what it trained on."""
    return make_update(trace, branches={0: {"trainer_logprobs": logprobs, "entropies": entropies, "is_masked": masked}})


def main(source: str, target: str) -> None:
    """Write the run. The first ship of the second trace is replaced by a later one; the trainer trained on two traces."""
    traces = Path(target) / "monitors" / "file" / "traces"
    episodes = arrived([json.loads(line) for line in Path(source).read_text(encoding="utf-8").splitlines()])
    append(traces / "stream", episodes, most=4_000)
    none = [None] * 5
    append(
        traces / "annotations" / "orchestrator",
        [
            shipped("t1", 0.25, [0.0] * 5 + [0.25] * 2),
            shipped("t2", -9.0, [0.0] * 5 + [-9.0] * 2),
            shipped("t2", -0.25, [0.0] * 5 + [-0.25] * 2),
        ],
        index=True,
    )
    append(
        traces / "annotations" / "trainer",
        [
            trained("t1", [*none, -0.125, -0.5], [*none, 0.5, 0.75], [*none, False, True]),
            trained("t2", [*none, -1.25, -0.25], [*none, 1.5, 0.25], [*none, False, None]),
        ],
        index=True,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
