"""What a push says of itself: its progress in a line, its end in a few. Knows numbers and words; prints nothing."""

from board.errors import BoardError
from board.push.delivery import Pushed
from board.push.pushing import Request
from board.text.counting import plural
from board.text.format_number import fmt
from board.text.terminal import on_one_line


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
