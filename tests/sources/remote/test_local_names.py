"""Tests of names in the mirror: no object's file leaves it, and no two objects share one."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.sources.remote.local_names import key_of, local_path

KEYS = st.text(st.sampled_from("ab./%2Fe\0\n\\~ é"), min_size=1, max_size=24) | st.text(min_size=1, max_size=12)


@pytest.mark.parametrize("key", ["a/b.jsonl", "run 1/rank_0.jsonl.gz", "100%/ä.jsonl", "a%zz"])
def test_plain_names_stay(key: str) -> None:
    """What a file may be called it is called."""
    assert local_path(key).as_posix() == key


@pytest.mark.parametrize(
    "key", ["../../etc/passwd", "..", "a/../../b", "/etc/passwd", "a//b", "a/./b", "a\\..\\b", "a\0b", "C:x", "."]
)
def test_no_way_out(key: str) -> None:
    """Whatever an object is called, the path of its file goes down only."""
    path = local_path(key)
    assert not path.is_absolute()
    assert not {"..", ".", ""} & set(path.parts)
    assert os.path.normpath(f"/mirror/{path}").startswith("/mirror/")


@given(KEYS)
def test_read_back(key: str) -> None:
    """The path tells the key."""
    path = local_path(key)
    assert key_of(path) == key
    assert key_of(local_path(key, same_as_folder=True)) == key


@given(KEYS, KEYS)
def test_different_keys_have_different_files(one: str, other: str) -> None:
    """Also where one has the name of the other's folder."""
    paths = {local_path(one), local_path(other), local_path(one, same_as_folder=True), local_path(other, same_as_folder=True)}
    assert len(paths) == (2 if one == other else 4)
