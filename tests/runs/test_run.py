"""Tests of a run as it is opened: every row, whatever the layout of its shards, its texts, its keys and its lines."""

import json
import math
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from assert_arrays import assert_same_array
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import lines, row, token_row, write_run

from board import open_run
from board.errors import BoardError, RunNotFound
from board.runs.parsing import part_builder
from board.runs.run import Run

Rows = list[dict[str, Any]]

NAN = math.nan

PART = 1_000
"""Rows of a part of the long run."""

NUMBERS = ("reward", "ref_reward", "custom")
ARRAYS = ("logprobs", "ref_logprobs", "entropies", "mine")
TEXTS = ("prompt", "response", "ground_truth")


def number_of(value: float | None) -> float:
    """A JSON number or null as the frame holds it."""
    return NAN if value is None else value


def slow_read(shards: Mapping[str, Rows]) -> list[dict[str, Any]]:
    """What a run must hold, by the words of its description: one dict per row, in order."""
    found = []
    for shard, rows in shards.items():
        for line, text in enumerate(lines(rows).decode().splitlines(), 1):
            record = json.loads(text)
            tokens = record.get("response_tokens")
            arrays = {name: record[name] for name in ARRAYS if record.get(name) is not None}
            if tokens:
                inner = [at for at, token in enumerate(tokens) if token != "<pad>"]
                start, stop = (inner[0], inner[-1] + 1) if inner else (0, 0)
                arrays = {name: one[start:stop] if stop <= len(one) <= len(tokens) else one for name, one in arrays.items()}
                tokens = tokens[start:stop]
            if "mine" in arrays and (not tokens or len(arrays["mine"]) != len(tokens)):
                del arrays["mine"]
            longest = max((len(array) for array in arrays.values()), default=0)
            length = longest if tokens is None else len(tokens)
            padded = {
                name: [number_of(x) for x in array][:length] + [NAN] * (length - len(array)) for name, array in arrays.items()
            }
            found.append(
                {
                    "place": (record["step"], [int(part) for part in re.findall(r"\d+", shard)], line),
                    "step": record["step"],
                    "shard": shard,
                    "line": line,
                    "numbers": {name: number_of(record.get(name)) for name in NUMBERS},
                    "texts": {name: record[name] for name in TEXTS if record.get(name) is not None},
                    "tokens": tokens,
                    "arrays": padded,
                }
            )
    return sorted(found, key=lambda one: one["place"])


def assert_holds(run: Run, expected: list[dict[str, Any]]) -> None:
    """The run's frame and rollouts are exactly these rows in this order."""
    frame = run.frame
    assert frame[["step", "shard", "line"]].to_numpy().tolist() == [[one["step"], one["shard"], one["line"]] for one in expected]
    for name in NUMBERS:
        wanted = np.array([one["numbers"][name] for one in expected])
        assert (name in frame) == bool((~np.isnan(wanted)).any())
        if name in frame:
            np.testing.assert_array_equal(frame[name].to_numpy(float), wanted)
    assert set(run.token_metrics) == {name for one in expected for name in one["arrays"]}
    assert set(run.text_columns) >= {name for one in expected for name in one["texts"]}
    for key, one in zip(frame.index, expected, strict=True):
        rollout = run.rollout(int(key))
        assert (rollout.step, rollout.source) == (one["step"], f"{one['shard']}:{one['line']}")
        assert {name: text for name, text in rollout.texts.items() if name in TEXTS} == one["texts"]
        assert rollout.tokens == one["tokens"]
        assert rollout.arrays.keys() == one["arrays"].keys()
        for name, array in one["arrays"].items():
            assert_same_array(rollout[name], array)


SCALAR = st.none() | st.sampled_from([0.0, 1.0, -2.5, 0.1, NAN])
TOKEN = st.sampled_from(["a", "威", "<b>", "<pad>", "\n"])


