"""Options and arguments shared by several commands."""

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import click

from board.cli.endings import Command
from board.errors import ArgumentRefused
from board.settings import run_choices
from board.sources.remote import addresses
from board.sources.remote.addresses import Address


class NamedElsewhere(click.Choice[str]):
    """A choice of what another module names, which is imported when it is needed: other commands need not load what knows it."""

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        self._names = names
        self.case_sensitive = True

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the choice, for click."""
        return self._names()


class RunPlace(click.ParamType):  # type: ignore[type-arg]  # click 8.2 takes none
    """The folder of a run, or its address: `board.cli.endings.Command` puts the folder in its place that stands for it."""

    name = "run"

    def __init__(self, *, folder: bool = False) -> None:
        """With `folder` a path must be that of a folder that is there."""
        self._folder = folder

    def convert(self, value: str | Path | Address, param: click.Parameter | None, ctx: click.Context | None) -> Path | Address:
        """A path or an address. Fails for an address that cannot be used, without repeating it."""
        if isinstance(value, Path | Address):
            return value
        if not addresses.is_address(value):
            if self._folder and not Path(value).is_dir():
                self.fail(f"{value!r} is no folder.", param, ctx)
            return Path(value)
        try:
            return addresses.parsed(value)
        except ArgumentRefused as error:
            self.fail(str(error), param, ctx)


MAPPING = click.option(
    "--mapping",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_MAPPING",
    help="A TOML file that maps the rollouts' keys to our names; rollouts.toml next to them is found by itself.",
)

TOKENIZER = click.option(
    "--tokenizer",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    envvar="RL_BOARD_TOKENIZER",
    help="A tokenizer.json that makes text of token ids where rollouts have no more; RL_BOARD_TOKENIZER is the same.",
)

PADS = click.option(
    "--pad",
    "extra_pads",
    multiple=True,
    metavar="TOKEN",
    help="One more token that pads, in addition to the common ones and those that are set for the run: its text, or its id. May be repeated.",
)


def name_pads(pads: Sequence[str]) -> None:
    """Have all runs that this process and its children open read with these pads, too."""
    os.environ[run_choices.PADS_VARIABLE] = "".join(f"{pad}\n" for pad in (*run_choices.pads_of_all(), *pads))


def READING(command: Callable[..., None]) -> Callable[..., None]:  # noqa: N802  # a decorator as the others here
    """How a run is read: the options whose values `open_run` takes by the same names."""
    return TOKENIZER(MAPPING(PADS(command)))


SCALARS = click.option(
    "--scalars",
    type=click.Path(path_type=Path, exists=True),
    envvar="RL_BOARD_SCALARS",
    help="What a tracker logged: its file or folder, or a folder of them by the runs' names. Next to the runs it is found by itself.",
)

WHERE = click.option(
    "--where",
    metavar="CONDITION",
    help='Only rollouts that satisfy this condition in SQL, such as "reward > 0.5 AND step >= 100"; as the pages\' filter.',
)

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")


def of_run(command: Callable[..., None]) -> click.Command:
    """A command on one run, whose answer may be JSON."""
    return click.command(cls=Command)(READING(AS_JSON(click.argument("run", type=RunPlace())(command))))
