"""Exit codes of the commands, and every failure as one sentence or one JSON object.

Commands raise what went wrong; only this module chooses the code, names the path and prints.
"""

import json
import os
import select
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import IntEnum
from functools import partial
from typing import Any, Final, NoReturn

import click

from board.cli.printing import listed
from board.errors import ArgumentRefused, BoardError, MappingRefused, NothingRead, RunNotFound, missing_library
from board.findings.checks import VERSION
from board.sources.remote.addresses import Address
from board.text.path_names import encodable
from board.text.terminal import printable


class ExitCode(IntEnum):
    """What the exit status of any command says."""

    DONE = 0
    FAULTS = 1
    CANNOT = 2
    FAILED = 3
    STOPPED = 130
    UNREAD = 141

    @property
    def meaning(self) -> str:
        """The code in words, as `--help` and docs/cli.md have it."""
        return _MEANINGS[self]


_MEANINGS: Final = {
    ExitCode.DONE: "done",
    ExitCode.FAULTS: "done, and the run has faults: a finding of the chosen severity, lines that could not be converted",
    ExitCode.CANNOT: "nothing was done: arguments that cannot be used, or a run that cannot be opened",
    ExitCode.FAILED: "begun, and failed: a port that is taken, a full disk, a tracker that is missing or refuses",
    ExitCode.STOPPED: "stopped by Ctrl+C",
    ExitCode.UNREAD: "its output is not read any more, as behind `| head`",
}

_NOTHING_DONE: Final = (RunNotFound, MappingRefused, ArgumentRefused)


class Failure(click.ClickException):
    """A command's end that is no success, as it is to be printed."""

    def __init__(self, message: str, code: ExitCode, run: str | None = None, more: dict[str, Any] | None = None) -> None:
        """`more` are further fields of its JSON; its texts stand below the message."""
        super().__init__(message)
        self.code = code
        self.run = run
        self.more = more or {}


class Command(click.Command):
    """A command whose errors become failures that name the run as it was given; its help ends with the exit codes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"epilog": exit_codes(), **kwargs})

    def invoke(self, ctx: click.Context) -> Any:
        """Run it. Raises Failure for an error of the board's own, and for one of a disk or a stream."""
        given = ctx.params.get("run")
        run = None if given is None else encodable(str(given))
        try:
            for name, value in ctx.params.items():
                if isinstance(value, Address):
                    ctx.params[name] = listed(str(value))
            return super().invoke(ctx)
        except BoardError as error:
            code = ExitCode.CANNOT if isinstance(error, _NOTHING_DONE) else ExitCode.FAILED
            more = {"suggested_mapping": error.suggested_mapping} if isinstance(error, NothingRead) else {}
            raise Failure(_naming(run, error), code, run, more) from error
        except ModuleNotFoundError as error:
            raise Failure(missing_library(error, f"`{self.name}`"), ExitCode.CANNOT, run) from error
        except OSError as error:
            raise Failure(_of_the_disk(error), ExitCode.FAILED, run) from error

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence of the help, whole: the list of commands wraps it."""
        return (self.help or "").split("\n\n")[0].replace("\n", " ").strip()


class Commands(click.Group):
    """The commands; ends the process with a code of the table, and says why on standard error, or as JSON with `--json`.

    Arguments that begin with no command and none of the group's own options are those of the command called `default`; `earlier` are
    commands of former versions, each with the words that stand for it now.
    """

    def __init__(self, *args: Any, default: str, earlier: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._default, self._earlier = default, earlier

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **others: Any,
    ) -> Any:
        """Run a command as click does, then end the process as the table says."""
        given = sys.argv[1:] if args is None else list(args)
        if given and given[0] in self._earlier:
            given = [*self._earlier[given[0]], *given[1:]]
        if not given or given[0] not in {*self.commands, *self._own_options()}:
            given = [self._default, *given]
        run: Callable[[], Any] = partial(super().main, given, prog_name, complete_var, standalone_mode=False, **others)
        if not standalone_mode:
            return run()
        try:
            _run(run, as_json="--json" in given)
        except OSError as error:  # of standard error, or while a failure was printed
            _let_go()
            if isinstance(error, BrokenPipeError):
                sys.exit(ExitCode.UNREAD)
            with suppress(OSError):
                click.echo(f"Error: {_of_the_disk(error)}", err=True)
            sys.exit(ExitCode.FAILED)

    def _own_options(self) -> set[str]:
        """What the group itself answers to: its help and its version."""
        return {name for one in self.get_params(click.Context(self, **self.context_settings)) for name in one.opts}


def _run(command: Callable[[], Any], *, as_json: bool) -> NoReturn:
    """Run a command and end the process. Raises OSError where it cannot be said why it failed."""
    try:
        ended = command()
    except click.ClickException as failure:
        _end_where_unread(failure)
        _end(failure, as_json)
    except click.exceptions.Abort:
        sys.exit(ExitCode.STOPPED)
    except SystemExit as ended_by_click:  # as where it printed a help into such a pipe
        _end_where_unread(BrokenPipeError() if _is_unread() else ended_by_click)
        raise
    if not _flushed():  # before Python does, which would end with a code of its own
        sys.exit(ExitCode.FAILED)
    sys.exit(ended if isinstance(ended, int) else ExitCode.DONE)


def _end_where_unread(error: BaseException | None) -> None:
    """End without a word where this came of a pipe that is not read any more: who closed it has seen enough.

    What a command itself has to say of it, such as `push` of what was not pushed, is said.
    """
    while error is not None and not isinstance(error, BoardError):
        if isinstance(error, BrokenPipeError) and _is_unread():
            _let_go()
            sys.exit(ExitCode.UNREAD)
        error = error.__cause__ or error.__context__


def _is_unread() -> bool:
    """Whether standard output is a pipe whose reader has gone."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(events & select.POLLERR for _, events in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # it is closed, or no file
        return False


