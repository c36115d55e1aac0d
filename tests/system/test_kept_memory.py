"""board.system.kept_memory: Arrow's memory comes from the C library meanwhile, and from where it came before afterwards."""

import ctypes
import subprocess
import sys
import threading

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


_AGAIN_AND_AGAIN = """
import resource

def faults(blocks):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    held = [bytes([at]) * 3_000_000 for at in range(blocks)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

for _ in range(4):
    given = faults(20)
print(given)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc")
def test_a_process_that_parses_keeps_what_it_lets_go_of() -> None:
    """The system gives it 60 MB once; any other process gives most of that back each time, and is given it anew."""
    assert _pages_given_again("from board.system import kept_memory; kept_memory.keep_all()") < 100
    assert _pages_given_again("") > 5_000


def _pages_given_again(begin: str) -> int:
    """Pages that the system gives a process which needs 60 MB and lets go of them, for the last time of four, after this line of script."""
    done = subprocess.run([sys.executable, "-c", f"{begin}\n{_AGAIN_AND_AGAIN}"], capture_output=True, text=True, check=True)
    return int(done.stdout)
