"""The command `rl-logging-board`, also `python -m board`: reads arguments, prints, chooses exit codes.

The only module that prints. Imports what does the work only when a command runs, so `--help` is instant.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from board import __version__
from board.errors import BoardError

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


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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
@TOKENIZER
@MAPPING
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ROOT]")
def serve(
    host: str | None,
    port: str | None,
    token: bool | None,
    allow_host: tuple[str, ...],
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
    for name, file in (("RL_BOARD_TOKENIZER", tokenizer), ("RL_BOARD_MAPPING", mapping)):
        if file:
            os.environ[name] = str(file.resolve())
    if port is not None:
        options = ["--server.port", port, *options]
    if host is not None:
        options = ["--server.address", host, *options]

    from board import server

    try:
        settings = server.parsed_options(options)
    except BoardError as error:
        raise click.UsageError(str(error)) from error
    try:
        server.serve(root, _announce, settings, token=token, allow_hosts=allow_host)
    except BoardError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo("Stopped.")


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
    from board import convert as converting
    from board.rollouts import open_run

    try:
        opened = open_run(run, tokenizer=tokenizer, mapping=mapping)
        written = converting.convert(opened, out, "parquet" if target == "parquet" else "jsonl")
    except BoardError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{len(opened.frame):,} rollouts in {len(written):,} files under {out}")
    for problem in opened.report.problems[:5]:
        click.echo(f"  {problem}", err=True)
    if opened.report.refused:
        click.echo(f"{opened.report.refused:,} lines or files could not be read and are not in it.", err=True)
        raise click.exceptions.Exit(1)


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
    help="From which severity on a finding makes the exit status 1.",
)
def check(run: Path, as_json: bool, fail_on: Literal["error", "warning"], tokenizer: Path | None, mapping: Path | None) -> None:
    """Examine the folder RUN: are its numbers what its trainer meant to write?

    The exit status is 0, or 1 with a finding of that severity, or 2 when the run cannot be opened.
    """
    from board.doctor import wording
    from board.doctor.checks import examine
    from board.rollouts import open_run

    try:
        diagnosis = examine(open_run(run, tokenizer=tokenizer, mapping=mapping))
    except BoardError as error:
        click.echo(f"Error: {wording.printable(str(error))}", err=True)
        raise click.exceptions.Exit(2) from error
    click.echo(wording.as_json(diagnosis, str(run)) if as_json else wording.as_text(diagnosis))
    raise click.exceptions.Exit(int(diagnosis.reaches(fail_on)))


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
    root = Path(places[0] if places else "rollout_samples").expanduser().resolve()
    if not root.is_dir():
        raise click.UsageError(f"ROOT is not a folder: {root}")
    return root


def _announce(address: str) -> None:
    click.echo(f"\n  RL Logging Board: {address}\n\n  Stop with Ctrl+C.")
