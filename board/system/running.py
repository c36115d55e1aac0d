"""Which machine this is, and whether a process of it still runs: for what a process leaves behind when it is killed. Knows nothing of what."""

import os
import platform
from functools import cache
from hashlib import blake2b
from pathlib import Path


@cache
def machine() -> str:
    """Another text on another machine, after a restart, and in a container, whose processes have numbers of their own."""
    told = [platform.node()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            told.append(str(Path(path).readlink()) if path.endswith("pid") else Path(path).read_text())
        except OSError:
            told.append("")
    return blake2b(repr(told).encode(), digest_size=6).hexdigest()


def is_running(process: int) -> bool:
    """Whether a process of this machine with that number runs; perhaps another than the one that is meant."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True
