"""The command `mcp`: a server for agents over the runs under a folder. Knows only which folder."""

from pathlib import Path

import click

from board.cli.endings import Command
from board.cli.options import RunPlace


@click.command(cls=Command)
@click.argument("root", type=RunPlace(folder=True))
def mcp(root: Path) -> None:
    """Serve the runs under the folder ROOT to an agent by the Model Context Protocol, over standard input and output; reads only."""
    from board.agents.server import serve

    serve(root)
