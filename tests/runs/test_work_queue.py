"""Tests of the order in which byte ranges are parsed."""

from functools import partial
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from board.runs.parsing.byte_range import ByteRange
from board.runs.parsing.range_parsing import WorkQueue
from board.sources.shards import Shard


def ranges(count: int) -> list[ByteRange]:
    """Ranges of one shard."""
    shard = Shard(Path("a.jsonl"), "a.jsonl", count, 0)
    return [ByteRange(shard, at, at + 1, "native") for at in range(count)]


def _is_among(wanted: set[int], one: ByteRange) -> bool:
    return one.start in wanted


@given(count=st.integers(0, 20), wishes=st.lists(st.tuples(st.integers(0, 5), st.sets(st.integers(0, 19)))))
def test_each_range_is_taken_once_the_wanted_first(count: int, wishes: list[tuple[int, set[int]]]) -> None:
    """Against a list that is taken apart and put together at every wish."""
    queue, left, taken = WorkQueue(ranges(count)), [*range(count)], list[int]()
    for number, wanted in wishes:
        for _ in range(min(number, len(left))):
            one = queue.take()
            assert one is not None
            taken.append(one.start)
            assert one.start == left.pop(0)
        queue.prefer(partial(_is_among, wanted))
        left = [at for at in left if at in wanted] + [at for at in left if at not in wanted]
        assert [one.start for one in queue.waiting()] == left
        assert len(queue) == len(left)

    while one := queue.take():
        taken.append(one.start)
    assert sorted(taken) == [*range(count)]


@given(
    waiting=st.lists(st.integers(0, 9), unique=True), missing=st.lists(st.integers(0, 9), unique=True), other=st.integers(0, 3)
)
def test_what_is_missing_of_a_shard_may_change(waiting: list[int], missing: list[int], other: int) -> None:
    """Ranges of it that nobody misses any more go, new ones come last, the order of the others and of other shards stays."""
    all_ranges, elsewhere = ranges(10), Shard(Path("b.jsonl"), "b.jsonl", 9, 0)
    others = [ByteRange(elsewhere, at, at + 1, "native") for at in range(other)]
    queue = WorkQueue([*others, *(all_ranges[at] for at in waiting)])
    queue.keep_of("a.jsonl", [all_ranges[at] for at in missing])
    left = [at for at in waiting if at in missing] + [at for at in missing if at not in waiting]
    assert queue.waiting() == [*others, *(all_ranges[at] for at in left)]
