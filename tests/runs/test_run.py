"""board.runs.run: a run folder as one frame ordered by step, against a slow reader; from a row to its texts and tokens."""

import json
import math
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import compressed, lines, row, token_row, write_run

from board import open_run
from board.errors import BoardError, RunNotFound
from board.runs.part_builder import ROWS_PER_PART
from board.runs.progress import Progress
from board.runs.run import Run

ROOT = Path(__file__).parents[2]
NAN = math.nan

NUMBERS = ("reward", "ref_reward", "custom")
ARRAYS = ("logprobs", "ref_logprobs", "entropies", "mine")
TEXTS = ("prompt", "response", "ground_truth")

Rows = list[dict[str, Any]]


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
            if "mine" in arrays and (not tokens or len(arrays["mine"]) != len(tokens)):
                del arrays["mine"]
            longest = max((len(array) for array in arrays.values()), default=0)
            if tokens is not None and arrays and all(token == "<pad>" for token in tokens[longest:]):
                tokens = tokens[:longest]
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


def assert_same_array(found: Any, expected: list[float]) -> None:
    """float32, equal, NaN where NaN."""
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


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
@settings(max_examples=40, deadline=None)
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
    rows = ROWS_PER_PART * 2 + 100
    fields: Rows = []
    for at in range(rows):
        one = row(rows - at, response=f"r{at}", response_tokens=[str(at)], logprobs=[-at / 7])
        if at >= ROWS_PER_PART:
            one |= {"prompt": f"p{at}", "entropies": [at / 3]}
        if at % 3 == 0:
            one["ground_truth"] = at
        fields.append(one)
    return open_run(write_run(tmp_path_factory.mktemp("long"), {"data.jsonl": fields}))


def test_index_leads_to_the_rollout_across_parts(long_run: Run) -> None:
    """The frame is ordered by step; the key of each row finds its own texts, tokens and arrays."""
    assert long_run.frame["step"].is_monotonic_increasing
    assert long_run.frame.index.name == "rollout"
    for at in (0, ROWS_PER_PART - 1, ROWS_PER_PART, 2 * ROWS_PER_PART - 1, 2 * ROWS_PER_PART, 2 * ROWS_PER_PART + 99):
        key = long_run.key_of(f"data.jsonl:{at + 1}")
        assert key is not None
        rollout = long_run.rollout(key)
        assert (rollout.key, rollout.line, rollout["response"], rollout.tokens) == (key, at + 1, f"r{at}", [str(at)])
        assert rollout["prompt"] == (f"p{at}" if at >= ROWS_PER_PART else None)
        assert_same_array(rollout["logprobs"], [-at / 7])
        assert (rollout["entropies"] is None) == (at < ROWS_PER_PART)
        assert long_run.frame.loc[key, "logprob_mean"] == pytest.approx(-at / 7, rel=1e-6)
        assert math.isnan(long_run.frame["entropy_mean"].loc[key]) == (at < ROWS_PER_PART)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_texts_come_in_the_order_asked_for(long_run: Run, data: st.DataObject) -> None:
    """Any keys in any order, the same one twice too; null where a row or a whole part lacks the text."""
    keys = data.draw(st.lists(st.integers(0, 2 * ROWS_PER_PART + 99), max_size=20))

    assert long_run.texts("response", keys).to_pylist() == [f"r{key}" for key in keys]
    assert long_run.texts("prompt", keys).to_pylist() == [f"p{key}" if key >= ROWS_PER_PART else None for key in keys]
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
    for key in (0, 5, ROWS_PER_PART, 2 * ROWS_PER_PART + 99):
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


COLUMNS: dict[str, tuple[Rows, set[str]]] = {
    "response alone": ([row()], {"response_chars"}),
    "tokens alone": ([{"step": 0, "response_tokens": ["a"]}], {"response_length"}),
    "reward": ([row(reward=0.0)], {"reward", "response_chars"}),
    "null reward": ([row(reward=None)], {"response_chars"}),
    "not a number in all rows": ([row(reward=NAN), row(reward=NAN)], {"response_chars"}),
    "reference in one row of two": (
        [row(reward=1.0, ref_reward=1.0), row(reward=1.0)],
        {"reward", "ref_reward", "reward_gap", "response_chars"},
    ),
    "reference in the other row": ([row(reward=1.0), row(ref_reward=1.0)], {"reward", "ref_reward", "response_chars"}),
    "logprobs without reference": (
        [row(logprobs=[-1.0])],
        {"logprob_mean", "nonfinite_tokens", "response_chars", "response_length"},
    ),
    "ids and unknown": (
        [row(group_id=1, rank=0, score={"format": 1}, n=2)],
        {"group_id", "rank", "score.format", "n", "response_chars"},
    ),
}


