"""How many files and connections this process may have open."""

import sys
from typing import Final

ENOUGH: Final = 65_536
"""More than any server of ours needs."""


def allow_many() -> int | None:
    """Raise the usual limit (1,024) as far as this user may, to ENOUGH at most; what it is then, None where there is none."""
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most
