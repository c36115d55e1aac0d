"""The command `mcp`: serve the runs under a folder to agents."""

from pathlib import Path

import click

from board.cli.endings import Command
from board.cli.options import PADS, RunPlace, name_pads


@click.command(cls=Command)
@PADS
@click.argument("root", type=RunPlace(folder=True))
def mcp(root: Path, extra_pads: tuple[str, ...]) -> None:
    """Serve the runs under the folder ROOT to an agent by the Model Context Protocol, over standard input and output; reads only."""
    from board.cli.mcp_server import serve

    name_pads(extra_pads)
    serve(root)
