"""How many processors this process may use: as many as the machine has, unless it was given fewer, as by `taskset` or a batch system."""

import os


def count() -> int:
    """At least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
