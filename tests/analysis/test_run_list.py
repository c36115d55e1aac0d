"""Tests of the list of runs: what a filter leaves, orders, groups, and what a row says of what is not known."""

from typing import Any

import pytest

from board.analysis.compare import run_list
from board.analysis.compare.run_list import ListedRun, RunFilter
from board.runs.library import RunFolder
from board.runs.summaries.run_summaries import SummaryState
from board.runs.summaries.run_summary import RunSummary
from board.settings.run_choices import RunNote


def listed(name: str, *, age: float = 86_400.0, summary: RunSummary | None = None, grows: bool = False, **note: Any) -> ListedRun:
    """A run of that name."""
    folder = RunFolder(name, 1, 1_000, 1_000 - int(age))
    return ListedRun(folder, SummaryState(summary, summary is not None, grows), RunNote(name, **note), age)


def told(last: float, step: int = 1, **fields: Any) -> RunSummary:
    """What a glance told: the last reward, the last step."""
    return RunSummary(
        trainers=("verl",), last_step=step, rollouts=50, last={"reward": last}, curves={"reward": (last,)}, **fields
    )


RUNS = [
    listed("sweep/seed_10", summary=told(0.5), tags=("good",)),
    listed("sweep/seed_2", summary=told(0.9), title="Best", note="a *note*\nmore", tags=("good", "paper")),
    listed("other", age=5.0, grows=True),
    listed("hidden_one", hidden=True),
    listed("last_pinned", summary=told(0.1), pinned=True),
]

LEFT = {
    "all but the hidden": (RunFilter(), {"sweep/seed_10", "sweep/seed_2", "other", "last_pinned"}),
    "the hidden too": (RunFilter(hidden=True), {one.folder.name for one in RUNS}),
    "by words in any case and place": (RunFilter(text="SWEEP paper"), {"sweep/seed_2"}),
    "by the reader's name": (RunFilter(text="best"), {"sweep/seed_2"}),
    "by tag": (RunFilter(tag="good"), {"sweep/seed_10", "sweep/seed_2"}),
    "by trainer": (RunFilter(trainer="verl"), {"sweep/seed_10", "sweep/seed_2", "last_pinned"}),
    "those that are training": (RunFilter(live=True), {"other"}),
    "none": (RunFilter(text="nowhere"), set()),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_a_filter_leaves(name: str) -> None:
    """Runs that are as asked, in every respect."""
    chosen, wanted = LEFT[name]
    assert {one.folder.name for one in run_list.left(RUNS, chosen)} == wanted


def test_orders_put_the_pinned_first_and_what_is_not_known_last() -> None:
    """Either way round; names in natural order."""
    down = [one.folder.name for one in run_list.ordered(RUNS, "value", "reward", descending=True)]
    assert down == ["last_pinned", "sweep/seed_2", "sweep/seed_10", "other", "hidden_one"]
    up = [one.folder.name for one in run_list.ordered(RUNS, "value", "reward", descending=False)]
    assert up == ["last_pinned", "sweep/seed_10", "sweep/seed_2", "other", "hidden_one"]
    names = run_list.ordered([listed("run_10"), listed("run_9"), listed("Run_1")], "name", "reward", descending=False)
    assert [one.folder.name for one in names] == ["Run_1", "run_9", "run_10"]


@pytest.mark.parametrize("by", ["name", "written", "value", "step", "rollouts", "size", "trainer", "problems", "findings"])
def test_every_order_takes_runs_of_which_nothing_is_known(by: Any) -> None:
    """It loses none."""
    assert len(run_list.ordered(RUNS, by, "reward", descending=True)) == len(RUNS)


def test_groups() -> None:
    """A run stands in its folder's group, and in that of each of its tags; those without a tag come last."""
    assert {name: len(runs) for name, runs in run_list.grouped(RUNS, "folder").items()} == {".": 3, "sweep": 2}
    by_tag = run_list.grouped(RUNS, "tag")
    assert list(by_tag) == ["good", "paper", run_list.UNTAGGED]
    assert [len(runs) for runs in by_tag.values()] == [2, 1, 3]
    assert list(run_list.grouped(RUNS, "")) == [""]


def test_a_row_says_what_is_not_known() -> None:
    """Not read yet, not looked at, estimated: none of it as a number."""
    sampled, findings = told(0.5, sampled=True), 3
    known = ListedRun(RunFolder("a", 1, 1, 1), SummaryState(sampled, True), RunNote("a"), 60.0, findings)
    frame = run_list.rows([listed("unread"), known, listed("bad", summary=RunSummary(trouble="is odd"))], "reward", "root")
    assert frame["rollouts"].tolist() == [run_list.NOT_READ, "about 50", ""]
    assert frame["problems"].tolist() == [run_list.NOT_READ, run_list.NOT_LOOKED, run_list.NOT_LOOKED]
    assert frame["findings"].tolist() == [run_list.NOT_LOOKED, "3", run_list.NOT_LOOKED]
    assert frame["trainer"].tolist() == [run_list.NOT_READ, "verl", "is odd"]
    assert frame["curve"].tolist() == [None, [0.5], None]


def test_numbers_of_a_part_are_marked() -> None:
    """A value and a step that were not read of all of a run say so; where all runs are known columns are of numbers."""
    whole, part = (
        listed("whole", summary=told(0.5, 7)),
        listed("part", summary=told(0.0208, 3, sampled=True)),
    )
    frame = run_list.rows([whole, part, listed("unread")], "reward", "root")
    assert frame["value"].tolist() == ["0.500", "about 0.0208", ""]
    assert frame["step"].tolist() == ["7", "about 3", ""]
    frame = run_list.rows([whole], "reward", "root")
    assert (frame["value"].tolist(), frame["step"].tolist()) == ([0.5], [7])


def test_why_a_run_has_no_rollout_stands_before_whose_it_is() -> None:
    """A trainer whose rows were all refused explains nothing."""
    refused = listed("a", summary=RunSummary(trainers=("verl",), trouble="No rollout could be read"))
    assert run_list.rows([refused], "reward", "root")["trainer"].tolist() == ["No rollout could be read"]


def test_a_link_names_the_newest_step_where_it_is_known() -> None:
    """An estimated one may not be there."""
    assert listed("a", summary=told(0.5, 7)).address == {"run": "a", "step": 7}
    assert listed("a", summary=told(0.5, 7, sampled=True)).address == {"run": "a"}
    assert listed("a").address == {"run": "a"}


def test_choices_come_of_what_there_is() -> None:
    """Tags, trainers and numbers; the reward first."""
    other = listed("b", summary=RunSummary(curves={"kl": (1.0,), "reward": (1.0,)}))
    assert run_list.tags(RUNS) == ["good", "paper"]
    assert run_list.trainers(RUNS) == ["verl"]
    assert run_list.metrics([other]) == ["reward", "kl"]


WRITTEN = {
    "training: seen growing": (listed("a", age=5.0, grows=True), "training now"),
    "written, and not seen growing": (listed("a", age=5.0), "5 s ago"),
    "by a clock that is a little ahead": (listed("a", age=-5.0), "just now"),
    "a while ago": (listed("a", age=7_300.0), "2 h ago"),
    "long ago": (listed("a", age=200_000.0), "2 d ago"),
    "by a clock that is ahead": (listed("a", age=-9_000.0), "in the future"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_when_a_run_was_written_to(name: str) -> None:
    """In words."""
    one, words = WRITTEN[name]
    assert run_list.written(one) == words
