"""The page Words of a run of a hundred million tokens: what is counted in the background once, and what its readers then wait for."""

import os
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from streamlit.testing.v1 import AppTest

from benchmarks import many_tokens
from benchmarks.interactions import checked, opened, row, timed
from benchmarks.plan import Plan, say
from benchmarks.sections import Cell, Section, figure
from board.analysis import kept_phrases, kept_vocabulary
from board.runs.opening import open_run

RUN: Final = "run"
_SHARES: Final = {"words": "Tokens that rise and fall"}


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """What is made once, then what each view and click of the page takes."""
    os.environ |= {"RL_BOARD_ROOT": str(place), "RL_BOARD_CACHE": str(place / "cache"), "RL_BOARD_FINDINGS": "off"}
    say(f"words: writing {plan.tokens:,} tokens")
    many_tokens.write(place / RUN, plan.tokens)
    yield _made_once(place / RUN, plan)
    yield _looked_at(plan)


def _made_once(folder: Path, plan: Plan) -> Section:
    """Process time of what the search for findings makes beside it; memory is what the process holds of its own at the end."""
    started = time.perf_counter()
    run = open_run(folder)
    rows: list[tuple[Cell, ...]] = [("opened, cold", figure([time.perf_counter() - started], "s"), "")]
    made: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("phrases found", kept_phrases.of_run),
        ("tokens counted", kept_vocabulary.of_run),
        ("the same again, as it is kept", kept_vocabulary.of_run),
    )
    for name, make in made:
        say(f"words: {name}")
        wall, work = time.perf_counter(), time.process_time()
        make(run)
        rows.append((name, *(figure([now - then], "s") for now, then in _since(wall, work))))
    held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) - _shared_pages()
    rows.append(("memory of its own at the end, MB", figure([held * resource.getpagesize() / 1e6], "MB"), ""))
    title = f"Words of {plan.tokens:,} tokens, made once in the background"
    return Section("words", title, ("", "wall, s", "process time, s"), tuple(rows), f"{len(run.frame):,} rollouts.")


def _since(wall: float, work: float) -> tuple[tuple[float, float], tuple[float, float]]:
    return (time.perf_counter(), wall), (time.process_time(), work)


def _shared_pages() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[2])


def _looked_at(plan: Plan) -> Section:
    """The first view of both tables in a server that has not shown them, and clicks."""
    rows = [
        _view("phrases, first view", {}),
        _view("tokens, first view", _SHARES),
        _clicks("another order of tokens", plan.rounds, _reordered),
        _clicks("another smallest count", plan.rounds, _recounted),
    ]
    note = "Process time counts all threads; the wall is what a reader waits for. What is kept is read back, nothing is counted."
    return Section(
        "words", f"The page Words, {plan.tokens:,} tokens", ("view or click", "wall, ms", "process time, ms"), tuple(rows), note
    )


def _view(name: str, choices: dict[str, str]) -> tuple[Cell, ...]:
    say(f"words: {name}")
    test = opened(RUN, "rewards", **choices)
    test.switch_page("board/ui/pages/words.py")
    for key, value in choices.items():
        test.query_params[key] = value
    took = timed(test)
    checked(test)
    return row(name, [took], "words_server")


def _clicks(name: str, rounds: int, act: Callable[[AppTest, int], Any]) -> tuple[Cell, ...]:
    """Each shows something not shown before; the first is thrown away."""
    say(f"words: {name}")
    test = opened(RUN, "rewards")
    test.switch_page("board/ui/pages/words.py")
    for key, value in _SHARES.items():
        test.query_params[key] = value
    test.run()
    took = [timed(act(test, at)) for at in range(rounds + 1)][1:]
    checked(test)
    return row(name, took, "words_server")


def _reordered(test: AppTest, at: int) -> Any:
    box = test.selectbox(key="tokens_by")
    return box.select_index((at + 1) % len(box.options))


def _recounted(test: AppTest, at: int) -> Any:
    return test.number_input(key="tokens_least").set_value(60 + 10 * at)
