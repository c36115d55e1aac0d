"""Thread-safe caches in memory: the values used last by key, or the latest of one."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar
from weakref import WeakValueDictionary

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")

QUICK_SECONDS: Final = 1.0
"""What was made of a run in less is made again whenever the run grows."""


class Turns:
    """A lock for each key: threads that make the same value wait for each other, and never for another value."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()
        self._asking = threading.Lock()

    def of(self, key: Hashable) -> threading.Lock:
        """The key's lock, the same for all who hold it or wait for it."""
        with self._asking:
            return self._locks.setdefault(key, threading.Lock())


class RecentlyUsed(Generic[_K, _T]):
    """The values of at most `most` keys; of more, the one not used for longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[_K, _T] = OrderedDict()
        self._changing = threading.Lock()

    def peek(self, key: _K) -> _T | None:
        """The value of that key, None where there is none; does not count as use. Never waits."""
        return self._values.get(key)

    def use(self, key: _K) -> _T | None:
        """The value of that key, the one used last from now on; None where there is none."""
        with self._changing:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: _K, value: _T) -> None:
        """This is the key's value from now on, and the one used last."""
        with self._changing:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def keys_of(self, value: _T) -> list[_K]:
        """The keys under which this very object is stored."""
        with self._changing:
            return [key for key, stored in self._values.items() if stored is value]


class OfLatestLoads(Generic[_T]):
    """Values made of runs, by their keys, each for the load alone it was last requested for: earlier states of a growing run are dropped.

    Of more than `most` keys the least recently requested goes first. A request for a value that is being made waits for it.
    """

    def __init__(self, most: int) -> None:
        self._values: RecentlyUsed[Hashable, tuple[str, _T]] = RecentlyUsed(most)
        self._turns = Turns()

    def get(self, key: Hashable, load_id: str, make: Callable[[], _T]) -> _T:
        """The value of that key and load, made if it is not stored."""
        entry = self._values.use(key)
        if entry is not None and entry[0] == load_id:
            return entry[1]
        with self._turns.of((key, load_id)):
            entry = self._values.use(key)
            if entry is None or entry[0] != load_id:
                entry = (load_id, make())
                self._values.put(key, entry)
        return entry[1]

    def there(self, key: Hashable, load_id: str) -> _T | None:
        """The value of that key and load where it was made already."""
        entry = self._values.use(key)
        return entry[1] if entry is not None and entry[0] == load_id else None


class LatestValue(Generic[_T]):
    """A value that takes long to make of a run: made by its first reader, while others wait. What interrupts making it is that reader's alone.

    Of a run that grows it is made anew by itself where that is quick, and otherwise on request.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: tuple[str, float, _T] | None = None

    def get(self, load_id: str, make: Callable[[], _T], *, again: bool = False) -> tuple[_T, bool]:
        """The value, and whether it is of that load; `make` may draw. `again` asks for one of that load, however long it takes."""
        with self._lock:
            if self._made is None or (self._made[0] != load_id and (again or self._made[1] < QUICK_SECONDS)):
                started = time.monotonic()
                value = make()
                self._made = (load_id, time.monotonic() - started, value)
            made_of, _, value = self._made
        return value, made_of == load_id
