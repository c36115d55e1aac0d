"""What a store says and gives, waited for: its methods are awaitable, and tests are not."""

from board.sources.remote.object_store import ObjectStore, RemoteObject, waited


def look(store: ObjectStore, key: str) -> RemoteObject:
    """An object as it is now."""
    return waited(store.look(key))


def bytes_of(store: ObjectStore, found: RemoteObject, start: int, stop: int) -> bytes:
    """A range of an object."""
    data = bytearray()
    waited(store.read(found, start, stop, data))
    return bytes(data)
