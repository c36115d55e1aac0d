"""The command `index`: make a run into a folder, or a prefix of a store, that opens without its shards."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import click

from board.cli.endings import Command, ExitCode
from board.cli.options import READING
from board.cli.printing import Ticker, say
from board.text.counting import plural
from board.text.path_names import shown

if TYPE_CHECKING:
    from board.cli.indexing.building import IndexProgress, IndexResult
    from board.cli.indexing.engines import Engine


@click.command(cls=Command)
@READING
@click.argument("run", metavar="LOCATION")
@click.option("--out", "folder", required=True, metavar="DEST", help="Folder of the index, or an address: s3://, gs://, ssh://.")
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Who parses: processes of this machine, or tasks of a Ray cluster, whose machines must all see what is a folder of LOCATION and DEST.",
)
@click.option(
    "--address", metavar="ADDRESS", help="Of the Ray cluster, as ray.init takes it; without it Ray starts on this machine."
)
@click.option("--workers", type=click.IntRange(1), help="Processes with --engine local: one for each processor unless given.")
@click.option("--family", default="", metavar="TRAINER", help="Of a folder with a recording and a trainer's own dump: the dump.")
@click.option(
    "--verify",
    is_flag=True,
    help="Read all of what is there against its checksums before it is used, not only the sizes and ends of its files.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object, for scripts; progress as JSON, a line each, on standard error.",
)
def index(
    run: str,
    folder: str,
    engine: Literal["local", "ray"],
    address: str | None,
    workers: int | None,
    family: str,
    verify: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Parse the run at LOCATION into an index at DEST, which the board opens directly: `serve DEST`.

    Both are folders, or addresses such as s3://bucket/run.
    Run it again to go on after a stop, and whenever the run has grown: only shards that are new or have changed are parsed.
    """
    from board.cli.indexing import building, target

    latest: list[IndexProgress] = []
    ticker = Ticker(lambda: json.dumps(asdict(latest[-1])) if as_json else latest[-1].words())

    def tell(progress: "IndexProgress") -> None:
        latest[:] = [progress]
        ticker()

    chosen = _engine(engine, address, workers)
    with target.opened(run, folder, **reading, family=family, wait=lambda line: say(line, err=True)) as goal:
        result = building.build(goal, chosen, tell, verify=verify)
    say(json.dumps(_as_json(result, run, folder), indent=2) if as_json else _as_text(result, folder))
    raise click.exceptions.Exit(ExitCode.FAULTS if result.has_faults else ExitCode.DONE)


def _engine(name: Literal["local", "ray"], address: str | None, workers: int | None) -> "Engine":
    if name == "local":
        if address:
            raise click.UsageError("--address is of a Ray cluster: give --engine ray with it.")
        from board.cli.indexing.engines import LocalEngine

        return LocalEngine(workers)
    if workers:
        raise click.UsageError("--workers is of --engine local: a Ray cluster has as many as it has processors.")
    from board.cli.indexing.engines import RayEngine

    return RayEngine(address)


def _as_text(result: "IndexResult", folder: str) -> str:
    said = [
        f"{plural(result.rollouts, 'rollout')} of {plural(result.shards, 'shard')} ({result.bytes / 1e6:,.1f} MB) in {shown(folder)}",
        f"  {plural(result.parsed, 'source')} parsed, {result.kept:,} reused, {result.mended:,} mended in {result.seconds:.1f} s; "
        f"{plural(result.bad_lines, 'bad line')}",
    ]
    if result.gone:
        said.append(
            f"  {plural(len(result.gone), 'source')} no longer in the run, and gone from the index: {', '.join(result.gone[:3])}"
        )
    said += [f"  FAILED {name}: {reason}" for name, reason in result.failed.items()]
    return "\n".join(said)


def _as_json(result: "IndexResult", run: str, folder: str) -> dict[str, object]:
    return {
        "version": 2,
        "run": shown(run),
        "index": shown(folder),
        "complete": not result.failed,
        **asdict(result),
    }
