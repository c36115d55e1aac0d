"""What a push says of itself: its progress in a line, its end in a few. Knows numbers and words; prints nothing."""

import math

from board.formats.row import plural
from board.numbers import fmt
from board.push.handing import Pushed
from board.push.pushing import Request


def progress(done: Pushed, seconds: float) -> str:
    """How far it is, how fast, and how long the rest will take at that rate."""
    rate = done.steps / seconds if seconds > 0 else math.nan
    line = f"step {done.last}: {done.steps:,} of {plural(done.steps + done.to_go, 'step')}, {fmt(rate)} steps/s"
    return f"{line}, {fmt(done.to_go / rate)} s left" if done.to_go and rate > 0 else line


def summary(done: Pushed, request: Request, seconds: float) -> str:
    """What was pushed, where to look, and what was not pushed and why."""
    lines = [_what(done, request, seconds)]
    if done.place and done.name and request.target.tracker != "stdout":
        lines.append(f"Look at {done.name} in {done.place}.")
    if done.interrupted is not None:
        lines.append(
            f"An earlier push was stopped in step {done.interrupted}: it is taken to have arrived, as no step is pushed twice."
        )
    if done.waiting:
        lines.append(f"{plural(done.waiting, 'step')} held back, as training may still be writing: push again, or use --follow.")
    return "\n".join(lines)


def _what(done: Pushed, request: Request, seconds: float) -> str:
    if done.steps:
        rate = f"{fmt(seconds)} s, {fmt(done.steps / seconds if seconds > 0 else math.nan)} steps/s"
        return f"Pushed {plural(done.steps, 'step')} of {plural(done.metrics, 'metric')} to {request.target.tracker} ({rate})."
    if done.last is not None:
        return f"Nothing new: all steps up to {done.last} were pushed before. Use --again to push them anew."
    return "Nothing to push yet."
