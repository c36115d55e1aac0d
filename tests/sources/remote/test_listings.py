"""Tests of stores as folders, against a web server: what is fetched, what is not, and what becomes of objects that change."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from range_server import RangeServer, range_server

from board.errors import ArgumentRefused, RunNotFound
from board.sources import presence, run_files
from board.sources.presence import BLOCK
from board.sources.remote import listings, mirror, object_store

BYTES = os.urandom(5 * BLOCK + 1000)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RangeServer]:
    """A server of a folder with one run."""
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(listings, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(listings, "COSTS", 0.0)
    (tmp_path / "served" / "run").mkdir(parents=True)
    (tmp_path / "served" / "run" / "a.jsonl").write_bytes(BYTES)
    with range_server(tmp_path / "served") as server:
        yield server


def read(path: Path) -> bytes:
    """All of a file of a mirror."""
    with run_files.opened(path) as stream:
        return stream.read()


def test_a_file_is_listed_without_its_bytes(web: RangeServer) -> None:
    """The folder shows sizes and times; nothing but lists and heads has travelled."""
    folder = listings.mounted(web.address)
    assert (folder / "run" / "a.jsonl").stat().st_size == len(BYTES)
    assert web.files_sent() == 0
    assert listings.address_of(folder / "run") == f"{web.address}/run"


def test_a_range_is_read_by_itself(web: RangeServer) -> None:
    """What is asked for travels, and little more; none of it is kept on the disk."""
    path = listings.mounted(web.address) / "run" / "a.jsonl"
    with run_files.opened(path) as stream:
        stream.seek(3 * BLOCK)
        assert stream.read(10) == BYTES[3 * BLOCK : 3 * BLOCK + 10]
    assert web.files_sent() <= 2 * BLOCK
    assert read(path) == BYTES
    listings._mounts.clear()
    assert read(path) == BYTES
    assert path.stat().st_blocks == 0


def test_a_cut_is_gone_on_from(web: RangeServer) -> None:
    """A connection that ends in the middle costs nothing but another request."""
    web.cut_after = [BLOCK + 17, 5, 2 * BLOCK]
    path = listings.mounted(web.address) / "run" / "a.jsonl"
    presence.look_ahead([(path, 0, len(BYTES))])
    assert read(path) == BYTES
    assert web.files_sent() == len(BYTES)


def test_a_busy_server_is_asked_again(web: RangeServer) -> None:
    """Three refusals are waited out, also while it is listed."""
    web.busy = 3
    path = listings.mounted(web.address) / "run" / "a.jsonl"
    web.busy = 3
    assert read(path) == BYTES


def test_a_replaced_object_is_fetched_anew(web: RangeServer) -> None:
    """Other bytes under the same name, longer or of the same length, are not mixed with the old; who reads the old one is told."""
    folder = listings.mounted(web.address)
    path = folder / "run" / "a.jsonl"
    with run_files.opened(path) as stream:
        stream.read(10)
        for other in (BYTES[::-1], os.urandom(9 * BLOCK)):
            (web.folder / "run" / "a.jsonl").write_bytes(other)
            with pytest.raises(OSError, match="was changed while it was being read"):
                stream.seek(4 * BLOCK) and stream.read(10)
            listings.refresh(folder, wait=True)
            assert read(path) == other


def test_a_vanished_object_stays_as_far_as_it_was_read(web: RangeServer) -> None:
    """The name of what was read is still there, and a sentence says so; what was not read is gone."""
    (web.folder / "run" / "b.jsonl").write_bytes(b"never read")
    folder = listings.mounted(web.address)
    read(folder / "run" / "a.jsonl")
    for name in ("a.jsonl", "b.jsonl"):
        (web.folder / "run" / name).unlink()
    listings.refresh(folder, wait=True)
    assert [path.name for path in (folder / "run").iterdir()] == ["a.jsonl"]
    listings._mounts[folder.parent]._held.clear()
    with pytest.raises(OSError, match="it is not there"):
        read(folder / "run" / "a.jsonl")
    assert listings.troubles(folder)[0].startswith(f"Gone from {web.address}: 1 of its files, such as a.jsonl.")


def test_a_store_that_refuses_says_so_and_keeps_what_was_listed(web: RangeServer) -> None:
    """Expired credentials are a sentence; the folder is as it was, in the next process too."""
    folder = listings.mounted(web.address)
    read(folder / "run" / "a.jsonl")
    web.status = 403
    listings.refresh(folder, wait=True)
    assert "refuses it (403)" in listings.troubles(folder)[0]
    listings._mounts.clear()
    assert listings.mounted(web.address) == folder
    assert (folder / "run" / "a.jsonl").stat().st_size == len(BYTES)


def test_troubles_are_of_what_the_folder_stands_for(web: RangeServer) -> None:
    """A listing that failed is told of its own folder, of those in it and of those above it, and of no folder beside it."""
    (web.folder / "other" / "deep").mkdir(parents=True)
    (web.folder / "other" / "deep" / "b.jsonl").write_bytes(b"{}")
    folder, other = (listings.mounted(f"{web.address}/{name}") for name in ("run", "other"))
    web.status = 403
    listings.refresh(other, wait=True)
    web.status = 0
    assert ["refuses it (403)" in one for one in listings.troubles(other)] == [True]
    assert listings.troubles(other / "deep") == listings.troubles(folder.parent) == listings.troubles(other)
    assert listings.troubles(folder) == []


@pytest.mark.parametrize("code", [401, 403, 404, 500, 418])
def test_nothing_to_read_is_a_sentence(web: RangeServer, code: int) -> None:
    """An address that gives nothing names the place, not a stack of errors."""
    web.status = code
    with pytest.raises(RunNotFound, match=f"{web.address}.*{code}"):
        listings.mounted(web.address)


def test_an_empty_prefix_is_a_sentence(web: RangeServer) -> None:
    """A folder without files is told from one that cannot be asked."""
    (web.folder / "empty").mkdir()
    with pytest.raises(RunNotFound, match="Nothing lies under"):
        listings.mounted(f"{web.address}/empty")


def test_a_library_that_is_missing_is_named_each_time() -> None:
    """Also when the listing is asked for again at once: a folder that nobody could list is not said to be empty."""
    code = """
