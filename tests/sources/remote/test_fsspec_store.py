"""Tests of any fsspec file system as a store: fsspec's own in memory, and a real server of SSH on loopback."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from stores_asked import bytes_of, look

from board.cli.indexing.destination import Destination
from board.sources.remote import addresses, fsspec_store, object_store
from board.sources.remote.fsspec_store import FsspecStore
from board.sources.remote.object_store import Denied, ObjectStore, Passing, RemoteTrouble, Replaced, Vanished


class Ssh:
    """A server of SFTP on loopback that serves the machine's files to one key."""

    def __init__(self, folder: Path) -> None:
        self.port = 0
        self._folder, self._loop = folder, asyncio.new_event_loop()
        self._began = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()
        assert self._began.wait(20)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._began.set()
        self._loop.run_forever()

    async def _start(self) -> None:
        home = self._folder / ".ssh"
        home.mkdir(parents=True)
        key, host = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
        key.write_private_key(str(home / "id_ed25519"))
        (home / "allowed").write_bytes(key.export_public_key())
        server = await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[host], authorized_client_keys=str(home / "allowed"), sftp_factory=True
        )
        self.port = server.get_port()
        self.known = f"[127.0.0.1]:{self.port} {host.export_public_key().decode()}"

    def stop(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._loop.stop)


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ssh]:
    """A server whose key and known host lie in the home folder, where ssh looks for them."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(object_store, "FIRST_SECONDS", 0.001)
    server = Ssh(home)
    yield server
    server.stop()


@pytest.fixture
def memory() -> Iterator[FsspecStore]:
    """A file system in memory with a bucket of two objects."""
    files = MemoryFileSystem()
    files.store.clear()
    files.pipe({"/bucket/run/a.jsonl": b"0123456789", "/bucket/run/deep/b.jsonl": b"x", "/bucket/other/c": b"y"})
    yield FsspecStore(files, "/bucket/")
    files.store.clear()


def keys(store: ObjectStore, prefix: str) -> dict[str, int]:
    """Sizes by key."""
    return {one.key: one.size for one in store.objects(prefix)}


def test_listing_and_ranges(memory: FsspecStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies below the prefix, at any depth, in a bounded time, and bytes of one version."""
    assert keys(memory, "run") == {"run/a.jsonl": 10, "run/deep/b.jsonl": 1}
    found = look(memory, "run/a.jsonl")
    assert bytes_of(memory, found, 2, 5) == b"234"
    memory.files.pipe("/bucket/run/a.jsonl", b"98765432101")
    with pytest.raises(Replaced):
        bytes_of(memory, found, 2, 5)
    with pytest.raises(Vanished):
        look(memory, "run/none")
    monkeypatch.setattr(fsspec_store, "_MOST_LISTING", 0.0)
    with pytest.raises(RemoteTrouble, match="takes more than 0 seconds"):
        [*memory.objects("run")]


def of_s3(code: str) -> OSError:
    """An error as s3fs makes it of S3's answer."""
    error = OSError("SECRET")
    error.__cause__ = type("ClientError", (Exception,), {"response": {"Error": {"Code": code}}})("SECRET")
    return error


ERRORS = [
    (FileNotFoundError("SECRET"), Vanished, "nothing there"),
    (PermissionError("SECRET"), Denied, "refuses the credentials"),
    (type("GatedRepoError", (Exception,), {})("SECRET"), Denied, "refuses the credentials"),
    (type("EntryNotFoundError", (Exception,), {})("SECRET"), Vanished, "nothing there"),
    (type("HttpError", (Exception,), {"code": 401})("SECRET"), Denied, "refuses the credentials"),
    (OSError("Forbidden: SECRET"), Denied, "refuses the credentials"),
    (OSError("SECRET is Forbidden"), Passing, "did not answer"),
    (ValueError("SECRET"), RemoteTrouble, "refuses this kind of request"),
    (TimeoutError("SECRET"), Passing, "did not answer"),
    (of_s3("ExpiredToken"), Denied, "have expired"),
    (of_s3("AccessDenied"), Denied, "refuses the credentials"),
    (of_s3("InvalidAccessKeyId"), Denied, "refuses the credentials"),
    (of_s3("NoSuchKey"), Vanished, "nothing there"),
    (of_s3("PreconditionFailed"), Replaced, "was changed"),
    (of_s3("InvalidRange"), Replaced, "was changed"),
    (of_s3("SlowDown"), Passing, "did not answer"),
    (of_s3("InternalError"), Passing, "did not answer"),
    (of_s3("InvalidBucketName"), RemoteTrouble, "refuses this kind of request"),
]


@pytest.mark.parametrize(("error", "kind", "said"), ERRORS, ids=str)
def test_errors_by_their_class(error: Exception, kind: type[RemoteTrouble], said: str) -> None:
    """Each is known by its class or its code; its words, which may quote a request, are not repeated."""
    told = fsspec_store.trouble_of(error)
    assert (type(told), said in str(told), "SECRET" in str(told)) == (kind, True, False)


def test_ssh(ssh: Ssh, tmp_path: Path) -> None:
    """Files below a folder of another machine are listed and read in ranges, by the user's own key; links are left out."""
    (tmp_path / "home" / ".ssh" / "known_hosts").write_text(ssh.known)
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / "runs" / "one" / "a.jsonl").write_bytes(b"0123456789")
    (tmp_path / "runs" / "link.jsonl").symlink_to(tmp_path / "home" / ".ssh" / "id_ed25519")
    address = addresses.parsed(f"ssh://127.0.0.1:{ssh.port}{tmp_path}/runs")
    store = object_store.store_of(address)
    (found,) = store.objects(address.prefix)
    assert (found.key, found.size) == (f"{address.prefix}/one/a.jsonl", 10)
    assert found.modified_ns > 0
    assert bytes_of(store, found, 2, 5) == b"234"
    with pytest.raises(Vanished):
        look(store, f"{address.prefix}/none")


def test_ssh_is_written_to(ssh: Ssh, tmp_path: Path) -> None:
    """An index may lie there: its files are written, listed, read and removed."""
    (tmp_path / "home" / ".ssh" / "known_hosts").write_text(ssh.known)
    there = Destination(f"ssh://127.0.0.1:{ssh.port}{tmp_path}/index")
    with there.held():
        for data in (b"0123", b"other"):  # in the place of what stood there, too
            there.write("a.json", data)
        assert (tmp_path / "index" / "a.json").read_bytes() == there.read("a.json") == b"other"
        assert there.sizes() == {"a.json": 5}
        there.remove(["a.json"])
    assert there.read("a.json") is None


def test_ssh_does_not_speak_with_an_unknown_host(ssh: Ssh, tmp_path: Path) -> None:
    """A host whose key is not among the known ones is refused: it may be another than it says."""
    address = addresses.parsed(f"ssh://127.0.0.1:{ssh.port}{tmp_path}")
    with pytest.raises(OSError, match="HostKeyNotVerifiable"):
        [*object_store.store_of(address).objects(address.prefix)]


def test_a_time_that_cannot_be_read_is_none() -> None:
    """A file system may say anything."""
    told = [fsspec_store._nanoseconds(value) for value in (1.5, "2026-01-01T00:00:00+00:00", "yesterday")]
    assert told == [1_500_000_000, 1_767_225_600_000_000_000, 0]
