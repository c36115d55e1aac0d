"""A run read the slow way, for tests to compare the board with: whole shards, line by line, plain json, none of the board's code.

Knows the fields that tests write and no others; says for each row what the board must show, and where the problems are.
"""

import json
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

PAD = "<pad>"
ARRAYS = ("logprobs", "ref_logprobs", "loss_mask")


@dataclass(frozen=True)
class SlowRow:
    """One rollout as it stands in its shard; NaN is written None, so that equal rows are equal."""

    step: int
    shard: str
    line: int
    raw: str
    rank: str | None
    prompt: str | None
    response: str | None
    reward: float | None
    tokens: list[str] | None
    arrays: dict[str, list[float | None]]
    length: float | None
    kl: float | None


@dataclass
class SlowRun:
    """All rows in the order of (step, shard, line), and all problems as (shard, line, severity), sorted."""

    rows: list[SlowRow] = field(default_factory=list)
    problems: list[tuple[str, int | None, str]] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)


def number(value: float) -> float | None:
    """None for NaN; rounded to what float32 holds and summing in another order leaves."""
    return None if math.isnan(value) else float(f"{value:.5g}")


def read(folder: Path, names: list[str]) -> SlowRun:
    """The run in a folder; `names` are the shards it may have, in the order they are shown."""
    run = SlowRun()
    for name in names:
        if (folder / name).exists():
            _read_shard(folder / name, name, run)
    run.rows.sort(key=lambda row: (row.step, names.index(row.shard), row.line))
    run.problems.sort(key=str)
    return run


def content(path: Path) -> tuple[bytes, bool]:
    """The shard's bytes as far as they can be had, and whether the stream was cut; of a cut stream whole lines alone."""
    data = path.read_bytes()
    if path.name.endswith(".zst"):
        return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read() if data else b"", False
    if not path.name.endswith(".gz"):
        return data, False
    whole, cut = b"", False
    while data:
        member = zlib.decompressobj(31)
        whole += member.decompress(data)
        data, cut = member.unused_data, not member.eof
    return (whole[: whole.rfind(b"\n") + 1], True) if cut else (whole, False)


def _read_shard(path: Path, name: str, run: SlowRun) -> None:
    data, cut = content(path)
    rows: list[SlowRow] = []
    pieces = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for line, piece in enumerate(pieces, 1):
        if not piece.strip():
            continue
        try:
            value = json.loads(piece.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="surrogateescape"))
        except ValueError:
            value = None
        if not isinstance(value, dict) and line == len(pieces):
            run.unfinished.append(name)
        elif not isinstance(value, dict) or "step" not in value or not (value.get("response") or value.get("response_tokens")):
            run.problems.append((name, line, "refused"))
        else:
            row, flags = _row(value, name, line, piece.rstrip(b"\r").decode())
            rows.append(row)
            run.problems += [(name, line, "flagged")] * flags
    if cut:
        run.problems.append((name, len(pieces) - 1 or None, "flagged"))
    run.problems += [(name, line, "flagged") for line in (*_returns(rows), *_doubled(rows))]
    run.rows += rows


def _row(value: dict[str, Any], shard: str, line: int, raw: str) -> tuple[SlowRow, int]:
    """The row, and how many things about it are odd."""
    tokens = value.get("response_tokens")
    arrays = {name: [math.nan if one is None else one for one in value[name]] for name in ARRAYS if name in value}
    if tokens:
        left = len(tokens) - next((at for at, one in enumerate(reversed(tokens)) if one != PAD), len(tokens))
        arrays = {name: array[:left] if left <= len(array) <= len(tokens) else array for name, array in arrays.items()}
        tokens = tokens[:left]
    trained = arrays.get("loss_mask", [])
    flags = sum(any(math.isnan(one) and trained[at : at + 1] != [0] for at, one in enumerate(array)) for array in arrays.values())
    length = max(map(len, arrays.values()), default=0) if tokens is None else len(tokens)
    flags += sum(len(array) != length for array in arrays.values())
    arrays = {name: [*array[:length], *[math.nan] * (length - len(array))] for name, array in arrays.items()}
    mask = arrays.get("loss_mask", [1.0] * length)
    counted = [one != 0 for one in mask]
    reward = value.get("reward")
    flags += isinstance(reward, str)
    rank = re.search(r"rank_(\d+)", shard)
    return SlowRow(
        step=value["step"],
        shard=shard,
        line=line,
        raw=raw,
        rank=rank[1] if rank else None,
        prompt=value.get("prompt"),
        response=value.get("response"),
        reward=None if reward is None else number(float(reward)),
        tokens=tokens,
        arrays={name: [number(one) for one in array] for name, array in arrays.items()},
        length=None if tokens is None and not arrays else float(sum(counted)),
        kl=_kl(arrays, counted),
    ), flags


