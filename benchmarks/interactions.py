"""What the server does for a click, from a thousand rollouts to a million: the whole script, through Streamlit's AppTest.

AppTest runs the real entry script as the server does, then reads back every element it sent. That reading is in the figures, which are
therefore a little too high; what a page of one line costs is measured beside them. The browser's share is measured by `browsing.py`.
"""

import gc
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from streamlit.testing.v1 import AppTest

from benchmarks import rollouts
from benchmarks.component_reports import Report, is_drawn, sent
from benchmarks.goals import GOALS, verdict
from benchmarks.plan import Plan, say
from benchmarks.profiling import profiled
from benchmarks.rollouts import HUGE_ROLLOUTS
from benchmarks.sections import Cell, Figure, Section, figure
from board.runs.opening import open_run
from board.serving.page_addresses import TABS

ENTRY: Final = Path(__file__).parent.parent / "rl_logging_board.py"
LARGE_ROLLOUTS: Final = 100_000
"""The goal is for so many; that of HUGE_ROLLOUTS is another."""

CHANGED: Final = ("sort", "text", "q", "prompt_text")
"""Keys of the widgets that a click of ours can change."""

TIMEOUT_SECONDS: Final = 120
ONE_LINE: Final = 'import streamlit as st\nst.text("one line")\nst.button("again", key="again")'


@dataclass(frozen=True)
class Interaction:
    """A click: where the reader is, and what is done the `at`-th time. Each time it must show something not shown before."""

    name: str
    page: str
    act: Callable[[AppTest, int], Any]
    scope: str = "This step"


def press(key: str) -> Callable[[AppTest, int], Any]:
    """A click on a button."""
    return lambda test, _: test.button(key=key).click()


def step_on(test: AppTest, _: int) -> Any:
    """To the next step, by the button beside the list of steps."""
    return Report(test, "step_picker", "chosen", sent(test, "step_picker")["neighbours"][1]["text"])


def sort_by(test: AppTest, at: int) -> Any:
    """Another column to sort by."""
    box = test.selectbox(key="sort")
    return box.select_index(1 + at % (len(box.options) - 1))


def filter_by(test: AppTest, at: int) -> Any:
    """Another text that some responses have."""
    return test.text_input(key="text").input(f"word{at + 5}")


def satisfy(condition: str) -> Callable[[AppTest, int], Any]:
    """Another filter; `{}` in the condition is a number that is another each time."""

    def act(test: AppTest, at: int) -> Any:
        test.session_state["filter"] = condition.format(at + 5)
        return test

    return act


def search(test: AppTest, at: int) -> Any:
    """Another text that is looked for in all steps."""
    return test.text_input(key="q").input(f"word{at + 5}")


def find_prompts(test: AppTest, at: int) -> Any:
    """Another text that one prompt has."""
    return test.text_input(key="prompt_text").input(f"Problem {at + 5}:")


def go_to(test: AppTest, at: int) -> Any:
    """The next page in the order of the navigation."""
    return test.switch_page(ROUND_TRIP[at % len(ROUND_TRIP)].file)


ROUND_TRIP: Final = (*TABS[1:], TABS[0])
"""All pages, the first at last."""

INTERACTIONS: Final = (
    Interaction("step, Rewards", "rewards", step_on),
    Interaction("step, Metrics", "metrics", step_on),
    Interaction("step, Responses", "responses", step_on),
    Interaction("step, Tokens", "tokens", step_on),
    Interaction("rollout, Responses", "responses", press("rollout_Next")),
    Interaction("rollout, Tokens", "tokens", press("rollout_Next")),
    Interaction("sort a step", "responses", sort_by),
    Interaction("sort all steps", "responses", sort_by, "All steps"),
    Interaction("filter a step", "responses", filter_by),
    Interaction("filter all steps", "responses", filter_by, "All steps"),
    Interaction("condition on a number, Rewards", "rewards", satisfy("response_length > {}")),
    Interaction("condition on a text, Rewards", "rewards", satisfy("response ILIKE '%word{}%'")),
    Interaction("search all steps", "search", search),
    Interaction("search the prompts", "prompts", find_prompts),
    Interaction("step, Groups", "groups", step_on),
    Interaction("step, Steps", "steps", step_on),
    Interaction("step, All tokens", "all_tokens", step_on),
)


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table for each number of rollouts."""
    os.environ["RL_BOARD_ROOT"] = str(place)
    os.environ["RL_BOARD_CACHE"] = str(place / "cache")
    gc.freeze()  # as the server does with what it has imported: to look through it takes an eighth of a second, now and then
    for count in plan.rollouts:  # all of them first: the board looks for new runs every few seconds only
        say(f"interactions: writing {count:,} rollouts")
        rollouts.of_size(place / f"run_{count}", count)
    for count in sorted(plan.rollouts):
        run = f"run_{count}"
        open_run(place / run)  # else the first clicks would be in a run that is still being read
        section = at_size(run, count, plan.rounds)
        yield section
    for interaction in missed(section, count):
        yield where_it_goes(interaction, run, count)


def missed(section: Section, count: int) -> list[Interaction]:
    """The interactions whose work is over the goal for the largest run."""
    works = {str(name): work for name, _, work in section.rows if isinstance(work, Figure)}
    goal = goal_of(count)
    return [one for one in INTERACTIONS if goal and verdict(GOALS[goal], works[one.name].value) == "not met"]


def at_size(run: str, count: int, rounds: int) -> Section:
    """Every interaction on one run; the first time of each is thrown away."""
    goal = goal_of(count)
    rows: list[tuple[Cell, ...]] = []
    opened(run, "rewards")
    for interaction in INTERACTIONS:
        say(f"interactions: {count:,} rollouts, {interaction.name}")
        rows.append(row(interaction.name, [*clicks(interaction, run, rounds)], goal))
    rows += page_changes(run, rounds, goal)
    rows.append(row("(a page of one line)", one_line(rounds), None))
    note = (
        f"Medians of {rounds}, the first time thrown away. Process time counts all threads; the wall is what a reader waits for."
    )
    return Section("interactions", f"Server time, {count:,} rollouts", ("interaction", "wall", "process time"), tuple(rows), note)


def goal_of(count: int) -> str | None:
    """What a click may take in a run of so many rollouts."""
    if count >= HUGE_ROLLOUTS:
        return "click_server_huge"
    return "click_server" if count >= LARGE_ROLLOUTS else None


def where_it_goes(interaction: Interaction, run: str, count: int) -> Section:
    """The profile of an interaction's second time."""
    say(f"interactions: profile of {interaction.name}")
    test = opened(run, interaction.page, scope=interaction.scope)
    interaction.act(test, 0).run()
    rows = profiled(interaction.act(test, 1).run)
    checked(test)
    title = f"Where the server's time goes, {count:,} rollouts: {interaction.name}"
    return Section("interactions", title, ("function, with what it calls", "calls", "% of the run"), tuple(rows))


