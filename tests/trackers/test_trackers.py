"""Tests of the table of trackers, of what is found near a run, and of metrics.jsonl."""

import json
import math
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tracked import without_library

from board.errors import BoardError
from board.sources.nearby_files import MAX_DEPTH, folder_name, walk
from board.trackers import READ, jsonl, tensorboard, tracker
from board.trackers.contract import MAX_NAMES, Points
from board.trackers.nearby import LogSource, near

REPOSITORY = Path(__file__).parents[2]


def log(folder: Path) -> Path:
    """A run of TensorBoard directly in a folder."""
    writer = tensorboard.open_writer(folder.name, log_dir=folder.parent, resume="allow")
    writer.scalars(1, {"x": 1.0})
    writer.close()
    return folder


def metrics(folder: Path, text: str = '{"step": 1, "x": 1.0}\n') -> Path:
    """A metrics.jsonl in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "metrics.jsonl"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", READ)
def test_every_tracker_keeps_the_contract(name: str, tmp_path: Path) -> None:
    """In an empty folder, or none, each tracker whose files are read finds nothing, and names it when asked to read it."""
    module = tracker(name)

    for place in (tmp_path, tmp_path / "none", tmp_path / "none.wandb", tmp_path / "none.swanlab"):
        assert module.find(place) == []
        with pytest.raises(BoardError, match=str(place)):
            module.read(place)


STATEMENTS = {
    "trackio": """CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name TEXT, step INTEGER, metrics TEXT);
        INSERT INTO metrics VALUES (1, 'r', 1, '{"x": 1}');""",
    "mlflow": (Path(__file__).parents[1] / "trackers" / "written" / "mlflow_3_17.sql").read_text(),
}
MARKS = {"wandb": b":W&B\xe1\xbe\x00", "swanlab": b":SWL\xd6\xe1\x02"}
"""How a log begins."""


@pytest.mark.parametrize("name", ["tensorboard", *MARKS, *STATEMENTS])
def test_without_its_library_it_is_said_what_to_install(name: str, tmp_path: Path) -> None:
    """What lies there is found, databases are read without, and writing, and reading all else, say how to get the library."""
    if name == "tensorboard":
        log(tmp_path / "run")
    elif name in MARKS:
        (tmp_path / f"run-x.{name}").write_bytes(MARKS[name])
    else:
        with closing(sqlite3.connect(tmp_path / "x.db")) as made:
            made.executescript(STATEMENTS[name])

    without_library(name, tmp_path, reads_without=name in STATEMENTS)


def test_an_unknown_tracker_names_the_known() -> None:
    """A name that is none says which there are; no name loads another module."""
    for name in ("comet", "contract", "../stdout", ""):
        with pytest.raises(
            BoardError, match="there are tensorboard, wandb, swanlab, trackio, mlflow, transformers, jsonl, stdout"
        ):
            tracker(name)


def test_no_library_is_loaded_before_it_is_asked_for() -> None:
    """Importing the trackers, and looking for what they left, loads none of their libraries and no viewer."""
    code = """
import sys
from pathlib import Path
import board.trackers
from board.trackers.nearby import near
near(Path.cwd())
for name in board.trackers.NAMES:
    board.trackers.tracker(name)
loaded = {"tensorboard", "wandb", "swanlab", "trackio", "mlflow", "pandas", "pyarrow", "streamlit", "google.protobuf"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True, timeout=60)


def test_what_lies_in_and_beside_a_run_is_found(tmp_path: Path) -> None:
    """The run's own folder first, then what lies beside it: log folders, and folders of the run's name in any other."""
    run = tmp_path / "run 1"
    inside = metrics(run)
    log(tmp_path / "tensorboard_log" / "run 1")
    log(tmp_path / "tensorboard_log" / "run 1-20261121-180000")
    log(tmp_path / "tensorboard_log" / "run 2")
    named = metrics(tmp_path / "elsewhere" / "run 1")
    metrics(tmp_path / "elsewhere" / "run 2")
    general = metrics(tmp_path / "logs")
    metrics(tmp_path / "run 2")

    assert near(run) == [
        LogSource("jsonl", inside),
        LogSource("jsonl", named),
        LogSource("jsonl", general),
        LogSource("tensorboard", tmp_path / "tensorboard_log" / "run 1"),
        LogSource("tensorboard", tmp_path / "tensorboard_log" / "run 1-20261121-180000"),
    ]


