"""The work of a push: opens the run, computes its steps, and delivers those that are complete and were not delivered before.

Holds numbers per step, and the rollouts of the step it delivers. Reports progress through a callback; prints nothing.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from board.analysis.steps.step_metrics import known_at, per_step_values
from board.errors import BoardError, RunNotFound
from board.findings.scan import find_all
from board.metrics.declared import named, named_once
from board.push.delivery import Delivery, Pushed
from board.push.places import Target, state_of
from board.push.shown import Links, RunExamples, at_steps, unreported
from board.runs.library import current_fingerprint
from board.runs.opening import open_run
from board.runs.parsing import recorder_account
from board.runs.run import Run
from board.sources import locations
from board.text.counting import plural
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
    """Whether what was printed is remembered between calls; what a tracker was given always is."""
    quiet: float = 30.0
    """Seconds after which a shard that is not written to is taken to be complete."""
    shown: bool = True
    """Whether example rollouts and findings go with the numbers."""
    seed: int = 0
    board_url: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of `open_run`."""

    @property
    def stored(self) -> bool:
        """Whether the next call goes on behind this one: what was printed may not have been read, unless `resume` says so."""
        return self.target.tracker != "stdout" or self.resume

    @property
    def what(self) -> dict[str, str]:
        """Tells this push from others, so that each knows what it pushed."""
        place = f"{self.target.where} {self.name}".strip()
        run = shown(self.location.resolve())
        return {"run": run, "tracker": self.target.tracker, "target": place, "names": self.names}


def push(request: Request, done: Pushed, on_step: Callable[[], None]) -> None:
    """Push what is to be pushed; with `follow` go on until KeyboardInterrupt. `done` is updated on the way, `on_step` called after each step.

    Raises BoardError when the run cannot be opened, or when the tracker is missing or fails.
    """
    location = request.location.resolve()
    name = request.name or locations.shown_name(location) + (f"-{request.names}" if request.names != "board" else "")
    with state_of(request.what, again=request.again, stored=request.stored) as state:
        delivery = Delivery(request.target, state, name, done, _links(request))
        try:
            if request.follow:
                _follow(request, delivery, on_step)
            else:
                _push_steps(open_run(request.location, whole=True, **request.reading), request, delivery, on_step)
        finally:
            delivery.close()


def _follow(request: Request, delivery: Delivery, on_step: Callable[[], None]) -> None:
    run: Run | None = None
    try:
        while True:
            started = time.monotonic()
            run = _opened(request)
            _push_steps(run, request, delivery, on_step)
            _wait(run, request, delivery.done.waiting, max(LOOK_SECONDS, time.monotonic() - started))
    except KeyboardInterrupt:
        # what a trainer logs once at the end belongs to a last step that is whole
        if run is not None and delivery.state.last is not None and not delivery.done.waiting:
            known = known_at(per_step_values(run.counted), delivery.state.last)
            delivery.add(named_once(known, request.names))
        raise


def _opened(request: Request) -> Run:
    """The run as it is now; waits for the first shard in a folder that is there. Raises RunNotFound when it is not."""
    while True:
        try:
            return open_run(request.location, whole=True, **request.reading)
        except RunNotFound:
            if not request.location.is_dir():
                raise
        time.sleep(LOOK_SECONDS)


def _wait(run: Run, request: Request, waiting: int, pause: float) -> None:
    """Until the run has changed on disk, or one of the steps that wait is taken to be complete."""
    complete = len(run.steps) - waiting
    while True:
        time.sleep(pause)
        if current_fingerprint(run.location, run.location) != run.fingerprint:
            return
        if len(settled(run, request.quiet)) > complete:
            return


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


def _push_steps(run: Run, request: Request, delivery: Delivery, on_step: Callable[[], None]) -> None:
    """Deliver the steps that are complete and beyond the last one delivered."""
    state, done = delivery.state, delivery.done
    complete = settled(run, request.quiet)
    done.waiting = len(run.steps) - len(complete)
    steps = complete if state.last is None else complete[complete > state.last]
    if not len(steps):
        return
    delivery.open()
    counted = run.counted
    values = per_step_values(counted)
    ended = not (request.follow or done.waiting)
    examples = RunExamples(counted.trained, request.seed, _links(request)) if request.shown else None
    found = at_steps(unreported(find_all(counted).findings, state.told), steps) if request.shown else {}
    reached = int(run.steps[-1])
    done.to_go = len(steps)
    for step in steps.tolist():
        known = known_at(values, step)
        once = named_once(known, request.names) if ended and step == steps[-1] else {}
        delivery.step(
            step, named(known, request.names) | once, examples.of(step) if examples else [], found.get(step, []), reached
        )
        on_step()


def _links(request: Request) -> Links:
    return Links(request.board_url.rstrip("/"), shown(request.location.resolve().name))


def progress(done: Pushed) -> str:
    """How far it is."""
    return f"step {done.last}: {done.steps:,} of {plural(done.steps + done.to_go, 'step')}"


def summary(done: Pushed, request: Request) -> str:
    """What was pushed, where to look, and what was not pushed and why."""
    if done.steps:
        lines = [f"Pushed {plural(done.steps, 'step')} of {plural(done.metrics, 'metric')} to {request.target.tracker}."]
    elif done.last is not None:
        lines = [f"Nothing new: all steps up to {done.last} were pushed before. Use --again to push them anew."]
    else:
        lines = ["Nothing to push yet."]
    if done.place and request.target.tracker != "stdout":
        lines.append(on_one_line(f"Look at {done.name} in {done.place}."))
    if done.waiting:
        lines.append(f"{plural(done.waiting, 'step')} held back, as training may still be writing: push again, or use --follow.")
    return "\n".join(lines)


def failure(error: BoardError, done: Pushed) -> str:
    """What went wrong, and what becomes of the steps that were handed over before."""
    if not done.steps:
        return str(error)
    return (
        f"{error} {plural(done.steps, 'step')} handed over before: the next push hands those over again that were not noted yet."
    )
