"""board.runs.column_block: what it reads is what the rows would have given, bit by bit; what is ordinary, it reads."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from generated_blocks import block
from golden_runs import FOLDERS, shards
from mutants import AT_ONCE, line_mutants
from odd_cases import CASES, ODD_RUNS
from two_readers import assert_same, lines_of, read

from board.formats import native
from board.runs import part_builder
from board.runs.column_block import LEFT_ALONE, ColumnReader
from board.runs.part_builder import Item
from board.schema import TOKENS
from board.sources.shards import Line, Shard, find_shards, read_lines
from board.text.padding import COMMON_PADS

SAMPLES = [shard for run in sorted((Path(__file__).parents[2] / "rollout_samples").iterdir()) for shard in find_shards(run)[0]]
LINE_FILES = [
    *(path for folder in FOLDERS for path in shards(folder) if path.suffix == ".jsonl"),
    *(path for case in CASES for path in sorted((ODD_RUNS / case).rglob("*.jsonl")) if path.is_file()),
]
MUTATED = [path for path in shards("native") if path.suffix == ".jsonl"]
QUICK, ALL = 200, 2_000
"""So many blocks are made in every run of the tests, and so many in all."""


def taken(data: bytes) -> bool:
    """Whether all of the lines are read by columns."""
    return all(block is not None for _, block in ColumnReader().read(lines_of(data)))


def line(row: dict[str, Any]) -> bytes:
    """A row as JSON writes it, strictly or not."""
    return json.dumps(row).encode() + b"\n"


ROW: dict[str, Any] = {"step": 1, "prompt": "p", "response": "ab", TOKENS: ["a", "b"], "logprobs": [-0.5, -1.0], "reward": 1.0}


def test_an_ordinary_row_is_read_by_columns() -> None:
    """Its numbers lie end to end, its texts and tokens in Arrow."""
    ((_, found),) = ColumnReader().read(lines_of(line(ROW) + line(ROW | {"reward": None})))

    assert found is not None
    assert found.arrays["logprobs"].values.tolist() == [-0.5, -1.0] * 2
    assert found.per_token[TOKENS].to_pylist() == [["a", "b"]] * 2
    assert found.numbers["reward"].tolist()[0] == 1
    assert np.isnan(found.numbers["reward"][1])
    assert found.sources["line"].tolist() == [1, 2]


def test_a_run_s_own_pads_are_no_text_of_a_message() -> None:
    """Messages are without them, as the rows would have it, whatever run was read before."""
    asked = line(ROW | {"prompt": [{"role": "user", "content": "<x><x>hi<x>"}]})
    for pads, expected in ((COMMON_PADS | {"<x>"}, "user:\nhi"), (COMMON_PADS, "user:\n<x><x>hi<x>")):
        ((_, found),) = ColumnReader(pads).read(lines_of(asked))

        assert found is not None
        assert found.texts["prompt"].to_pylist() == [expected]


TAKEN: dict[str, dict[str, Any]] = {
    "no tokens": {TOKENS: None},
    "no arrays": {"logprobs": None},
    "an empty response": {"response": "", TOKENS: [], "logprobs": []},
    "a whole number among the numbers": {"logprobs": [-1, 0]},
    "a chat as prompt": {"prompt": [{"role": "user", "content": "hi"}]},
    "an id that is a number": {"group_id": 7},
    "true as a number": {"reward": True},
    "an array of the trainer's own": {"own": [1, 2]},
    "a number of the trainer's own": {"own": 1.5},
    "a text of the trainer's own": {"own": "x"},
    "an object of the trainer's own": {"own": {"a": 1, "b": "x"}},
    "a name that means something here": {"kl": 0.5},
    "ids beside tokens": {"response_token_ids": [1, 2]},
    "ids of the prompt": {"prompt_token_ids": [1, 2]},
    "an answer that is a number": {"ground_truth": 42},
}
REFUSED: dict[str, dict[str, Any]] = {
    "fewer numbers than tokens": {"logprobs": [-1.0]},
    "more numbers than tokens": {"logprobs": [-1.0, -1.0, -1.0]},
    "no number at a token": {"logprobs": [-1.0, None]},
    "NaN": {"logprobs": [-1.0, float("nan")]},
    "a number beyond float32": {"logprobs": [-1.0, 1e39]},
    "a number as text": {"reward": "0.5"},
    "a list as number": {"reward": [0.5]},
    "numbers as text": {"logprobs": ["-1.0", "-2.0"]},
    "a list hidden among numbers": {"logprobs": [[-1.0], -2.0]},
    "ids as tokens": {TOKENS: [5, 7]},
    "a null among the tokens": {TOKENS: ["a", None]},
    "tokens that are no list": {TOKENS: "ab"},
    "no response": {"response": None, TOKENS: None},
    "no step": {"step": None},
    "a step as text": {"step": "3"},
    "a step with a fraction": {"step": 3.5},
    "a step as float": {"step": 3.0},
    "a step beyond 64 bits": {"step": 2**63},
    "a whole number that is not exact": {"own": 2**53 + 1},
    "a list of the trainer's own of another length": {"own": [1, 2, 3]},
    "a list of texts of the trainer's own": {"own": ["x", "y"]},
    "a list as id": {"group_id": [1, 2]},
    "alternatives": {"top_logprobs": [[["a", -0.5]], None]},
    "only ids of tokens": {TOKENS: None, "response_token_ids": [1, 2]},
    "only ids of the prompt": {"prompt": None, "prompt_token_ids": [1, 2]},
    "a lone surrogate": {"response": "\ud800"},
    "a name that stands for two": {"kl": 1.0, "kl (logged)": 2.0},
    "a part that is there": {"own": {"a": 1}, "own.a": 2},
}


@pytest.mark.parametrize("change", TAKEN.values(), ids=TAKEN)
def test_what_is_ordinary_is_read_by_columns(change: dict[str, Any]) -> None:
    """Alone and between other rows; and it is what the rows would have given."""
    for data in (line(ROW | change), line(ROW) + line(ROW | change) + line(ROW)):
        assert taken(data)
        assert_same(lines_of(data))


@pytest.mark.parametrize("behind", [b',"step":2}', b',"a\\u0000b":1}', b',"\\u0061":1,"a":2}'])
def test_keys_as_no_trainer_writes_them(behind: bytes) -> None:
    """A key twice, the last of which counts, and one with the character 0 are what the rows would have given."""
    data = line(ROW) + line(ROW).rstrip()[:-1] + behind
    assert taken(data)
    assert_same(lines_of(data))


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_what_is_unusual_is_left_to_the_rows(change: dict[str, Any]) -> None:
    """Alone and between other rows; nothing of it changes by that."""
    for data in (line(ROW | change), line(ROW) + line(ROW | change) + line(ROW)):
        assert not taken(data)
        assert_same(lines_of(data))


def test_bytes_that_are_no_strict_json_are_left_to_the_rows() -> None:
    """A half line, a list, bytes that are no UTF-8, a problem in place of a line."""
    whole = line(ROW).rstrip()
    for data in (whole[:-1], b"[" + whole + b"]", whole.replace(b'"p"', b'"\xff"')):
        assert not taken(line(ROW) + data)
        assert_same(lines_of(line(ROW) + data))


@pytest.mark.parametrize("path", LINE_FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_files_of_trainers_and_odd_runs(path: Path) -> None:
    """Whatever file of lines is read as the board's own, the two ways agree on what is in it and what is wrong with it."""
    assert_same(lines_of(path.read_bytes()))


