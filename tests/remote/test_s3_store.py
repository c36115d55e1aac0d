"""Tests of S3 against a real server on loopback: listing, ranges of one version, and what its refusals are called."""

from pathlib import Path

import pytest
from s3_server import Bucket

from board.remote import addresses, retrying, s3_store
from board.remote.object_store import Denied, Passing, RemoteTrouble, Replaced, Vanished
from board.remote.s3_store import S3Store


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits little before it tries again."""
    monkeypatch.setattr(retrying, "FIRST_SECONDS", 0.001)


def store(bucket: Bucket) -> S3Store:
    """As the board speaks with it."""
    return S3Store(addresses.parsed(bucket.address))


def test_listing(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies below the prefix, with size and version; not what merely begins so; over several pages."""
    monkeypatch.setattr(s3_store, "PAGE", 10)
    for at in range(25):
        bucket.put(f"run/{at:04}.jsonl", b"x" * (at % 7))
    bucket.put("runner/x", b"other")
    found = [*store(bucket).objects("run")]
    assert [one.key for one in found] == [f"run/{at:04}.jsonl" for at in range(25)]
    assert found[8].size == 1
    assert found[0].modified_ns > 0
    assert found[8] == store(bucket).look("run/0008.jsonl")


def test_ranges_of_one_version(bucket: Bucket) -> None:
    """A range of what was listed; of what was put in its place, nothing."""
    bucket.put("a", b"0123456789")
    opened = store(bucket)
    found = opened.look("a")
    assert b"".join(opened.read(found, 2, 5)) == b"234"
    bucket.put("a", b"9876543210")
    with pytest.raises(Replaced):
        [*opened.read(found, 2, 5)]
    bucket.remove("a")
    with pytest.raises((Vanished, Replaced)):
        [*opened.read(found, 2, 5)]
    with pytest.raises(Vanished):
        opened.look("a")


def test_writing(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object takes the place of what stood there; of two who make one the second is refused; large ones go in parts, and are whole."""
    opened = store(bucket)
    for data in (b"", b"0123", bytes(range(256)) * 50_000):
        (tmp_path / "file").write_bytes(data)
        monkeypatch.setattr(s3_store, "_AT_ONCE", 1_000_000)
        opened.put("index/a", tmp_path / "file")
        assert bucket.data("index/a") == data
    opened.create("index/lock", b"mine")
    with pytest.raises(Replaced):
        opened.create("index/lock", b"other")
    opened.remove(["index/lock", "index/never"])
    assert bucket.sizes("index").keys() == {"a"}


def test_no_bucket(bucket: Bucket) -> None:
    """A bucket that is not there is a sentence."""
    with pytest.raises(Vanished, match="S3 has nothing there"):
        [*S3Store(addresses.parsed("s3://never-made-bucket")).objects("x")]


def test_no_credentials(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any the sentence says how to give them."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(Denied, match="no credentials for S3"):
        [*store(bucket).objects("x")]


def test_nobody_listens(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is gone is tried again, and then said to be out of reach."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(retrying, "MOST_TRIES", 2)
    with pytest.raises(Passing, match="cannot be reached"):
        [*store(bucket).objects("x")]


class AsBotocoreSays(Exception):
    """An answer of S3."""

    def __init__(self, code: str) -> None:
        super().__init__(f"{code}: the token is SECRET")
        self.response = {"Error": {"Code": code}}


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("ExpiredToken", Denied, "have expired"),
        ("AccessDenied", Denied, "refuses the credentials"),
        ("InvalidAccessKeyId", Denied, "refuses the credentials"),
        ("NoSuchKey", Vanished, "nothing there"),
        ("PreconditionFailed", Replaced, "was changed"),
        ("SlowDown", Passing, "did not answer"),
        ("InternalError", Passing, "did not answer"),
        ("InvalidBucketName", RemoteTrouble, "does not take"),
    ],
)
def test_what_s3_says(code: str, kind: type[RemoteTrouble], said: str) -> None:
    """Each refusal is known for what it is, and said without the server's own words."""
    error = OSError("as s3fs says it")
    error.__cause__ = AsBotocoreSays(code)
    told = s3_store._trouble(error)
    assert type(told) is kind
    assert said in str(told.strerror)
    assert "SECRET" not in str(told)
