"""Tests of S3 against a real server on loopback: listing, ranges of one version, and what its refusals are called."""

import pytest
from s3_server import Bucket
from stores_asked import assert_writable, bytes_of, look

from board.sources.remote import addresses, fsspec_store, object_store
from board.sources.remote.object_store import Denied, ObjectStore, Passing, Replaced, Vanished


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits little before it tries again."""
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)


def store(bucket: Bucket) -> ObjectStore:
    """As the board speaks with it."""
    return object_store.store_of(addresses.parsed(bucket.address))


def test_listing(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies below the prefix, with size and version; not what merely begins so; over several pages."""
    monkeypatch.setattr(fsspec_store, "PAGE", 10)
    for at in range(25):
        bucket.put(f"run/{at:04}.jsonl", b"x" * (at % 7))
    bucket.put("runner/x", b"other")
    found = [*store(bucket).objects("run")]
    assert [one.key for one in found] == [f"run/{at:04}.jsonl" for at in range(25)]
    assert found[8].size == 1
    assert found[0].modified_ns > 0
    assert found[8] == look(store(bucket), "run/0008.jsonl")


def test_ranges_of_one_version(bucket: Bucket) -> None:
    """A range of what was listed; of what was put in its place, nothing."""
    bucket.put("a", b"0123456789")
    opened = store(bucket)
    found = look(opened, "a")
    assert bytes_of(opened, found, 2, 5) == b"234"
    bucket.put("a", b"9876543210")
    with pytest.raises(Replaced):
        bytes_of(opened, found, 2, 5)
    bucket.remove("a")
    with pytest.raises((Vanished, Replaced)):
        bytes_of(opened, found, 2, 5)
    with pytest.raises(Vanished):
        look(opened, "a")


def test_writing(bucket: Bucket) -> None:
    """An index may lie there: its files are written, in the place of what stood there, too, listed, read and removed."""
    assert_writable(f"{bucket.address}/index")


def test_no_bucket(bucket: Bucket) -> None:
    """A bucket that is not there is a sentence."""
    with pytest.raises(Vanished, match="the store has nothing there"):
        [*object_store.store_of(addresses.parsed("s3://never-made-bucket")).objects("x")]


def test_no_credentials(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any the sentence says how to give them."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(Denied, match="there are none for it that can be used"):
        [*store(bucket).objects("x")]


def test_nobody_listens(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is gone is tried again, and then said to be out of reach."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(object_store, "MOST_TRIES", 2)
    with pytest.raises(Passing, match="cannot be reached"):
        [*store(bucket).objects("x")]
