"""Bounds the memory of this process, so that what it reads cannot take the machine's. Knows nothing of what it reads."""

import os
import resource
from typing import Final

LEAST: Final = 2_000_000_000
"""Bytes of its own that a process may take on the smallest machine; on others a share of what there is."""


def bound(share: int = 2) -> None:
    """Let this process take no more memory of its own than a `share`-th of the machine's, and LEAST at least; beyond it is a MemoryError."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most = max(LEAST, there // share)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