def _naming(run: str | None, error: BoardError) -> str:
    """The message; one on a folder that cannot be opened stands behind the path that was given, where it does not name it."""
    said = error.sentence if isinstance(error, NothingRead) else str(error)
    unnamed = run is not None and isinstance(error, RunNotFound) and run not in said
    return f"{run}: {said}" if unnamed else said


def _of_the_disk(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{encodable(os.fsdecode(error.filename))}: {reason}" if error.filename else reason


def _end(failure: click.ClickException, as_json: bool) -> NoReturn:
    _flushed()
    own = failure if isinstance(failure, Failure) else None
    code, run, more = (own.code, own.run, own.more) if own else (failure.exit_code, None, {})
    if as_json:
        shape = {"version": VERSION, "run": run, "error": failure.format_message(), "exit_code": code, **more}
        click.echo(json.dumps(shape, indent=2))
    else:
        context = getattr(failure, "ctx", None)
        if context is not None:  # a usage error: how the command is called
            click.echo(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n", err=True)
        texts = [text for text in more.values() if text]
        click.echo("\n\n".join([f"Error: {printable(failure.format_message())}", *map(printable, texts)]), err=True)
    sys.exit(code)


def _flushed() -> bool:
    """Write out what standard output still holds; where that fails, drop it, as it would fail once more as Python ends."""
    if sys.stdout is None:  # it was closed before the command began
        return True
    try:
        sys.stdout.flush()
    except OSError as error:
        _end_where_unread(error)
        _let_go()
        return False
    return True


def _let_go() -> None:
    """Send what is still to be printed nowhere: Python tries once more as it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (AttributeError, ValueError):  # it was closed before the command began
            continue


def exit_codes() -> str:
    """The table for `--help`; click leaves a paragraph that begins with \\b as it is."""
    lines = (textwrap.fill(code.meaning, 76, initial_indent=f"{code.value:>5}  ", subsequent_indent=" " * 7) for code in ExitCode)
    return "\n".join(["\b", "Exit status:", *lines])