@pytest.mark.parametrize(("rows", "columns"), COLUMNS.values(), ids=COLUMNS)
def test_columns_exist_only_where_a_row_has_a_value(tmp_path: Path, rows: Rows, columns: set[str]) -> None:
    """No column of nothing, no invented zero."""
    frame = open_run(write_run(tmp_path, {"a.jsonl": rows})).frame

    assert set(frame.columns) == {"step", "shard", "line"} | columns


def test_types_and_order_of_columns(tmp_path: Path) -> None:
    """Place, ids, declared numbers, then the rest; integers, categories and float64."""
    frame = open_run(write_run(tmp_path, {"rank_0.jsonl": [token_row(zzz=1, group_id="g", ref_reward=0.5)]})).frame

    assert list(frame.columns)[:7] == ["step", "shard", "line", "group_id", "rank", "reward", "ref_reward"]
    assert frame[["step", "line"]].dtypes.astype(str).tolist() == ["int64", "int64"]
    assert all(isinstance(frame[name].dtype, pd.CategoricalDtype) for name in ("shard", "group_id", "rank"))
    assert set(frame.iloc[:, 5:].dtypes.astype(str)) == {"float64"}


def test_missing_numbers_are_missing(tmp_path: Path) -> None:
    """A row that lacks a field has NaN there, also in what is derived from it."""
    frame = open_run(write_run(tmp_path, {"a.jsonl": [token_row(ref_reward=0.0), row()]})).frame

    assert frame.iloc[1].drop(["step", "shard", "line", "response_chars"]).isna().all()
    assert frame["nonfinite_tokens"].iloc[0] == 0


def test_own_pads_change_the_statistics(tmp_path: Path) -> None:
    """Token texts named as padding enter no length and no mean; the tokens themselves stay."""
    folder = write_run(tmp_path, {"a.jsonl": [row(response_tokens=["a", "~", "~"], logprobs=[-1.0, -9.0, -9.0])]})

    plain, padded = open_run(folder), open_run(folder, extra_pads=["~"])

    assert plain.frame[["response_length", "logprob_mean"]].to_numpy().tolist() == [[3, pytest.approx(-19 / 3)]]
    assert padded.frame[["response_length", "logprob_mean"]].to_numpy().tolist() == [[1, -1]]
    assert padded.rollout(0).tokens == ["a", "~", "~"]
    assert padded.rollout(0).pads.tolist() == [False, True, True]
    assert plain.rollout(0).pads.tolist() == [False, False, False]


def test_masked_tokens_enter_no_mean(tmp_path: Path) -> None:
    """Every statistic of the row leaves them out; the arrays keep their numbers."""
    masked = token_row(loss_mask=[1, 0], entropies=[1.0, 9.0], ref_logprobs=[-1.5, -9.0])
    run = open_run(write_run(tmp_path, {"a.jsonl": [masked]}))

    one = run.frame.iloc[0]
    assert one[["response_length", "logprob_mean", "value_mean", "token_reward_sum", "entropy_mean"]].tolist() == [
        1,
        -1,
        0.5,
        0,
        1,
    ]
    assert one[["log_ratio_mean", "log_ratio_sum", "log_ratio_max"]].tolist() == [0.5, 0.5, 0.5]
    assert run.rollout(0).counts.tolist() == [True, False]
    assert_same_array(run.rollout(0)["entropies"], [1, 9])