def _kl(arrays: dict[str, list[float]], counted: list[bool]) -> float | None:
    """Mean over the tokens that count of exp(-d) - 1 + d."""
    pairs = zip(arrays.get("logprobs", []), arrays.get("ref_logprobs", []), counted, strict=False)
    ratios = [ours - reference for ours, reference, counts in pairs if counts and not math.isnan(ours - reference)]
    terms = [math.exp(-d) - 1 + d for d in ratios]
    return number(sum(terms) / len(terms)) if terms else None


def _blocks(rows: list[SlowRow]) -> Iterator[list[SlowRow]]:
    """Rows that stand together and have one step."""
    block: list[SlowRow] = []
    for row in rows:
        if block and block[-1].step != row.step:
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _returns(rows: list[SlowRow]) -> list[int]:
    """Lines where a step is written for the second time, another one standing between, unless steps are written in turns.

    Of three steps and more a step is written in turns that has fewer than 1.5 times the usual rows (more where these vary), fewer than four
    usual steps of lines between two writes. Usual is the median of the steps written once, where these are half of them, else of all. So
    is a step that the shard came back to for a few rows only, and went on.
    """
    writes: dict[int, list[list[SlowRow]]] = {}
    blocks = list(_blocks(rows))
    for block in blocks:
        writes.setdefault(block[0].step, []).append(block)
    sizes = {step: sum(map(len, blocks)) for step, blocks in writes.items()}
    once = [sizes[step] for step, blocks in writes.items() if len(blocks) == 1]
    told = once if 2 * len(once) >= len(sizes) else [*sizes.values()]
    usual = median(told) if told else 0
    varies = sum(size != usual for size in told) > 0.2 * len(told)
    most = max(1.5 * usual, usual + 3 * math.sqrt(usual) if varies else 0)
    whole = median(max(map(len, own)) for own in writes.values()) / 1.5 if writes else 0
    back = [
        late[0].line
        for at, (early, late) in enumerate(pairwise(blocks), 1)
        if late[0].step < early[0].step
        and (len(late) >= whole or all(two[0].step < one[0].step for one, two in pairwise(blocks[at:])))
    ]
    second = []
    for step, own in writes.items():
        gaps = [late[0].line - early[-1].line for early, late in pairwise(own)]
        in_turns = len(writes) > 2 and sizes[step] < most and max(gaps, default=0) < 4 * usual
        if gaps and not in_turns and any(own[0][0].line < line <= own[-1][0].line for line in back):
            second.append(own[1][0].line)
    return second


def _doubled(rows: list[SlowRow]) -> list[int]:
    """Lines where a step that is several times as long as the usual one begins its prompts again."""
    blocks = list(_blocks(rows))
    steps = {block[0].step for block in blocks}
    if len(blocks) < 3 or len(steps) < len(blocks) or len({row.prompt or "" for row in rows}) < 2:
        return []
    usual = int(median(map(len, blocks)))
    found = []
    for block in blocks:
        prompts = [row.prompt or "" for row in block]
        if len(block) >= 2 * usual and prompts == prompts[:usual] * (len(block) // usual):
            found.append(block[usual].line)
    return found