@pytest.mark.parametrize("shard", SAMPLES, ids=lambda shard: f"{shard.path.parent.name}/{shard.path.name}")
def test_the_bundled_runs_are_read_by_columns(shard: Shard) -> None:
    """All of them, and the two ways agree."""
    lines = [*read_lines(shard)]

    assert all(block is not None for _, block in ColumnReader().read(lines))
    assert_same(lines)


def test_mutants_of_golden_rows() -> None:
    """Golden rows with chance damage to a field or to the bytes, twelve shards of 64 lines."""
    dice = random.Random(5)
    mutants = [(path, line_mutants(path, dice)) for path in MUTATED]
    for _, made in mutants * (12 // len(mutants) + 1):
        assert_same([Line(at, 0, next(made), True) for at in range(1, AT_ONCE + 1)])


def _check_blocks(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of which half are ordinary: the ways agree on all, and of the ordinary nine in ten are read by columns."""
    ordinary = by_columns = 0
    for seed in seeds:
        dice = random.Random(seed)
        odd = seed % 2 == 1
        data = block(dice, odd=odd)
        monkeypatch.setattr(part_builder, "ROWS_AT_ONCE", dice.choice((1, 3, 1_024)))
        monkeypatch.setattr(part_builder, "ROWS_PER_PART", dice.choice((5, 16_384, 16_384, 16_384)))
        monkeypatch.setattr(part_builder, "BYTES_PER_PART", 2_000 if seed % 9 == 0 else 32_000_000)
        try:
            assert_same(lines_of(data))
        except AssertionError as error:
            raise AssertionError(f"block of seed {seed}") from error
        ordinary += not odd
        by_columns += not odd and taken(data)
    assert ordinary >= len(seeds) // 2
    assert by_columns > 0.9 * ordinary


def test_generated_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of 2,000, cut into stretches and parts of any size."""
    _check_blocks(range(QUICK), monkeypatch)


@pytest.mark.slow
def test_all_generated_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of them."""
    _check_blocks(range(QUICK, ALL), monkeypatch)


def test_of_an_unusual_line_only_its_neighbours_suffer() -> None:
    """The others are read by columns; what it says is told of its own line, and all rows keep their order."""
    rows = [line(ROW | {"reward": at} | ({"logprobs": [None, -1.0]} if at == 37 else {})) for at in range(100)]
    lines = lines_of(b"".join(rows))

    pieces = ColumnReader().read(lines)

    assert [one for items, _ in pieces for one in items] == lines
    assert 0 < sum(len(items) for items, block in pieces if block is None) <= LEFT_ALONE
    assert_same(lines)


def test_lines_that_are_refused_again_and_again_are_tried_less_often() -> None:
    """After a refusal one stretch is left alone, after the next three; after one that was read, none."""
    odd, plain = (lines_of(line(ROW | change)) for change in ({"step": 1.5}, {}))
    reader = ColumnReader()

    def refused(*stretches: list[Item]) -> list[bool]:
        return [reader.read(one)[0][1] is None for one in stretches]

    assert refused(odd, plain, plain) == [True, True, False]
    assert refused(odd, plain, odd, plain, plain, plain, plain) == [True] * 6 + [False]


def test_problems_among_the_lines_keep_their_place() -> None:
    """What is wrong with a shard is told in the order in which it was found."""
    parts, report = read(lines_of(line(ROW) + b"{}\n" + line(ROW | {"reward": "x"})), native)

    assert [(problem.line, problem.severity) for problem in report.problems] == [(2, "refused"), (3, "flagged")]
    assert sum(map(len, parts)) == 2
