"""The work of a push: opens the run, computes its steps, and hands on those that are complete and were not handed on before.

Holds numbers per step, and of rollouts those it is showing. Says how far it is by a function it is given; prints nothing.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from board.analysis.step_metrics import per_step_values
from board.errors import BoardError, RunNotFound
from board.metrics.declared import named_once, renamed
from board.push.delivery import Handing, Pushed
from board.push.examples import Links, RunExamples
from board.push.state import state_of
from board.push.targets import Target
from board.push.told_findings import FollowedFindings, ToldFinding, at_steps, findings_of, untold
from board.runs import recorder_account
from board.runs.library import current_fingerprint
from board.runs.opening import open_run
from board.runs.run import Run
from board.sources import locations
from board.text.counting import plural
from board.text.format_number import fmt
from board.text.path_names import path_of, shown
from board.text.terminal import on_one_line

LOOK_SECONDS: Final = 1.0
"""How often a growing run is looked at; less often where opening it takes longer."""


@dataclass(frozen=True)
class Request:
    """What is to be pushed, and how."""

    location: Path
    target: Target
    names: str = "board"
    """The dialect that metrics are named in."""
    name: str = ""
    """What the run is to be called in the tracker; its own name where empty."""
    follow: bool = False
    again: bool = False
    resume: bool = False
    """Whether what was printed is kept between calls; what a tracker was given always is."""
    quiet: float = 30.0
    """Seconds after which a shard that nobody writes to is taken to be complete."""
    shown: bool = True
    """Whether example rollouts and findings go with the numbers."""
    seed: int = 0
    board_url: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of `open_run`."""

    @property
    def kept(self) -> bool:
        """Whether the next call goes on behind this one: what was printed may have been read by nobody, unless one asks for it."""
        return self.target.tracker != "stdout" or self.resume

    @property
    def what(self) -> dict[str, str]:
        """Tells this push from others, so that each knows what it pushed."""
        place = f"{self.target.where} {self.name}".strip()
        run = shown(self.location.resolve())
        return {"run": run, "tracker": self.target.tracker, "target": place, "names": self.names}


def push(request: Request, done: Pushed, tell: Callable[[], None]) -> None:
    """Push what is to be pushed; with `follow` go on until KeyboardInterrupt. `done` is kept up to date, and `tell` called after each step.

    Raises BoardError when the run cannot be opened, or when the tracker is missing or fails: what was pushed stays noted.
    """
    location = request.location.resolve()
    name = request.name or locations.shown_name(location) + (f"-{request.names}" if request.names != "board" else "")
    with state_of(request.what, again=request.again, kept=request.kept) as state:
        handing = Handing(request.target, state, name, done)
        try:
            if request.follow:
                _follow(request, handing, tell)
            else:
                _hand_on(open_run(request.location, **request.reading), request, handing, tell)
        finally:
            handing.close()


def _follow(request: Request, handing: Handing, tell: Callable[[], None]) -> None:
    run: Run | None = None
    looks = FollowedFindings(request.location.resolve(), request.reading, _links(request)) if request.shown else None
    try:
        while True:
            started = time.monotonic()
            run = _opened(request)
            _hand_on(run, request, handing, tell)
            _wait(run, request, handing, looks, max(LOOK_SECONDS, time.monotonic() - started))
    except KeyboardInterrupt:  # what the last look was too early for
        if run is not None and handing.is_open:
            once = {} if handing.done.waiting else _known(per_step_values(run.counted), handing.state.last)
            found = [] if looks is None else findings_of(run.counted, _links(request))
            _add(named_once(once, request.names), found, run, handing)
        raise


def _opened(request: Request) -> Run:
    """The run as it is now; waits for the first shard in a folder that is there. Raises RunNotFound when it is not."""
    while True:
        try:
            return open_run(request.location, **request.reading)
        except RunNotFound:
            if not request.location.is_dir():
                raise
        time.sleep(LOOK_SECONDS)


def _wait(run: Run, request: Request, handing: Handing, looks: FollowedFindings | None, pause: float) -> None:
    """Until the run has changed on disk, or a step that was held back is taken to be complete; meanwhile findings are told."""
    complete = len(run.steps) - handing.done.waiting
    while True:
        if looks is not None and handing.is_open:
            _add({}, looks.news(run), run, handing)
            handing.done.trouble = looks.trouble
        time.sleep(pause)
        if current_fingerprint(run.location, run.location) != run.fingerprint:
            return
        if len(settled(run, request.quiet)) > complete:
            return