import sys
sys.modules["s3fs"] = None
from board import open_run
from board.errors import BoardError
for _ in range(2):
    try:
        open_run("s3://bucket/run")
    except BoardError as error:
        print("needs s3fs" in str(error))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == ["True", "True"]


def test_redirects_elsewhere_are_not_followed(web: RangeServer, tmp_path: Path) -> None:
    """Not to another host, another port or out of the folder: such a file is not there, and such a list is refused."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "s.jsonl").write_bytes(b"secret")
    with range_server(tmp_path / "secret") as other:
        (web.folder / "run" / "s.jsonl").write_bytes(b"x")
        for there in (f"{other.address}/s.jsonl", "http://127.0.0.1:1/s.jsonl", "/elsewhere"):
            leading = {"/run/s.jsonl": there}
            web.redirect = leading.get
            assert not (listings.mounted(f"{web.address}/run") / "s.jsonl").exists()
        web.redirect = lambda path: other.address + "/"
        with pytest.raises(RunNotFound, match="redirects elsewhere"):
            listings.mounted(f"{web.address}/nowhere")
        assert other.asked == []


def test_a_server_without_ranges(web: RangeServer) -> None:
    """Serves small files; a larger one is refused with the reason."""
    web.ranges = False
    (web.folder / "run" / "small.jsonl").write_bytes(b"{}\n")
    folder = listings.mounted(web.address) / "run"
    assert read(folder / "small.jsonl") == b"{}\n"
    (web.folder / "run" / "large.jsonl").write_bytes(bytes(5 << 20))
    listings.refresh(folder, wait=True)
    with pytest.raises(OSError, match="does not serve ranges"):
        read(folder / "large.jsonl")


def test_a_server_without_etags(web: RangeServer) -> None:
    """Size and time tell versions apart where there is nothing better."""
    web.etags = False
    folder = listings.mounted(web.address)
    assert read(folder / "run" / "a.jsonl") == BYTES
    (web.folder / "run" / "a.jsonl").write_bytes(b"other")
    listings.refresh(folder, wait=True)
    assert read(folder / "run" / "a.jsonl") == b"other"


def test_too_many_objects(web: RangeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prefix with more than can be listed is refused in a sentence."""
    monkeypatch.setattr(mirror, "MOST_OBJECTS", 0)
    with pytest.raises(RunNotFound, match="name the prefix"):
        listings.mounted(web.address)


def test_a_prefix_too_long_for_a_folder(web: RangeServer) -> None:
    """Is refused in a sentence, whether it is listed or not."""
    for stands_for in (listings.mounted, listings.standing_for):
        with pytest.raises(ArgumentRefused, match="a part of its path is too long"):
            stands_for(f"{web.address}/{'x' * 300}")


def test_paths_of_this_machine_are_none_of_ours(tmp_path: Path) -> None:
    """Also those beside the mirrors in the cache."""
    cache = Path(os.environ["RL_BOARD_CACHE"]) / presence.FOLDER
    for path in (tmp_path, cache, cache / "x" / "y" / "files", tmp_path / presence.FOLDER / "s3" / "x" / "files"):
        assert listings.mirror_of(path) is None
        assert listings.address_of(path) == ""
        assert listings.troubles(path) == []
        listings.refresh(path)