def row(name: str, times: list[tuple[float, float]], goal: str | None) -> tuple[Cell, ...]:
    """Wall and process time; the goal is on the work, which another process on the machine does not lengthen."""
    walls, works = zip(*times, strict=True)
    return name, figure(walls, "ms"), figure(works, "ms", goal)


def opened(run: str, page: str, **where: str) -> AppTest:
    """The page at a step in the middle of the run, as a link opens it."""
    test = AppTest.from_file(str(ENTRY), default_timeout=TIMEOUT_SECONDS)
    for name, value in {"run": run, "step": "3", **where}.items():
        test.query_params[name] = value
    test.run()
    if page != "rewards":
        test.switch_page(f"board/ui/pages/{page}.py").run()
    checked(test)
    return test


def clicks(interaction: Interaction, run: str, rounds: int) -> Iterator[tuple[float, float]]:
    """Wall and process time of each click after the first, in milliseconds. Raises RuntimeError when a click changes nothing."""
    test = opened(run, interaction.page, scope=interaction.scope)
    for at in range(rounds + 1):
        before = place_of(test)
        took = timed(interaction.act(test, at))
        checked(test)
        if place_of(test) == before:
            raise RuntimeError(f"{interaction.name}: the click changed nothing")
        if at:
            yield took


def page_changes(run: str, rounds: int, goal: str | None) -> list[tuple[Cell, ...]]:
    """A row for each page changed to, the reader going round."""
    test = opened(run, "rewards")
    times: dict[str, list[tuple[float, float]]] = {tab.title: [] for tab in ROUND_TRIP}
    for at in range(len(ROUND_TRIP) * (rounds + 1)):
        tab = ROUND_TRIP[at % len(ROUND_TRIP)]
        took = timed(go_to(test, at))
        checked(test, of_run=tab.of_run)
        if at >= len(ROUND_TRIP):
            times[tab.title].append(took)
    return [row(f"page, to {title}", found, goal) for title, found in times.items()]


def one_line(rounds: int) -> list[tuple[float, float]]:
    """What AppTest costs by itself."""
    test = AppTest.from_string(ONE_LINE, default_timeout=TIMEOUT_SECONDS).run()
    return [timed(test.button(key="again").click()) for _ in range(rounds + 1)][1:]


def timed(acted: Any) -> tuple[float, float]:
    """Milliseconds on the wall and of the processor that the script takes after a click."""
    wall, work = time.perf_counter(), time.process_time()
    acted.run()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - work) * 1e3


def checked(test: AppTest, *, of_run: bool = True) -> None:
    """Raises RuntimeError when the page shows an exception, or no run where it is one of a run, else no table: a page that breaks is fast."""
    if test.exception:
        raise RuntimeError(f"the page raised {test.exception[0].value}")
    if not (sent(test, "run_picker")["chosen"] if of_run else is_drawn(test, "table")):
        raise RuntimeError("the page shows no run")


def place_of(test: AppTest) -> tuple[object, ...]:
    """What a click of ours can change."""
    boxes = [(box.key, box.value) for box in [*test.selectbox, *test.text_input] if box.key in CHANGED]
    return (*boxes, *(test.session_state[name] for name in ("step", "rollout", "filter") if name in test.session_state))
