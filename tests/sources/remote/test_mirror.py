"""Tests of the files of a mirror, from what a store might list: whatever changes, each file is its object's, and nothing lies elsewhere."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.sources.remote.addresses import Address
from board.sources.remote.local_names import local_path
from board.sources.remote.mirror import Mirror, has_stamp
from board.sources.remote.object_store import RemoteObject


def mirror_in(folder: Path) -> Mirror:
    """An empty mirror."""
    made = Mirror(folder, Address("s3", "bucket", ""))
    made.files.mkdir(parents=True, exist_ok=True)
    return made


def files(mirror: Mirror) -> set[str]:
    """What lies in it."""
    return {path.relative_to(mirror.files).as_posix() for path in mirror.files.rglob("*") if path.is_file()}


KEYS = st.lists(st.sampled_from(["a", "b", "..", ".", "", "c d", "x\0"]), min_size=1, max_size=4).map("/".join)
LISTINGS = st.lists(st.dictionaries(KEYS, st.integers(0, 3), max_size=6), min_size=1, max_size=4)


@given(LISTINGS)
def test_any_listings_one_after_another(tmp_path_factory: pytest.TempPathFactory, listings: list[dict[str, int]]) -> None:
    """Objects that come, go, change and become folders: in the end there is a file for each of the last listing, and no other."""
    mirror = mirror_in(tmp_path_factory.mktemp("mirror"))
    for listing in listings:
        found = [RemoteObject(f"p/{key}", size, 10**18, f"v{size}") for key, size in listing.items()]
        mirror.update("p", found)
    expected = {one.key for one in found if not one.key.endswith("/")}
    folders = {key.rsplit("/", up)[0] for key in expected for up in range(1, key.count("/") + 1)}
    paths = {key: local_path(key, same_as_folder=key in folders).as_posix() for key in expected}
    assert files(mirror) == set(paths.values())
    assert all(has_stamp(mirror.files / paths[one.key], one) for one in found if one.key in paths)


def test_what_lies_outside_the_prefix_is_never_taken(tmp_path: Path) -> None:
    """Whatever a store answers."""
    mirror = mirror_in(tmp_path)
    keys = ["exp", "exp2/a", "../exp/a", "other", "exp/", "exp/in"]
    mirror.update("exp", [RemoteObject(key, 1, 0, "v") for key in keys])
    assert files(mirror) == {"exp/in"}


def test_a_listing_of_one_prefix_leaves_the_others(tmp_path: Path) -> None:
    """What an earlier listing of another prefix put there stays."""
    mirror = mirror_in(tmp_path)
    mirror.update("a", [RemoteObject("a/x", 1, 0, "v")])
    mirror.update("b", [])
    assert files(mirror) == {"a/x"}


def test_a_name_too_long_for_a_file_is_left_out(tmp_path: Path) -> None:
    """With the reason; the objects next to it have their files."""
    mirror = mirror_in(tmp_path)
    left_out = mirror.update("a", [RemoteObject(f"a/{name}.jsonl", 1, 0, "v") for name in ("x", "y" * 240)])
    assert left_out == {f"a/{'y' * 240}.jsonl": "its name is too long for a file"}
    assert files(mirror) == {"a/x.jsonl"}


@pytest.mark.slow
def test_a_hundred_thousand_objects(tmp_path: Path) -> None:
    """Are listed within a bound of memory, and again without touching what has not changed."""
    mirror = mirror_in(tmp_path)

    def listed() -> Iterator[RemoteObject]:
        for at in range(100_000):
            yield RemoteObject(f"exp/run_{at % 100}/rank_{at // 100}.jsonl", at, 10**18, f"v{at}")

    tracemalloc.start()
    try:
        mirror.update("exp", listed())
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()
    before = (mirror.files / "exp" / "run_7" / "rank_8.jsonl").stat()
    mirror.update("exp", listed())
    assert (mirror.files / "exp" / "run_7" / "rank_8.jsonl").stat().st_ctime_ns == before.st_ctime_ns
    assert len(files(mirror)) == 100_000
