"""What a store says and gives, waited for: its methods are awaitable, and tests are not."""

from board.cli.indexing.destination import Destination
from board.sources.remote.object_store import ObjectStore, RemoteObject, waited


def look(store: ObjectStore, key: str) -> RemoteObject:
    """An object as it is now."""
    return waited(store.look(key))


def bytes_of(store: ObjectStore, found: RemoteObject, start: int, stop: int) -> bytes:
    """A range of an object."""
    data = bytearray()
    waited(store.read(found, start, stop, data))
    return bytes(data)


def assert_writable(address: str) -> None:
    """Files are written there, in the place of what stood there, too, listed, read and removed."""
    there = Destination(address)
    with there.held():
        for data in (b"", b"0123", bytes(range(256)) * 450_000):
            there.write("a.json", data)
            assert there.read("a.json") == data
        assert there.sizes() == {"a.json": 450_000 * 256}
        there.remove(["a.json"])
    assert there.sizes() == {}
