"""Settings by dotted names, and what differs between two runs."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.analysis.compare.run_settings import (
    UNSET,
    compared,
    differing,
    differing_among,
    estimator_notes,
    flat,
    notes,
    together,
)
from board.sources.settings_files import SettingsFile

LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(), st.text("ab", max_size=2))
TREES = st.dictionaries(
    st.text("xyz", min_size=1, max_size=2),
    st.recursive(
        LEAVES,
        lambda inside: st.one_of(st.lists(inside, max_size=2), st.dictionaries(st.text("xyz", min_size=1), inside, max_size=3)),
    ),
    max_size=4,
)

FLAT: dict[str, tuple[Any, dict[str, Any]]] = {
    "nested": ({"a": {"b": {"c": 1}}, "d": None}, {"a.b.c": 1, "d": None}),
    "a list of values": ({"a": [1, "x"]}, {"a": [1, "x"]}),
    "a list of dictionaries": ({"a": [{"b": 1}, 2]}, {"a[0].b": 1, "a[1]": 2}),
    "empty ones": ({"a": {}, "b": []}, {"a": {}, "b": []}),
    "nothing": (None, {}),
}


@pytest.mark.parametrize("name", FLAT)
def test_flat(name: str) -> None:
    """One name for each value."""
    values, expected = FLAT[name]

    assert flat(values) == expected


@given(TREES, TREES)
def test_only_what_differs(a: dict[str, Any], b: dict[str, Any]) -> None:
    """Nothing of a run against itself; the same names from either side; what one lacks stands on the other's side alone."""
    first, second = flat(a), flat(b)

    found, back = differing(first, second), differing(second, first)

    assert differing(first, dict(first)) == {}
    assert list(found) == list(back) == sorted(found)
    assert {*found} >= {*first} ^ {*second}
    assert all(
        {"a": name in first, "b": name in second} == {side: side in sides for side in "ab"} for name, sides in found.items()
    )


def test_what_is_the_same() -> None:
    """Numbers by their size, truth values by themselves, NaN as NaN; lists by what they hold."""
    a = {"int": 1, "truth": True, "nan": math.nan, "list": [1, math.nan], "text": "1"}
    b = {"int": 1.0, "truth": 1, "nan": math.nan, "list": [1.0, math.nan], "text": 1}

    assert differing(a, b) == {"text": {"a": "1", "b": 1}, "truth": {"a": True, "b": 1}}


@settings(max_examples=30)
@given(st.lists(TREES, min_size=1, max_size=4))
def test_what_differs_among_several(trees: list[dict[str, Any]]) -> None:
    """Just what differs between some two of them, with the value of each."""
    runs = [flat(tree) for tree in trees]

    found = differing_among(runs)

    assert [*found] == sorted({name for a in runs for b in runs for name in differing(a, b)})
    for name, values in found.items():
        assert [value is UNSET for value in values] == [name not in run for run in runs]
        assert all(value is run[name] for value, run in zip(values, runs, strict=True) if name in run)


def test_the_first_file_is_believed() -> None:
    """What a later file says of the same setting is left; what could not be read says nothing."""
    files = (
        SettingsFile("a", refused="is a pickle"),
        SettingsFile("b", {"x": {"y": 1}}),
        SettingsFile("c", {"x": {"y": 2, "z": 3}}),
    )

    assert together(files) == {"x.y": 1, "x.z": 3}


def test_notes() -> None:
    """What was not read, where there is nothing, and runs whose KL is estimated in other ways."""
    read, unread = (
        SettingsFile("config.yaml", {"algorithm": {"kl_penalty": "kl"}}),
        SettingsFile("training_args.bin", refused="is a pickle"),
    )
    other = {"algorithm.kl_penalty": "low_var_kl"}

    assert notes((read,), (read,), {}) == ()
    assert notes((read,), (unread,), {}) == (
        "B: training_args.bin is a pickle.",
        "No settings were found beside B: none are compared.",
    )
    assert notes((), (), {}) == ("No settings were found beside A and B: none are compared.",)
    assert compared((read,), (unread,)) == {}
    (said,) = notes((read,), (read,), differing(together([read]), other))
    assert said.startswith("KL is estimated by kl in A and low_var_kl in B (algorithm.kl_penalty)")


def test_kl_of_several_runs() -> None:
    """Runs that estimate it in two ways are told, one that does not say so is not."""
    differing = {"a.kl_penalty": ("kl", UNSET, "low_var_kl"), "b.kl_type": (UNSET, "k1", "k1"), "lr": (1, 2, 3)}

    (said,) = estimator_notes(differing)

    assert said.startswith("KL is estimated by kl, low_var_kl (a.kl_penalty)")