@st.composite
def any_row(draw: st.DrawFn) -> dict[str, Any]:
    """A row with any of its fields missing or null, and arrays of the tokens' length, mostly."""
    size = draw(st.integers(0, 4))
    fields: dict[str, Any] = {"step": draw(st.integers(-1, 4)), "response": draw(st.sampled_from(["", "x", "威 <b>$\n"]))}
    optional = {
        "response_tokens": st.none() | st.lists(TOKEN, min_size=size, max_size=size),
        "prompt": st.none() | st.sampled_from(["p", "q"]),
        "ground_truth": st.none() | st.just("gt"),
        **dict.fromkeys(NUMBERS, SCALAR),
        **{name: st.none() | st.lists(SCALAR, min_size=size, max_size=size) | st.lists(SCALAR, max_size=6) for name in ARRAYS},
    }
    for name, values in optional.items():
        if draw(st.booleans()):
            fields[name] = draw(values)
    if fields.get("mine") is not None and len(fields["mine"]) != len(fields.get("response_tokens") or []):
        del fields["mine"]  # of another length it is text
    return fields


SHARD_NAMES = st.lists(
    st.sampled_from(
        ["rank_0.jsonl", "rank_1.jsonl.gz", "rank_2.jsonl.zst", "rank_10.jsonl", "rank_3/step_2.jsonl", "rank_3/step_11.jsonl"]
    ),
    min_size=1,
    max_size=4,
    unique=True,
)


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_any_run_is_what_a_slow_reader_reads(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Rows, order, numbers, texts, tokens and arrays: float32, NaN where missing, whichever shard a row is in."""
    shards = {name: data.draw(st.lists(any_row(), max_size=5)) for name in data.draw(SHARD_NAMES)}

    run = open_run(write_run(tmp_path_factory.mktemp("run"), shards))

    assert_holds(run, slow_read(shards))
    assert run.report.rows == sum(map(len, shards.values()))
    assert run.report.refused == 0


LAYOUTS = {
    "one file": lambda rank, step: "data.jsonl",
    "a file per rank": lambda rank, step: f"rank_{rank}.jsonl",
    "a file per rank and step": lambda rank, step: f"rank_{rank}_{step}.jsonl",
    "step folders": lambda rank, step: f"step_{step}/rank_{rank}.jsonl.gz",
    "rank folders": lambda rank, step: f"rank_{rank}/{step}.jsonl.zst",
}


def many_rows() -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Rank, step and row of a job of three ranks and twelve steps."""
    for step in range(12):
        for rank in (0, 2, 10):
            for sample in range(2):
                fields = {"rank": rank, "reward": step + rank / 100 + sample / 1000, "sample_id": f"{step}-{rank}-{sample}"}
                yield rank, step, token_row(step, **fields)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_of_shards_gives_the_same_frame(tmp_path: Path, layout: Any, seed: int) -> None:
    """But for the names of places: the same rows in the same order, whatever order the files were created in."""
    shards: dict[str, Rows] = {}
    for rank, step, fields in many_rows():
        shards.setdefault(layout(rank, step), []).append(fields)
    created = list(shards)
    random.Random(seed).shuffle(created)

    run = open_run(write_run(tmp_path, {name: shards[name] for name in created}))

    frame = run.frame.drop(columns=["shard", "line"]).reset_index(drop=True)
    assert frame["sample_id"].tolist() == [fields["sample_id"] for _, _, fields in many_rows()]
    assert frame["rank"].tolist() == [str(rank) for rank, _, _ in many_rows()]
    assert frame["rank"].cat.categories.tolist() == ["0", "2", "10"]
    reference = open_run(write_run(tmp_path / "other", {"x.jsonl": [fields for _, _, fields in many_rows()]})).frame
    pd.testing.assert_frame_equal(frame, reference.drop(columns=["shard", "line"]).reset_index(drop=True))


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of three parts: prompts only beyond the first, a ground truth in every third row, steps going down."""
    rows = PART * 2 + 100
    fields: Rows = []
    for at in range(rows):
        one = row(rows - at, response=f"r{at}", response_tokens=[str(at)], logprobs=[-at / 7])
        if at >= PART:
            one |= {"prompt": f"p{at}", "entropies": [at / 3]}
        if at % 3 == 0:
            one["ground_truth"] = at
        fields.append(one)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_builder, "ROWS_PER_PART", PART)
        run = open_run(write_run(tmp_path_factory.mktemp("long"), {"data.jsonl": fields}))
    assert len(run.parts) == 3
    return run


def test_index_leads_to_the_rollout_across_parts(long_run: Run) -> None:
    """The frame is ordered by step; the key of each row finds its own texts, tokens and arrays."""
    assert long_run.frame["step"].is_monotonic_increasing
    assert long_run.frame.index.name == "rollout"
    for at in (0, PART - 1, PART, 2 * PART - 1, 2 * PART, 2 * PART + 99):
        key = long_run.key_of(f"data.jsonl:{at + 1}")
        assert key is not None
        rollout = long_run.rollout(key)
        assert (rollout.key, rollout.line, rollout["response"], rollout.tokens) == (key, at + 1, f"r{at}", [str(at)])
        assert rollout["prompt"] == (f"p{at}" if at >= PART else None)
        assert_same_array(rollout["logprobs"], [-at / 7])
        assert (rollout["entropies"] is None) == (at < PART)
        assert long_run.frame.loc[key, "logprob_mean"] == pytest.approx(-at / 7, rel=1e-6)
        assert math.isnan(long_run.frame["entropy_mean"].loc[key]) == (at < PART)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_texts_come_in_the_order_asked_for(long_run: Run, data: st.DataObject) -> None:
    """Any keys in any order, the same one twice too; null where a row or a whole part lacks the text."""
    keys = data.draw(st.lists(st.integers(0, 2 * PART + 99), max_size=20))

    assert long_run.texts("response", keys).to_pylist() == [f"r{key}" for key in keys]
    assert long_run.texts("prompt", keys).to_pylist() == [f"p{key}" if key >= PART else None for key in keys]
    assert long_run.texts("ground_truth", np.array(keys, np.int64)).to_pylist() == [
        str(key) if key % 3 == 0 else None for key in keys
    ]
    assert long_run.texts("nobody has this", keys).to_pylist() == [None] * len(keys)


def test_all_texts_in_the_frames_order(long_run: Run) -> None:
    """As a page asks for them: the whole index at once."""
    keys = long_run.frame.index.to_numpy()

    assert long_run.texts("response", keys).to_pylist() == [f"r{key}" for key in keys]


def test_everything_in_one_frame(long_run: Run) -> None:
    """Texts and arrays beside the scalars, row by row those of the rollout."""
    everything = long_run.to_pandas()

    assert everything[list(long_run.frame.columns)].equals(long_run.frame)
    for key in (0, 5, PART, 2 * PART + 99):
        rollout, one = long_run.rollout(key), everything.loc[key]
        assert (one["response"], one["response_tokens"]) == (rollout["response"], rollout.tokens)
        assert_same_array(one["logprobs"], rollout["logprobs"].tolist())
        assert (one["entropies"] is None) == (rollout["entropies"] is None)
        assert pd.isna(one["prompt"]) == (rollout["prompt"] is None)


def test_everything_in_one_frame_loses_no_number_to_a_text(tmp_path: Path) -> None:
    """A field that is a number here, a text there and a list elsewhere: each kind has its column."""
    rows = [
        row(reward=1.0, x=1),
        row(reward="bad", x="text"),
        row(response_tokens=["a", "b"], logprobs="bad", x=[1, 2]),
        token_row(),
    ]

    everything = open_run(write_run(tmp_path, {"a.jsonl": rows})).to_pandas()

    assert everything.columns.is_unique
    np.testing.assert_array_equal(everything["reward"].to_numpy(float), [1, NAN, NAN, 1])
    assert everything["reward (text)"].iloc[1] == "bad"
    np.testing.assert_array_equal(everything["x"].to_numpy(float), [1, NAN, NAN, NAN])
    assert everything["x (text)"].iloc[1] == "text"
    assert everything["x (tokens)"].iloc[2].tolist() == [1, 2]
    assert everything["logprobs (text)"].iloc[2] == "bad"
    assert [one is None for one in everything["logprobs"]] == [True, True, True, False]


def test_everything_of_a_run_without_rows(tmp_path: Path) -> None:
    """Nothing, but with its columns."""
    run = open_run(write_run(tmp_path, {"a.jsonl": []}))

    assert run.to_pandas().empty
    assert list(run.frame.columns) == ["step", "shard", "line"]
    assert run.steps.tolist() == []
    assert (run.token_metrics, run.text_columns, run.has_tokens) == ((), (), False)


@pytest.mark.parametrize("key", [-1, 1, 10**9])
def test_key_that_is_not_there_is_said(tmp_path: Path, key: int) -> None:
    """One sentence, for the screen."""
    run = open_run(write_run(tmp_path / "mine", {"a.jsonl": [row()]}))

    with pytest.raises(BoardError, match=f"There is no rollout {key} in mine"):
        run.rollout(key)
    with pytest.raises(BoardError, match="There is no rollout"):
        run.raw(key)


SOURCES: dict[str, tuple[str, int | None]] = {
    "first": ("a.jsonl:1", 0),
    "after a blank line": ("a.jsonl:3", 1),
    "in a folder": ("sub/b:c.jsonl:1", 2),
    "blank line": ("a.jsonl:2", None),
    "beyond the end": ("a.jsonl:4", None),
    "unknown shard": ("c.jsonl:1", None),
    "no line": ("a.jsonl", None),
    "not a line": ("a.jsonl:x", None),
    "negative": ("a.jsonl:-1", None),
    "superscript": ("a.jsonl:²", None),
    "huge": ("a.jsonl:" + "1" * 30, None),
    "of no end": ("a.jsonl:" + "1" * 5_000, None),
    "empty": ("", None),
}


@pytest.mark.parametrize(("source", "key"), SOURCES.values(), ids=SOURCES)
def test_key_of_a_place(tmp_path: Path, source: str, key: int | None) -> None:
    """`shard:line` as links carry it finds its rollout; anything else, as links may carry it, finds none."""
    run = open_run(write_run(tmp_path, {"a.jsonl": [row(), b"", row()], "sub/b:c.jsonl": [row()]}))

    assert run.key_of(source) == key
    assert key is None or run.rollout(key).source == source


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_raw_record_is_the_line_as_it_stands(tmp_path: Path, name: str) -> None:
    """Byte for byte, with what is not UTF-8 written out, past a byte order mark, blank lines and carriage returns."""
    first, odd = (
        b'{ "step":0,  "response": "\xe5\xa8\x81", "x": 1.50 }',
        b'{"step": 1, "response": "caf\xe9 NaN \\ud800", "y": NaN}',
    )
    data = b"\xef\xbb\xbf" + first + b"\r\n\r\n" + odd + b"\r\n"
    run = open_run(write_run(tmp_path, {name: data}))

    assert run.raw(0) == first.decode()
    assert run.raw(1) == r'{"step": 1, "response": "caf\xe9 NaN \ud800", "y": NaN}'
    assert run.rollout(1)["response"] == r"caf\xe9 NaN \ud800"


def test_raw_record_of_a_rewritten_shard_is_said(tmp_path: Path) -> None:
    """What was loaded stays on the screen, but its line is not replaced by another."""
    run = open_run(write_run(tmp_path, {"a.jsonl": [row(), row(1)]}))
    (tmp_path / "a.jsonl").write_bytes(lines([row(text="longer than before")]))

    with pytest.raises(RunNotFound, match="rewritten"):
        run.raw(1)


def test_every_rollout_is_found_by_its_source() -> None:
    """Also where a record holds several, and in whatever order they are asked for."""
    run = open_run(Path(__file__).parents[1] / "formats" / "golden" / "atropos")
    keys = run.frame.index.to_numpy()[::-1]

    sources = run.sources(keys)

    assert len(set(sources)) == len(keys)
    assert [run.key_of(source) for source in sources] == keys.tolist()
    assert [run.rollout(int(key)).source for key in keys] == sources
    assert run.key_of(f"{sources[0].partition(':')[0]}:1.99") is None


def test_a_run_of_some_steps_has_their_rollouts_alone(tmp_path: Path) -> None:
    """Its steps are those between the two, it is another load to what is kept of it, and all steps are the run itself."""
    run = open_run(write_run(tmp_path / "run", {"a.jsonl": [token_row(step) for step in (0, 3, 5, 9)]}))

    some = run.of_steps(1, 5)

    assert some.steps.tolist() == [3, 5]
    assert some.load_id != run.load_id
    assert some.rollout(int(some.frame.index[0])).step == 3
    assert run.of_steps(-5, 9) is run
    assert run.of_steps(6, 8).frame.empty
