"""board.system.kept_memory: Arrow's memory comes from the C library meanwhile, and from where it came before afterwards."""

import threading

import pyarrow as pa

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