def test_token_metrics_of_the_boards_own_names_do_no_harm(tmp_path: Path) -> None:
    """A trainer may log `counts`, `pads`, `position`, `token`, `kl` or `kl_k3`: all are kept, none is mistaken for ours."""
    fields: dict[str, Any] = {name: [5.0, 6.0] for name in ("counts", "pads", "position", "token", "kl", "kl_k3")}
    run = open_run(write_run(tmp_path, {"a.jsonl": [token_row(**fields)]}))
    rollout = run.rollout(0)

    assert rollout.counts.tolist() == [True, True]
    assert rollout.pads.tolist() == [False, False]
    assert {name for name in rollout.arrays if name not in token_row()} == {
        "counts (logged)",
        "pads (logged)",
        "position (logged)",
        "token (logged)",
        "kl (logged)",
        "kl_k3",
    }
    assert run.frame["kl_k3_mean"].iloc[0] == pytest.approx(math.exp(-0.5) - 0.5)
    assert run.frame["kl (logged)_mean"].iloc[0] == 5.5


def test_logged_scalars_stand_beside_ours(tmp_path: Path) -> None:
    """A trainer's `response_length`, `shard` or `offset` is kept under `(logged)`."""
    run = open_run(write_run(tmp_path, {"a.jsonl": [token_row(response_length=99, shard=7, line=8, offset=9, prompt_key=10)]}))

    assert run.frame["response_length"].tolist() == [2]
    assert run.frame["shard"].tolist() == ["a.jsonl"]
    logged = {name: run.frame[name].iloc[0] for name in run.frame.columns if name.endswith("(logged)")}
    assert logged == {
        "response_length (logged)": 99,
        "shard (logged)": 7,
        "line (logged)": 8,
        "offset (logged)": 9,
        "prompt_key (logged)": 10,
    }


RANKS: dict[str, tuple[str, dict[str, Any], str | None]] = {
    "from the file name": ("rank_3.jsonl", {}, "3"),
    "from the folder": ("step_1/rank-12/data.jsonl", {}, "12"),
    "joined": ("rank7.jsonl.gz", {}, "7"),
    "with the step behind": ("rollout_data_rank_0_12.jsonl", {}, "0"),
    "the row knows better": ("rank_3.jsonl", {"rank": 5}, "5"),
    "null in the row": ("rank_3.jsonl", {"rank": None}, "3"),
    "none": ("data.jsonl", {}, None),
}


@pytest.mark.parametrize(("name", "fields", "rank"), RANKS.values(), ids=RANKS)
def test_rank_comes_from_the_row_or_the_name(tmp_path: Path, name: str, fields: dict[str, Any], rank: str | None) -> None:
    """What the row says counts, else the name of its shard."""
    frame = open_run(write_run(tmp_path, {name: [row(**fields)]})).frame

    assert (frame["rank"].tolist() if "rank" in frame else [None]) == [rank]


def test_ids_are_categories_in_natural_order(tmp_path: Path) -> None:
    """So that sorting by them counts as people do; odd names included."""
    ids = ["10", "2", "²", "1" * 5_000, "b", "", None]
    frame = open_run(write_run(tmp_path, {"a.jsonl": [row(group_id=one) for one in ids]})).frame

    assert frame["group_id"].cat.categories.tolist() == ["", "2", "10", "1" * 5_000, "b", "²"]
    assert frame["group_id"].isna().tolist() == [False] * 6 + [True]


def test_reading_changes_nothing(tmp_path: Path) -> None:
    """The frame is the same after everything a reader may ask of the run, and arrays cannot be written to."""
    run = open_run(write_run(tmp_path, {"b.jsonl": [token_row(2), row(1)], "a.jsonl": [token_row(1, x=[1, 2])]}))
    before, problems = run.frame.copy(deep=True), list(run.report.problems)

    for key in run.frame.index:
        rollout = run.rollout(int(key))
        assert not any(array.flags.writeable for array in rollout.arrays.values())
        run.raw(int(key))
    run.texts("prompt", run.frame.index.to_numpy())
    everything = run.to_pandas()
    everything["reward"] = 0.0
    assert (run.key_of("a.jsonl:1"), run.steps.tolist(), run.name) == (0, [1, 2], tmp_path.name)

    pd.testing.assert_frame_equal(run.frame, before)
    assert run.report.problems == problems


def test_arrays_are_views(tmp_path: Path) -> None:
    """Two looks at one rollout share their memory: nothing is copied."""
    run = open_run(write_run(tmp_path, {"a.jsonl": [token_row(), token_row()]}))

    assert np.shares_memory(run.rollout(1)["logprobs"], run.rollout(1)["logprobs"])


