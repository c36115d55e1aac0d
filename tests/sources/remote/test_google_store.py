"""Tests of Google's storage, asked by gcsfs, against the emulator on loopback."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from google_server import GoogleBucket, google_bucket
from rows import lines, token_row
from stores_asked import assert_writable, bytes_of, look

from board import open_run
from board.runs.library import list_runs
from board.sources.remote import addresses, listings, object_store
from board.sources.remote.object_store import Denied, ObjectStore, RemoteTrouble, Replaced, Vanished


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[GoogleBucket]:
    """An empty bucket, and the environment that Google's tools find it by."""
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(listings, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(listings, "COSTS", 0.0)
    with google_bucket() as made:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", made.endpoint)
        monkeypatch.setenv("NO_GCE_CHECK", "true")  # else Google's machines are looked for on the network
        monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
        yield made


def store(bucket: GoogleBucket) -> ObjectStore:
    """As the board speaks with it."""
    return object_store.store_of(addresses.parsed(bucket.address))


def test_listing(bucket: GoogleBucket) -> None:
    """What lies below the prefix at any depth, not what merely begins so, and nothing where there is nothing; a look says the same."""
    for at in range(12):
        bucket.put(f"run/deep/{at}.jsonl", b"x" * (at + 1))
    bucket.put("runner/x", b"other")
    found = [*store(bucket).objects("run")]
    assert {one.key: one.size for one in found} == {f"run/deep/{at}.jsonl": at + 1 for at in range(12)}
    assert all(one == look(store(bucket), one.key) for one in found[:3])
    assert all(one.modified_ns > 0 for one in found)
    assert [*store(bucket).objects("none")] == []


def test_ranges_of_one_version(bucket: GoogleBucket) -> None:
    """A range by a range request; of what was put in its place, though of the same bytes' number or the same bytes, nothing."""
    data = bytes(range(256)) * 100
    bucket.put("run/a", data)
    opened = store(bucket)
    found = look(opened, "run/a")
    assert bytes_of(opened, found, 1_000, 1_300) == data[1_000:1_300]
    assert [asked for _, asked in bucket.asked if asked] == ["bytes=1000-1299"]
    for other in (data[::-1], data):
        found = look(opened, "run/a")
        bucket.before_bytes = {"run/a": other}
        with pytest.raises(Replaced):
            bytes_of(opened, found, 1_000, 1_300)
    bucket.remove("run/a")
    with pytest.raises(Vanished):
        bytes_of(opened, found, 0, 1)
    with pytest.raises(Vanished):
        look(opened, "run/a")


@pytest.mark.parametrize(("status", "kind"), [(401, Denied), (403, Denied), (400, RemoteTrouble)])
def test_refusals(bucket: GoogleBucket, status: int, kind: type[OSError], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is known for what it is, without the server's words."""
    monkeypatch.setattr(object_store, "MOST_TRIES", 2)
    bucket.put("run/a", b"0123456789")
    opened, found = store(bucket), look(store(bucket), "run/a")
    bucket.status = status
    for act in (lambda: [*opened.objects("run")], lambda: look(opened, "run/a"), lambda: bytes_of(opened, found, 0, 1)):
        with pytest.raises(kind) as refused:
            act()
        assert "SECRET" not in str(refused.value)


def test_credentials_that_cannot_be_used(bucket: GoogleBucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of credentials that is none is a sentence that quotes nothing of it."""
    file = tmp_path / "credentials.json"
    file.write_text(json.dumps({"type": "SECRET", "private_key": "SECRET"}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setattr(object_store, "MOST_TRIES", 2)
    bucket.put("run/a", b"x")
    bucket.status = 401
    with pytest.raises(OSError, match="credentials") as refused:
        [*store(bucket).objects("run")]
    assert "SECRET" not in str(refused.value)


def test_a_run(bucket: GoogleBucket) -> None:
    """Is listed, opened, followed as it grows, and stays as it was read when it is refused, replaced or gone."""
    rows = [token_row(step, reward=step * 0.5) for step in range(30)]
    bucket.put("exp/one/rank_0.jsonl", lines(rows[:20]))
    bucket.put("exp/one/config.yaml", b"lr: 0.5\n")
    root = listings.mounted(f"{bucket.address}/exp")
    assert [(run.name, run.shards) for run in list_runs(root)] == [("one", 1)]
    assert list(open_run(root / "one", within=root).frame["reward"]) == [step * 0.5 for step in range(20)]
    bucket.put("exp/one/rank_0.jsonl", lines(rows))
    listings.refresh(root, wait=True)
    assert len(open_run(root / "one", within=root).frame) == 30
    bucket.status = 403
    listings.refresh(root, wait=True)
    assert any("refuses the credentials" in said for said in listings.troubles(root))
    assert len(open_run(root / "one", within=root).frame) == 30
    bucket.status = 0
    bucket.put("exp/one/rank_0.jsonl", lines([token_row(7, reward=1.5)]))
    listings.refresh(root, wait=True)
    assert list(open_run(root / "one", within=root).frame["step"]) == [7]
    bucket.remove("exp/one/rank_0.jsonl")
    listings.refresh(root, wait=True)
    assert any("Gone from gs://" in said for said in listings.troubles(root))


def test_writing(bucket: GoogleBucket) -> None:
    """An index may lie there: its files are written, in the place of what stood there, too, listed, read and removed."""
    assert_writable(f"{bucket.address}/index")
