"""The command `rl-logging-board`, also `python -m board`: the group of the commands in `board.cli.commands`, which it finds there.

A command imports what does the work only when it runs, so `--help` is instant.
"""

from importlib import import_module
from pkgutil import iter_modules

import click

from board import __version__
from board.cli import commands
from board.cli.endings import Commands, exit_codes


@click.group(
    cls=Commands,
    default="serve",
    earlier={"convert": ("export", "--layout", "run")},
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=exit_codes(),
)
@click.version_option(__version__, prog_name="rl-logging-board")
def main() -> None:
    """See what a training run wrote, token by token. Without a command it serves: `rl-logging-board ROOT`."""


for module in iter_modules(commands.__path__):
    for found in vars(import_module(f"{commands.__name__}.{module.name}")).values():
        if isinstance(found, click.Command):
            main.add_command(found)