def _add(once: Mapping[str, float], found: Sequence[ToldFinding], run: Run, handing: Handing) -> None:
    """Hand on numbers beside the last step, and the findings in a run as it is now that were not told before."""
    handing.add(once, untold(found, handing.state.told), max(run.steps.tolist(), default=0))


def settled(run: Run, quiet: float, now: float | None = None) -> NDArray[np.int64]:
    """The steps, rising, that are taken to be complete at a time (`time.time()` unless given).

    A shard may still grow while it was written to within the last `quiet` seconds, unless its recorder says that it has ended. A step is
    complete once every shard that may grow has come to a later one.
    """
    at = time.time() if now is None else now
    growing = {
        name
        for name, _, modified in run.fingerprint
        if abs(at - modified / 1e9) < quiet and not recorder_account.has_ended(run.location / path_of(name))
    }
    last = run.frame.groupby("shard", observed=True)["step"].max()
    ends = [int(step) for name, step in last.items() if name in growing]
    return run.steps[run.steps < min(ends)] if ends else run.steps


def _hand_on(run: Run, request: Request, handing: Handing, tell: Callable[[], None]) -> None:
    """Hand on the steps that are complete and beyond the last one handed on."""
    complete = settled(run, request.quiet)
    handing.done.waiting = len(run.steps) - len(complete)
    steps = complete if handing.state.last is None else complete[complete > handing.state.last]
    if not len(steps):
        return
    handing.open()
    counted, links = run.counted, _links(request)
    values = per_step_values(counted)
    names = renamed(map(str, values.columns), request.names)
    ended = not (request.follow or handing.done.waiting)
    examples = RunExamples(counted.trained, request.seed, links) if request.shown else None
    looks = request.shown and not request.follow
    found = at_steps(untold(findings_of(counted, links), handing.state.told), steps) if looks else {}
    handing.done.begin(len(steps))
    for step in steps.tolist():
        known = _known(values, step)
        numbers = {name: value for key, value in known.items() for name in names[key]}
        once = named_once(known, request.names) if ended and step == steps[-1] else {}
        handing.step(step, numbers | once, examples.of(step) if examples else [], found.get(step, []))
        tell()


def _known(values: pd.DataFrame, step: Any) -> dict[str, float]:
    """A step's finite numbers by key."""
    return {str(key): float(one) for key, one in values.loc[step].items() if np.isfinite(one)} if step in values.index else {}


def _links(request: Request) -> Links:
    return Links(request.board_url.rstrip("/"), shown(request.location.resolve().name))


def progress(done: Pushed) -> str:
    """How far it is, how fast, and how long the rest will take at that rate."""
    line = f"step {done.last}: {done.steps:,} of {plural(done.steps + done.to_go, 'step')}, {fmt(done.rate)} steps/s"
    return f"{line}, {fmt(done.to_go / done.rate)} s left" if done.to_go and done.rate > 0 else line


def summary(done: Pushed, request: Request) -> str:
    """What was pushed, where to look, and what was not pushed and why."""
    lines = [_what(done, request)]
    if done.place and done.name and request.target.tracker != "stdout":
        lines.append(on_one_line(f"Look at {done.name} in {done.place}."))
    if done.trouble:
        lines.append(on_one_line(f"The last look for findings while following had no answer: {done.trouble}"))
    if done.waiting:
        lines.append(f"{plural(done.waiting, 'step')} held back, as training may still be writing: push again, or use --follow.")
    return "\n".join(lines)


def failure(error: BoardError, done: Pushed, request: Request) -> str:
    """What went wrong, and what becomes of the steps that were handed over before."""
    if not done.steps:
        return str(error)
    handed = f"{plural(done.steps, 'step')} {'was' if done.steps == 1 else 'were'} handed over before"
    if not request.target.writes_at_once:
        return f"{error} {handed}; {request.target.tracker} may lack some of them: the next push hands them over again."
    return f"{error} {handed} and {'stay noted' if request.kept else 'are not noted: the next push begins anew'}."


def _what(done: Pushed, request: Request) -> str:
    if done.steps:
        rate = "" if request.follow else f", {fmt(done.rate)} steps/s"
        return f"Pushed {plural(done.steps, 'step')} of {plural(done.metrics, 'metric')} to {request.target.tracker}{rate}."
    if done.last is not None:
        return f"Nothing new: all steps up to {done.last} were pushed before. Use --again to push them anew."
    return "Nothing to push yet."
