"""Every reply about eight runs is what `tests/golden/replies/` holds; `tests/helpers/golden_replies.py` writes it anew."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from generated_runs import RUNS, digest, write_generated
from golden_replies import GOLDEN, INPUTS, PARTNERS, differences, place_runs, pretty, replies

SHOWN = 10
MEANT = (
    "If that is meant: PYTHONPATH=.:tests/helpers python -m golden_replies writes tests/golden/replies/ anew, "
    "and the commit that changes it says in its message why the reply changed."
)


@pytest.mark.parametrize("name", PARTNERS)
def test_replies_stay_what_they_are(tmp_path: Path, name: str) -> None:
    """No reply about this run changes: numbers to 1e-9, keys, order; none is new and none is gone."""
    place_runs(tmp_path, name)

    now = dict(replies(tmp_path, name))

    golden = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (GOLDEN / name).glob("*.json")}
    assert sorted(now) == sorted(golden), MEANT
    found = [line for reply in now for line in islice(differences(golden[reply], now[reply], reply), SHOWN)]
    assert not found, "\n".join([f"Replies about {name} changed:", *found[:SHOWN], MEANT])


@pytest.mark.parametrize("name", RUNS)
def test_generated_runs_are_the_same_bytes(tmp_path: Path, name: str) -> None:
    """A generated run is what it was, so that a reply that changed is the board's doing."""
    golden = json.loads(INPUTS.read_text(encoding="utf-8"))

    assert digest(write_generated(tmp_path, name)) == golden[name], f"The generator of {name} changed, not the board."


@pytest.mark.parametrize(
    ("golden", "now", "expected"),
    [
        pytest.param({"a": [1.0, 2.0]}, {"a": [1.0, 2.0000001]}, ["r.a[1]: 2.0 became 2.0000001"], id="number"),
        pytest.param({"a": 0.5}, {"a": 0.5 + 1e-12}, [], id="rounding"),
        pytest.param({"a": 5}, {"a": 6}, ["r.a: 5 became 6"], id="whole-number"),
        pytest.param({"a": 1}, {"a": True}, ["r.a: 1 became True"], id="type"),
        pytest.param({"a": 1.0}, {"a": None}, ["r.a: 1.0 became None"], id="missing-number"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, ["r: keys in the order ['a', 'b'] became ['b', 'a']"], id="key-order"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, ["r.b: 2 is gone"], id="key-gone"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, ["r.b: new, 2"], id="key-new"),
        pytest.param([1, 2], [2, 1], ["r[0]: 1 became 2", "r[1]: 2 became 1"], id="list-order"),
        pytest.param([1, 2], [1], ["r: a list of 2 became one of 1"], id="list-shorter"),
        pytest.param({"a": "x"}, {"a": "y"}, ["r.a: 'x' became 'y'"], id="text"),
    ],
)
def test_the_comparison_names_what_differs(golden: Any, now: Any, expected: list[str]) -> None:
    """Each difference is named by its path, with both values; what arithmetic rounds differently is none."""
    assert list(differences(golden, now, "r")) == expected


def test_pretty_json_is_the_same_document() -> None:
    """What is committed reads back as what was answered."""
    answer = {"long": [0.1 * one for one in range(100)], "rows": [{"text": "é" * 90, "n": None}] * 3, "empty": [], "true": True}

    assert json.loads(pretty(answer)) == answer