def test_report_counts_shards_rows_bytes_and_problems(tmp_path: Path) -> None:
    """Refused lines are not rows, flagged ones are, and an unfinished last line is neither."""
    data = lines([row(), b"garbage", row(reward="0.5")]) + b'{"step": 1, "resp'
    run = open_run(write_run(tmp_path, {"a.jsonl": data, "b.jsonl.gz": [row()]}))

    report = run.report
    assert (report.shards, report.rows, report.refused, report.flagged) == (2, 3, 1, 1)
    assert report.bytes == sum((tmp_path / name).stat().st_size for name in ("a.jsonl", "b.jsonl.gz"))
    assert report.unfinished == ["a.jsonl"]
    assert [str(problem).split(":")[1] for problem in report.problems] == ["2", "3"]
    assert report.seconds > 0


CUTS = {
    "in a key": b'{"step": 1, "resp',
    "in a character": '{"step": 1, "response": "威'.encode()[:-1],
    "in an escape": rb'{"step": 1, "response": "\ud83',
    "in a number": b'{"step": 1',
    "one bracket": b"{",
    "a number alone": b"4",
}


@pytest.mark.parametrize("data", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_half_written_last_line_is_read_next_time(tmp_path: Path, name: str, data: bytes) -> None:
    """It is no problem, only not yet there; the same bytes before a line end are one."""
    cut = open_run(write_run(tmp_path / "cut", {name: lines([row()]) + data}))
    ended = open_run(write_run(tmp_path / "ended", {name: lines([row()]) + data + b"\n"}))

    assert (cut.report.rows, cut.report.problems, cut.report.unfinished) == (1, [], [name])
    assert (ended.report.rows, ended.report.refused, ended.report.unfinished) == (1, 1, [])


def test_last_line_without_line_end_counts_when_it_is_whole(tmp_path: Path) -> None:
    """Only the line end was missing."""
    run = open_run(write_run(tmp_path, {"a.jsonl": lines([row(), row(1)])[:-1]}))

    assert (run.report.rows, run.report.unfinished) == (2, [])


def test_stream_cut_off_keeps_the_rows_before(tmp_path: Path) -> None:
    """A compressed shard of a killed job: its rows, and one flagged problem."""
    data = compressed(lines(row(step) for step in range(50)), "a.jsonl.gz")
    run = open_run(write_run(tmp_path, {"b.jsonl": [row(99)]}))
    (tmp_path / "a.jsonl.gz").write_bytes(data[:-4])

    run = open_run(tmp_path)

    assert run.steps.tolist() == [*range(50), 99]
    assert [(problem.shard, problem.severity) for problem in run.report.problems] == [("a.jsonl.gz", "flagged")]


def test_one_bad_shard_does_not_hide_the_others(tmp_path: Path) -> None:
    """What cannot be read is a problem with the shard's name; a run of such alone is an empty run, not an error."""
    run = open_run(write_run(tmp_path, {"good.jsonl": [row()], "bad.jsonl.gz": [row()]}))
    (tmp_path / "bad.jsonl.gz").write_bytes(b"no gzip")

    run = open_run(tmp_path)
    (tmp_path / "good.jsonl").unlink()
    alone = open_run(tmp_path)

    assert (run.report.rows, [problem.shard for problem in run.report.problems]) == (1, ["bad.jsonl.gz"])
    assert (alone.report.rows, alone.report.refused, len(alone.frame)) == (0, 1, 0)


def test_folder_without_shards_and_missing_folder_are_errors(tmp_path: Path) -> None:
    """Each is one sentence that says what was looked for."""
    with pytest.raises(RunNotFound, match=r"looked for \*\.jsonl"):
        open_run(tmp_path)
    with pytest.raises(RunNotFound, match="No folder 'missing'"):
        open_run(str(tmp_path / "missing"))


def test_every_load_has_its_own_id_and_the_same_content_the_same_fingerprint(tmp_path: Path) -> None:
    """So that what was computed of one load is never shown for another."""
    folder = write_run(tmp_path, {"a.jsonl": [row()]})
    first, second = open_run(folder), open_run(folder)
    with (folder / "a.jsonl").open("ab") as file:
        file.write(lines([row(1)]))
    third = open_run(folder)

    assert len({first.load_id, second.load_id, third.load_id}) == 3
    assert first.fingerprint == second.fingerprint != third.fingerprint
    assert [len(run.frame) for run in (first, second, third)] == [1, 1, 2]


def test_links_are_read_within_the_root_only(tmp_path: Path) -> None:
    """`within` says how far links may lead."""
    write_run(tmp_path / "other", {"x.jsonl": [row(7)]})
    run = write_run(tmp_path / "run", {"a.jsonl": [row()]})
    (run / "b.jsonl").symlink_to("../other/x.jsonl")

    assert open_run(run, within=tmp_path).steps.tolist() == [0, 7]
    alone = open_run(run)
    assert alone.steps.tolist() == [0]
    assert alone.report.problems[0].shard == "b.jsonl"


def test_progress_is_told(tmp_path: Path) -> None:
    """Bytes grow to at most the whole, rows grow, and the whole is known from the start."""
    rows = [row(step) for step in range(300)]
    folder = write_run(tmp_path, dict.fromkeys(("a.jsonl", "b.jsonl.gz", "c.jsonl.zst"), rows))
    seen: list[Progress] = []

    run = open_run(folder, progress=seen.append)

    assert len(seen) == 3
    assert {one.bytes_total for one in seen} == {run.report.bytes}
    assert [one.rows for one in seen] == sorted(one.rows for one in seen)
    assert [one.bytes_done for one in seen] == sorted(one.bytes_done for one in seen)
    assert seen[-1].bytes_done <= run.report.bytes


PROGRESS: dict[str, tuple[Progress, tuple[float, float, float]]] = {
    "half way": (Progress(50, 100, 5, 2.0), (0.5, 25.0, 2.0)),
    "not begun": (Progress(0, 100, 0, 0.0), (0.0, 0.0, math.inf)),
    "nothing to read": (Progress(0, 0, 0, 1.0), (1.0, 0.0, math.inf)),
    "done": (Progress(100, 100, 9, 4.0), (1.0, 25.0, 0.0)),
    "shard grew meanwhile": (Progress(150, 100, 9, 3.0), (1.0, 50.0, 0.0)),
}


@pytest.mark.parametrize(("progress", "expected"), PROGRESS.values(), ids=PROGRESS)
def test_share_rate_and_time_left(progress: Progress, expected: tuple[float, float, float]) -> None:
    """At the rate so far; never more than the whole, never less than no time."""
    assert (progress.share, progress.rate, progress.seconds_left) == expected


def test_opening_a_run_needs_no_streamlit(tmp_path: Path) -> None:
    """`from board import open_run` works where Streamlit and Plotly cannot be imported."""
    write_run(tmp_path, {"a.jsonl": [token_row()]})
    code = (
        "import sys\n"
        "sys.modules.update(streamlit=None, plotly=None)\n"
        "from board import open_run\n"
        f"run = open_run({str(tmp_path)!r})\n"
        "assert run.to_pandas()['response'].tolist() == ['a b'], run.to_pandas()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr


def test_alternatives_lead_from_the_row_to_the_token(tmp_path: Path) -> None:
    """Each rollout has its own, a row without the field none; they are no token metric, and a malformed field is text."""
    others = [[["a", -0.5], ["c", -1.0]], None]
    rows = [token_row(top_logprobs=others), token_row(), token_row(top_logprobs="odd"), token_row(top_logprobs=others[:1])]
    run = open_run(write_run(tmp_path / "run", {"rank_0.jsonl": rows}))

    found = [run.rollout(int(key)) for key in run.frame.index]

    expected = [[("a", -0.5), ("c", -1.0)], None]
    assert [one.alternatives and list(one.alternatives) for one in found] == [expected, None, None, expected]
    assert [one["top_logprobs"] and list(one["top_logprobs"]) for one in found] == [expected, None, list("odd"), expected]
    assert "top_logprobs" not in run.token_metrics
    assert run.to_pandas()["top_logprobs"].tolist()[:2] == [expected, None]
    assert [problem.line for problem in run.report.problems] == [3, 4]


def test_training_and_evaluations_are_told_apart(tmp_path: Path) -> None:
    """Rows that name no split are of training; each side alone keeps its keys, texts and tokens, and is named as another load."""
    rows = [
        token_row(0, reward=0.0),
        token_row(0, split="evaluation", reward=5.0, prompt="e"),
        token_row(1, split="train", reward=1.0),
    ]
    run = open_run(write_run(tmp_path, {"a.jsonl": rows}))

    assert run.splits == ("train", "evaluation")
    training, evaluated = run.of_split("train"), run.of_split("evaluation")
    assert training.frame["reward"].tolist() == [0.0, 1.0]
    assert evaluated.frame.index.tolist() == [1]
    assert evaluated.rollout(1)["prompt"] == "e"
    assert evaluated.steps.tolist() == [0]
    assert len({run.load_id, training.load_id, evaluated.load_id}) == 3
    assert evaluated.of_split("evaluation") is evaluated


def test_run_of_one_split_is_itself(tmp_path: Path) -> None:
    """Nothing is filtered, and nothing named anew, where there is nothing to tell apart."""
    run = open_run(write_run(tmp_path, {"a.jsonl": [token_row(0)]}))

    assert run.splits == ("train",)
    assert run.of_split("train") is run


STRANGE = {"iter": 3, "q": "2+2?", "a": {"text": "4"}, "score": 1.0}
MAPPING = '[fields]\nstep = "iter"\nprompt = "q"\nresponse = "a.text"\nreward = "score"\n'


def test_unknown_run_opens_by_a_mapping(tmp_path: Path) -> None:
    """Rows nobody knows are refused and a mapping is suggested; saved beside the run, or given, it opens them, also from the cache."""
    folder = write_run(tmp_path / "run", {"dump.jsonl": [STRANGE, {**STRANGE, "iter": 4}]})
    refused = open_run(folder)
    assert (len(refused.frame), refused.report.refused) == (0, 2)
    assert 'response = "a.text"\nreward = "score"' in refused.report.suggested_mapping

    (tmp_path / "given.toml").write_text(MAPPING)
    given = open_run(folder, mapping=tmp_path / "given.toml")
    (folder / "rollouts.toml").write_text(MAPPING)
    for run in (given, open_run(folder), open_run(folder)):
        assert run.steps.tolist() == [3, 4]
        assert run.frame["reward"].tolist() == [1.0, 1.0]
        assert (run.rollout(0)["prompt"], run.rollout(0)["response"]) == ("2+2?", "4")
        assert run.report.formats == {"mapping by hand": 1}
    (folder / "rollouts.toml").write_text(MAPPING.replace('"iter"', "{ constant = 7 }"))
    assert open_run(folder).steps.tolist() == [7]


def test_mapping_that_is_wrong_is_said(tmp_path: Path) -> None:
    """By the file's name, and what may stand there."""
    folder = write_run(tmp_path, {"dump.jsonl": [STRANGE]})
    (folder / "rollouts.toml").write_text("[fields]\nanswer = 3\n")

    with pytest.raises(BoardError, match=r"rollouts\.toml"):
        open_run(folder)


def test_mapping_behind_a_link_is_not_read(tmp_path: Path) -> None:
    """A link in the run folder could lead anywhere: it is no mapping."""
    folder = write_run(tmp_path / "run", {"dump.jsonl": [STRANGE]})
    (tmp_path / "outside.toml").write_text(MAPPING)
    (folder / "rollouts.toml").symlink_to(tmp_path / "outside.toml")

    assert len(open_run(folder).frame) == 0


def test_known_run_suggests_no_mapping(tmp_path: Path) -> None:
    """Neither where rows are read, nor where there is nothing to guess from."""
    assert open_run(write_run(tmp_path / "a", {"a.jsonl": [token_row(0)]})).report.suggested_mapping == ""
    assert open_run(write_run(tmp_path / "b", {"a.jsonl": b"no json\n"})).report.suggested_mapping == ""


def test_every_rollout_is_found_by_its_source() -> None:
    """Also where a record holds several, and in whatever order they are asked for."""
    run = open_run(Path(__file__).parents[1] / "formats" / "golden" / "atropos")
    keys = run.frame.index.to_numpy()[::-1]

    sources = run.sources(keys)

    assert len(set(sources)) == len(keys)
    assert [run.key_of(source) for source in sources] == keys.tolist()
    assert [run.rollout(int(key)).source for key in keys] == sources
    assert run.key_of(f"{sources[0].partition(':')[0]}:1.99") is None
