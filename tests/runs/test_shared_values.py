"""board.runs.cache.shared_values: a value is made once while it is kept, and only so many are."""

import threading

from board.runs.cache.shared_values import OfLatestLoads, RecentlyUsed


def test_a_look_is_no_use() -> None:
    """Whoever only looks whether there is a value does not keep it from going; whoever keeps it again does."""
    recent: RecentlyUsed[str, list[int]] = RecentlyUsed(2)
    first, second = [1], [1]
    recent.put("a", first)
    recent.put("b", second)
    recent.peek("a")
    recent.put("b", second)
    recent.put("c", first)

    assert [recent.peek(key) for key in "abc"] == [None, second, first]


def test_keys_of_the_very_value() -> None:
    """A value may be kept under several keys, and an equal one is another."""
    recent: RecentlyUsed[str, list[int]] = RecentlyUsed(4)
    value = [1]
    for key, kept in (("a", value), ("b", [1]), ("c", value)):
        recent.put(key, kept)

    assert recent.keys_of(value) == ["a", "c"]


def test_of_each_key_the_latest_load_alone_is_kept() -> None:
    """Made once for all who ask for that load; of another load it takes its place, and what was not asked for longest goes."""
    values, made = OfLatestLoads[str](2), list[str]()

    def get(key: str, load: str) -> str:
        def make() -> str:
            made.append(f"{key} of {load}")
            return made[-1]

        return values.get(key, load, make)

    assert [get("a", "1"), get("a", "1"), get("a", "2"), get("a", "1")] == ["a of 1", "a of 1", "a of 2", "a of 1"]
    assert made == ["a of 1", "a of 2", "a of 1"]
    for key in ("b", "a", "c", "a", "b"):
        get(key, "1")
    assert made[3:] == ["b of 1", "c of 1", "b of 1"]


def test_what_is_being_made_is_waited_for() -> None:
    """Two who ask at once get the same value, made once."""
    values, made, together = OfLatestLoads[object](2), list[object](), threading.Barrier(2)

    def make() -> object:
        made.append(object())
        return made[-1]

    def ask() -> None:
        together.wait()
        got.append(values.get("a", "1", make))

    got: list[object] = []
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert got == [made[0]] * 2