def test_nothing_outside_is_found(tmp_path: Path) -> None:
    """No link leads out, nothing above the given folder is listed, and a run outside of it has nothing near."""
    outside = tmp_path / "outside"
    metrics(outside / "run")
    log(outside / "tb")
    root = tmp_path / "root"
    run = root / "run"
    run.mkdir(parents=True)
    for name, target in {
        "link": outside,
        "metrics.jsonl": outside / "run/metrics.jsonl",
        "tb": outside / "tb",
        "up": root,
    }.items():
        (run / name).symlink_to(target)
    (root / "logs").symlink_to(outside)
    metrics(tmp_path / "logs")

    assert near(run, within=root) == []
    assert near(root, within=root) == []
    assert near(outside, within=root) == []
    (root / "door").symlink_to(outside)
    assert near(root / "door", within=root) == []


def test_a_walk_has_an_end(tmp_path: Path) -> None:
    """Folders in folders are entered so deep and no deeper, and what cannot be listed is passed over."""
    deep = tmp_path
    for depth in range(MAX_DEPTH + 3):
        (deep / "file").write_text(str(depth))
        deep = deep / "in"
        deep.mkdir()
    os.mkfifo(tmp_path / "pipe")

    assert [int(path.read_text()) for path in walk(tmp_path)] == list(range(MAX_DEPTH + 1))
    assert list(walk(tmp_path, lambda name: name == "in")) == []
    assert list(walk(tmp_path / "none")) == []


@given(st.text())
def test_any_name_is_one_folder(name: str) -> None:
    """Whatever a run is called, its folder's name is one that file systems take."""
    folder = folder_name(name)

    assert folder == Path(folder).name
    assert folder not in ("", ".", "..")
    assert len(folder.encode()) <= 120


LINES = {
    "three keys of step": (
        '{"step": 1, "x": 1}\n{"_step": 2, "x": 2}\n{"global_step": 3.0, "x": 3}\n',
        {"x": {1: 1.0, 2: 2.0, 3: 3.0}},
    ),
    "nested": ('{"step": 1, "a": {"b": {"c": 1}, "d": 2}}\n', {"a/b/c": {1: 1.0}, "a/d": {1: 2.0}}),
    "infinities": ('{"step": 1, "x": Infinity, "y": "-Infinity"}\n', {"x": {1: math.inf}, "y": {1: -math.inf}}),
    "no numbers": ('{"step": 1, "t": "1", "n": null, "l": [1], "h": {"_type": "histogram", "bins": 3}}\n', {}),
    "truths": ('{"step": 1, "b": true}\n{"step": 2, "b": false}\n', {"b": {1: 1.0, 2: 0.0}}),
    "empty lines": ('\n{"step": 1, "x": 1}\n   \n', {"x": {1: 1.0}}),
    "a step again": ('{"step": 1, "x": 1}\n{"step": 1, "x": 2}\n', {"x": {1: 2.0}}),
    "an end still to come": ('{"step": 1, "x": 1}\n{"step": 2, "x": 2', {"x": {1: 1.0}}),
    "an end without a line's": ('{"step": 1, "x": 1}\n{"step": 2, "x": 2}', {"x": {1: 1.0, 2: 2.0}}),
    "nothing": ("", {}),
}


def ours(path: Path) -> dict[str, dict[int, float]]:
    """The scalars that we find."""
    return {name: dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True)) for name, curve in jsonl.read(path).items()}


@pytest.mark.parametrize(("text", "expected"), LINES.values(), ids=LINES)
def test_json_lines_are_read(tmp_path: Path, text: str, expected: dict[str, dict[int, float]]) -> None:
    """Each line's numbers belong to its step, by the name they have, nested ones joined."""
    path = metrics(tmp_path, text)

    assert ours(path) == ours(tmp_path) == expected


