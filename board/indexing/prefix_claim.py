"""Who may write an index below a prefix: one driver at a time, said by an object that it renews. A driver that is gone is followed by another.

Where the store keeps the condition that the object be new (S3, Google's storage, SSH), of two that begin at once one is refused at once;
where it does not, each looks at what is there before it renews it, and the one that finds another's stops. No clock is compared: a claim
that nobody has renewed for LEASE_SECONDS, while somebody watched, is nobody's. Knows the object; knows nothing of what is written.
"""

import json
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from uuid import uuid4

from board.errors import ArgumentRefused
from board.indexing.index_prefix import IndexPrefix
from board.remote.object_store import RemoteTrouble, Replaced, Vanished
from board.sources.index_file import LOCK
from board.system import running
from board.text.path_names import shown

BEAT_SECONDS: Final = 10.0
LEASE_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 1.0

_RENEWALS: Final = 3
"""So many times in a row it may have been renewed while it was read: that is once in ten seconds."""
_MOST_BYTES: Final = 10_000


class PrefixClaim:
    """Held until `end`."""

    def __init__(self, prefix: IndexPrefix) -> None:
        self.token = uuid4().hex
        self._prefix, self._beats = prefix, 0
        self._ended = threading.Event()
        self.is_lost = False
        """Whether another driver has taken the prefix over."""

    def data(self) -> bytes:
        """What the object holds: another text each time."""
        self._beats += 1
        told = {"token": self.token, "machine": running.machine(), "host": platform.node(), "process": os.getpid()}
        return json.dumps(told | {"beat": self._beats}).encode()

    def begin(self) -> None:
        """Renew it now and then."""
        threading.Thread(target=self._renewing, name="claim", daemon=True).start()

    def end(self) -> None:
        """Let go of it."""
        self._ended.set()
        with suppress(RemoteTrouble):
            if not self.is_lost and is_of(self._prefix, self.token):
                self._prefix.remove([LOCK])

    def check(self) -> None:
        """Raises RemoteTrouble where it is another's by now."""
        if self.is_lost or not is_of(self._prefix, self.token):
            self.is_lost = True
            raise RemoteTrouble("another `index` has taken this index over, as this one had not been heard of: it goes on there")

    def _renewing(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            with suppress(RemoteTrouble):  # a store that does not answer now may do so next time
                if not is_of(self._prefix, self.token):
                    self.is_lost = True
                    return
                self._prefix.write(LOCK, self.data())


def is_of(prefix: IndexPrefix, token: str) -> bool:
    """Whether the claim on a prefix has this token. Raises RemoteTrouble."""
    with suppress(Vanished):
        return bool(_told(prefix).get("token") == token)
    return False


@contextmanager
def claimed(prefix: IndexPrefix, wait: Callable[[str], None]) -> Iterator[PrefixClaim]:
    """The prefix, for this driver alone until the context ends. `wait` is told in a sentence where it takes long.

    Raises ArgumentRefused where another is at work, RemoteTrouble.
    """
    claim = PrefixClaim(prefix)
    while not _made(prefix, claim):
        _outlive(prefix, wait)
    claim.begin()
    try:
        yield claim
    finally:
        claim.end()


def _made(prefix: IndexPrefix, claim: PrefixClaim) -> bool:
    with suppress(Replaced):  # which may be by a try of our own whose answer was lost
        prefix.create(LOCK, claim.data())
    return is_of(prefix, claim.token)


def _outlive(prefix: IndexPrefix, wait: Callable[[str], None]) -> None:
    """Until the claim that is there is nobody's, and gone. Raises ArgumentRefused where it is renewed meanwhile."""
    before, until, has_told = _seen(prefix), time.monotonic() + LEASE_SECONDS, False
    if before is None:
        return
    by = f"on {shown(str(before.get('host', 'another machine')))}"
    while not _is_dead(before) and time.monotonic() < until:
        if not has_told:
            wait(
                f"An `index` {by} has claimed {prefix.address}: looking for up to {LEASE_SECONDS:.0f} s whether it is still at work."
            )
            has_told = True
        time.sleep(_LOOK_SECONDS)
        now = _seen(prefix)
        if now is None:
            return
        if now != before:
            raise ArgumentRefused(f"Another `index` {by} is writing to {prefix.address}: wait for it, or name another prefix.")
    prefix.remove([LOCK])


def _seen(prefix: IndexPrefix) -> dict[str, Any] | None:
    with suppress(Vanished):
        return _told(prefix)
    return None


def _told(prefix: IndexPrefix) -> dict[str, Any]:
    try:
        told = json.loads(_read(prefix))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _read(prefix: IndexPrefix) -> bytes:
    """The claim; it may be renewed between the moment it is found and the moment it is read. Raises RemoteTrouble."""
    for _ in range(_RENEWALS):
        with suppress(Replaced):
            return prefix.read(LOCK, _MOST_BYTES)
    return prefix.read(LOCK, _MOST_BYTES)


def _is_dead(told: dict[str, Any]) -> bool:
    """Whether the driver was a process of this machine that is gone."""
    process = told.get("process")
    return told.get("machine") == running.machine() and isinstance(process, int) and not running.is_running(process)
