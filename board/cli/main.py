"""The command `rl-logging-board`, also `python -m board`: reads arguments, prints, chooses exit codes.

The only module that prints. Imports what does the work only when a command runs, so `--help` is instant.
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import click

from board import __version__
from board.cli.endings import Commands, ExitCode, exit_codes
from board.errors import BoardError
from board.text.path_names import shown

MAPPING = click.option(
    "--mapping",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_MAPPING",
    help="A TOML file that maps the rollouts' keys to our names; rollouts.toml beside them is found by itself.",
)

TOKENIZER = click.option(
    "--tokenizer",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_TOKENIZER",
    help="A tokenizer.json that makes text of token ids where rollouts have no more; RL_BOARD_TOKENIZER is the same.",
)


TRACKERS: Final = ("tensorboard", "wandb", "swanlab", "trackio", "mlflow", "stdout")
DIALECTS: Final = ("board", "roll", "trl", "trl-grpo", "re-grpo", "verl")
"""Named here as well, so that `--help` need not load what knows them."""

TICK_SECONDS: Final = 2.0
"""How often progress is said."""


def _say(text: str, *, err: bool = False) -> None:
    """Print; whatever a run is named, or says, cannot command the terminal."""
    from board.text.terminal import printable

    click.echo(printable(text), err=err)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=exit_codes())
@click.version_option(__version__, prog_name="rl-logging-board")
def main() -> None:
    """See what a training run wrote, token by token."""


@main.command(context_settings={"ignore_unknown_options": True}, options_metavar="[OPTIONS] [--SECTION.OPTION VALUE]...")
@click.option("--host", metavar="ADDRESS", help="Where to listen: 127.0.0.1 unless given; 0.0.0.0 for every interface.")
@click.option("--port", metavar="PORT", help="8901 unless given; 0 for any that is free.")
@click.option(
    "--token/--no-token",
    default=None,
    help="Ask for a token, which the printed link carries. On wherever other machines can reach the board.",
)
@click.option(
    "--allow-host",
    metavar="NAME",
    multiple=True,
    help="One more name the board is reached by; '*' for any (with a token only). May be repeated.",
)
@click.option(
    "--scalars",
    type=click.Path(path_type=Path, exists=True),
    envvar="RL_BOARD_SCALARS",
    help="What a tracker logged: its file or folder, or a folder of them by the runs' names. Beside the runs it is found by itself.",
)
@TOKENIZER
@MAPPING
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ROOT]")
def serve(
    host: str | None,
    port: str | None,
    token: bool | None,
    allow_host: tuple[str, ...],
    scalars: Path | None,
    tokenizer: Path | None,
    mapping: Path | None,
    arguments: tuple[str, ...],
) -> None:
    """Serve the runs under the folder ROOT (rollout_samples unless given).

    ROOT holds one folder per run, or is itself a run. Nothing outside of it can be read.

    Streamlit's own options follow as --SECTION.OPTION VALUE, for example --theme.base dark.

    On a machine with other users give --token: without it, all of them can open an address on loopback.
    """
    places, options = split_arguments(arguments)
    root = _root(places)
    for name, file in (("RL_BOARD_TOKENIZER", tokenizer), ("RL_BOARD_MAPPING", mapping), ("RL_BOARD_SCALARS", scalars)):
        if file:
            os.environ[name] = str(file.resolve())
    if port is not None:
        options = ["--server.port", port, *options]
    if host is not None:
        options = ["--server.address", host, *options]

    from board.serving import app

    try:
        settings = app.parsed_options(options)
    except BoardError as error:
        raise click.UsageError(str(error)) from error
    try:
        app.serve(root, _announce, settings, token=token, allow_hosts=allow_host)
    except KeyboardInterrupt:
        _say("Stopped.")


@main.command()
@TOKENIZER
@MAPPING
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--to", "target", type=click.Choice(["jsonl", "parquet"]), default="jsonl", show_default=True, help="What to write."
)
def convert(run: Path, out: Path, target: str, tokenizer: Path | None, mapping: Path | None) -> None:
    """Write the rollouts of the folder RUN, whatever trainer's they are, as the board's own rows into the folder OUT."""
    from board.runs import convert as converting
    from board.runs.run import open_run
    from board.text.terminal import on_one_line

    opened = open_run(run, tokenizer=tokenizer, mapping=mapping)
    written = converting.convert(opened, out, "parquet" if target == "parquet" else "jsonl")
    _say(f"{len(opened.frame):,} rollouts in {len(written):,} files under {shown(out)}")
    for problem in opened.report.problems[:5]:
        _say(f"  {on_one_line(str(problem))}", err=True)
    if opened.report.refused:
        _say(f"{opened.report.refused:,} lines or files could not be read and are not in it.", err=True)
        raise click.exceptions.Exit(ExitCode.FAULTS)


@main.command()
@TOKENIZER
@MAPPING
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help=f"From which severity on a finding makes the exit status {ExitCode.FAULTS.value}.",
)
def check(run: Path, as_json: bool, fail_on: Literal["error", "warning"], tokenizer: Path | None, mapping: Path | None) -> None:
    """Examine the folder RUN: are its numbers what its trainer meant to write?"""
    from board.checks import messages
    from board.checks.all_checks import run_checks
    from board.runs.run import open_run

    checked = run_checks(open_run(run, tokenizer=tokenizer, mapping=mapping))
    _say(messages.as_json(checked, shown(run)) if as_json else messages.as_text(checked))
    raise click.exceptions.Exit(ExitCode.FAULTS if checked.reaches(fail_on) else ExitCode.DONE)


@main.command()
@TOKENIZER
@MAPPING
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--to", "tracker", type=click.Choice(TRACKERS), required=True, help="The tracker to push to.")
@click.option(
    "--names",
    type=click.Choice(DIALECTS),
    default="board",
    show_default=True,
    help="Whose names metrics get: those a trainer has one for; the rest stay board/<key>, as all do with board.",
)
@click.option("--follow", is_flag=True, help="Go on while the run grows, until Ctrl+C.")
@click.option("--again", is_flag=True, help="Forget what was pushed before, and begin anew.")
@click.option(
    "--resume", is_flag=True, help="With stdout: print only what an earlier call with --resume did not; trackers always go on."
)
@click.option("--log-dir", metavar="FOLDER", help="Where the tracker writes; board_metrics for tensorboard unless given.")
@click.option("--project", metavar="NAME", help="The project at wandb, swanlab or trackio, the experiment at mlflow.")
@click.option("--name", default="", metavar="NAME", help="What the run is called there; its folder's name unless given.")
@click.option("--mode", metavar="MODE", help="As wandb and swanlab know it: offline, for one.")
@click.option("--format", "layout", type=click.Choice(["table", "jsonl"]), help="How stdout is written; a table unless given.")
@click.option("--board-url", default="", metavar="URL", help="Where the board runs, so that what is shown links to it.")
@click.option("--examples/--no-examples", "shown", default=True, help="Example rollouts and findings beside the numbers; on.")
@click.option("--seed", default=0, show_default=True, help="By which the random example of each step is drawn.")
@click.option(
    "--quiet",
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="After so long without a new row, a step that nothing follows is taken to be complete.",
)
def push(
    run: Path,
    tracker: str,
    log_dir: str | None,
    project: str | None,
    mode: str | None,
    layout: str | None,
    tokenizer: Path | None,
    mapping: Path | None,
    **how: Any,
) -> None:
    """Push what the board computes of the run in the folder RUN to a tracker, step by step.

    Beside each step's numbers go its best, its worst and a random rollout as text, and what stands out in the run.

    No step is pushed twice, also after a kill: what was pushed is noted in the user's state folder (RL_BOARD_STATE), for each tracker,
    place and names apart, and a step counts once the tracker has it. Standard output gets all steps each time, unless --resume is given.
    Steps go forward only: one that comes to light behind the last one pushed is not pushed.

    A step that may still be being written is held back until every shard that grows has come to a later one, its recorder says that
    it has ended, or nothing was written for some seconds (--quiet). Rows that come later still are not in its numbers.

    Progress and the summary go to standard error. What had not arrived when a push failed is pushed the next time.
    """
    from board import push as pushing
    from board.push import messages

    asked = {"log_dir": log_dir, "project": project, "mode": mode, "format": layout}
    try:
        target = pushing.target(tracker, asked)
    except BoardError as error:
        raise click.UsageError(str(error)) from error
    request = pushing.Request(run, target, reading={"tokenizer": tokenizer, "mapping": mapping}, **how)
    done = pushing.Pushed()
    try:
        pushing.push(request, done, _Ticker(lambda: messages.progress(done)))
    except BoardError as error:
        error.args = (messages.failure(error, done, request),)
        raise
    except KeyboardInterrupt:
        _say(messages.summary(done, request), err=True)
        raise click.exceptions.Exit(ExitCode.DONE if request.follow else ExitCode.STOPPED) from None
    _say(messages.summary(done, request), err=True)


class _Ticker:
    """Says on standard error how far something is, but not more often than it can be read."""

    def __init__(self, say: Callable[[], str]) -> None:
        self._say = say
        self._next = time.monotonic() + TICK_SECONDS

    def __call__(self) -> None:
        """Say it, if it is time."""
        if time.monotonic() >= self._next:
            _say(self._say(), err=True)
            self._next = time.monotonic() + TICK_SECONDS


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Places, and Streamlit's options with their values; raises UsageError for anything else that looks like an option.

    An option of Streamlit has a dot in its name and always takes a value, which is how `dark` in `--theme.base dark` is no place.
    """
    places: list[str] = []
    options: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, _ = argument.partition("=")
        if not argument.startswith("-"):
            places.append(argument)
        elif not (argument.startswith("--") and "." in name):
            raise click.NoSuchOption(name)
        elif equals:
            options.append(argument)
        elif (value := next(rest, None)) is None:
            raise click.UsageError(f"Option {name} needs a value.")
        else:
            options += [name, value]
    return places, options


def _root(places: Sequence[str]) -> Path:
    if len(places) > 1:
        raise click.UsageError(f"Give one ROOT, not {len(places)}: {', '.join(places)}.")
    given = places[0] if places else "rollout_samples"
    root = Path(given).expanduser().resolve()
    if not root.is_dir():
        raise click.UsageError(f"ROOT is not a folder: {given}")
    return root


def _announce(address: str) -> None:
    _say(f"\n  RL Logging Board: {address}\n\n  Stop with Ctrl+C.")