def test_texts_and_what_is_neither_are_beside_the_numbers(tmp_path: Path) -> None:
    """A text is there where it changed, a list or a picture by its name; a name with a number somewhere is a curve."""
    rows: list[dict[str, Any]] = [
        {"device": "cuda:0", "say": "a", "h": {"_type": "histogram"}, "l": [1], "mixed": 1.0, "global_step/max_steps": "1/9"},
        {"device": "cuda:0", "say": "b", "mixed": [1]},
        {"say": "b"},
        {"say": "a"},
    ]
    found = jsonl.read(metrics(tmp_path, "".join(json.dumps({"step": step, **row}) + "\n" for step, row in enumerate(rows))))

    assert found.texts == {"device": {0: "cuda:0"}, "say": {0: "a", 1: "b", 3: "a"}}
    assert found.others == ("h", "l")
    assert list(found) == ["mixed"]


def test_not_a_number_is_a_number(tmp_path: Path) -> None:
    """NaN, written plain or as a string, is a point of the curve."""
    found = jsonl.read(metrics(tmp_path, '{"step": 1, "x": NaN}\n{"step": 2, "x": "NaN"}\n'))

    assert found["x"].steps.tolist() == [1, 2]
    assert np.isnan(found["x"].values).all()


BAD_LINES = {
    "no JSON": "{x}",
    "no object": "[1]",
    "no step": '{"x": 1}',
    "half a step": '{"step": 1.5}',
    "a step that is a text": '{"step": "1"}',
    "a step that is true": '{"step": true}',
    "a step that is not a number": '{"step": NaN}',
    "a step without end": '{"step": Infinity}',
    "a step beyond 64 bits": '{"step": 9223372036854775808, "x": 1}',
    "a step beyond floats": '{"step": 1' + "0" * 400 + ', "x": 1}',
    "an integer beyond floats": '{"step": 1, "x": 1' + "0" * 400 + "}",
    "a nest without end": '{"step": 1, "x": ' + "[" * 100_000,
    "no UTF-8": '{"step": 1, "\udcff": 1}',
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_bad_lines_are_named(tmp_path: Path, line: str) -> None:
    """A whole line that says nothing is an error with file and line, wherever it is."""
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(('{"step": 1, "x": 1}\n\n' + line + "\n").encode(errors="surrogateescape"))

    with pytest.raises(BoardError, match=r"metrics\.jsonl"):
        jsonl.read(path)


def test_an_endless_line_is_not_read_whole(tmp_path: Path) -> None:
    """A line over the bound is refused, with or without its end."""
    path = tmp_path / "metrics.jsonl"
    with path.open("wb") as file:
        file.truncate(jsonl.MAX_LINE + 100)

    with pytest.raises(BoardError, match="longer than 16,777,216 bytes"):
        jsonl.read(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(rows=st.lists(st.tuples(st.integers(0, 99), st.dictionaries(st.text(min_size=1), st.floats(), max_size=4)), max_size=12))
def test_what_json_writes_is_read_back(tmp_path: Path, rows: list[tuple[int, dict[str, float]]]) -> None:
    """Whatever numbers Python's json writes, the last of each step and name comes back the same."""
    rows = [(step, {name: value for name, value in values.items() if name not in jsonl.STEP_KEYS}) for step, values in rows]
    text = "".join(json.dumps({"step": step, **values}) + "\n" for step, values in rows)
    expected = {(name, step): value for step, values in rows for name, value in values.items()}
    found = {(name, step): value for name, curve in ours(metrics(tmp_path, text)).items() for step, value in curve.items()}

    assert found.keys() == expected.keys()
    assert all(found[key] == value or (math.isnan(value) and math.isnan(found[key])) for key, value in expected.items())


def test_ten_thousand_lines(tmp_path: Path) -> None:
    """Long files are read whole."""
    text = "".join(
        json.dumps({"step": step, **{f"m/{number}": step / 7 for number in range(30)}}) + "\n" for step in range(10_000)
    )
    found = jsonl.read(metrics(tmp_path, text))

    assert len(found) == 30
    assert all(np.array_equal(curve.values, np.arange(10_000) / 7) for curve in found.values())


def test_names_without_end_are_refused() -> None:
    """A source with a name for each value is data, and is refused before it fills memory."""
    points = Points("source")
    for number in range(MAX_NAMES):
        points.add(str(number), 1, 1.0)
    points.add("0", 2, 1.0)

    with pytest.raises(BoardError, match="source: more than 20,000 names"):
        points.add("one more", 1, 1.0)
