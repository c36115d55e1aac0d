"""The cookie that says which of several workers a reader's session is with. Knows no connection."""

import re
from typing import Final

_MOST_DIGITS: Final = 4


class WorkerCookie:
    """Of a board at that port with so many workers, which are counted from 0; browsers share cookies between the ports of a host."""

    def __init__(self, port: int, workers: int) -> None:
        self.name = f"rl_board_worker_{port}"
        self._workers = workers
        line = rb"^cookie:[^\r\n]*?\b%s=(\d{1,%d})\b" % (self.name.encode(), _MOST_DIGITS)
        self._pattern = re.compile(line, re.IGNORECASE | re.MULTILINE)

    def named(self, head: bytes) -> int | None:
        """The worker that the head of a request names, as it stands on the wire; None where it names none that there is."""
        found = self._pattern.search(head)
        return int(found[1]) if found and int(found[1]) < self._workers else None

    def is_for_another(self, worker: int, read: bytes) -> bool:
        """Whether a request that begins so, its head being whole, names another worker than this one."""
        head, end, _ = read.partition(b"\r\n\r\n")
        return bool(end) and self.named(head) not in (None, worker)

    def given(self, worker: int, path: str, *, secure: bool) -> str:
        """The header's value that has a browser name that worker from then on, below a path. It comes back with links from other sites, too."""
        return f"{self.name}={worker}; Path={path}; HttpOnly; SameSite=Lax{'; Secure' if secure else ''}"
