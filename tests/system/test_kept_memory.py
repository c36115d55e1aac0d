"""board.system.kept_memory: Arrow's memory comes from the C library meanwhile, and from where it came before afterwards."""

import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from board.system import kept_memory


def test_arrow_is_as_before_when_the_last_is_done() -> None:
    """Whoever ends first of two does not take it from the other, and nobody leaves it behind."""
    before = pa.default_memory_pool().backend_name
    inside, end = threading.Event(), threading.Event()

    def other() -> None:
        with kept_memory.kept():
            inside.set()
            end.wait(60)

    thread = threading.Thread(target=other)
    with kept_memory.kept():
        thread.start()
        assert inside.wait(60)
        both = pa.default_memory_pool().backend_name
    one = pa.default_memory_pool().backend_name
    end.set()
    thread.join(60)

    assert before != "system"
    assert (both, one) == ("system", "system")
    assert pa.default_memory_pool().backend_name == before


def test_arrow_is_as_before_after_an_error() -> None:
    """What goes wrong meanwhile changes nothing."""
    before = pa.default_memory_pool().backend_name
    try:
        with kept_memory.kept():
            raise OSError
    except OSError:
        pass

    assert pa.default_memory_pool().backend_name == before


_IN_HUGE_PAGES = """
import re, threading
from pathlib import Path
from board.system import kept_memory

def taken(take):
    take()
    held = [bytes([at]) * 3_000_000 for at in range(10)]
    assert [one[-1] for one in held] == [*range(10)]
    areas = re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text())
    huge = [area for area in areas if " hg" in area]
    print(sum(int(re.search(r"Size: +(\\d+) kB", area)[1]) for area in huge), sum("[heap]" in area for area in huge))
"""


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").is_dir(), reason="this system has no such pages")
def test_the_heap_of_a_process_that_parses_comes_in_huge_pages() -> None:
    """All that it will need is asked for so, and it goes on as before."""
    size, heaps = _asked_for("taken(kept_memory.take_in_huge_pages)")

    assert size > 60_000
    assert heaps


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").is_dir(), reason="this system has no such pages")
def test_so_does_what_one_thread_is_given() -> None:
    """As much as it keeps; what others of the process are given is left as it is."""
    thread = "thread = threading.Thread(target=taken, args=[kept_memory.take_in_huge_pages_here]); thread.start(); thread.join()"
    size, heaps = _asked_for(thread)

    assert 20_000 < size < 40_000
    assert not heaps


def _asked_for(script: str) -> list[int]:
    """kB of a process's memory that are to come in huge pages after a script, and how many areas of the process's own heap they lie in."""
    done = subprocess.run([sys.executable, "-c", _IN_HUGE_PAGES + script], capture_output=True, text=True, check=True)
    return [*map(int, done.stdout.split())]
