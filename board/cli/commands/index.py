"""The command `index`: a run made into a folder, or a prefix of a store, that opens without its shards.

Knows which run, where to, by whom, and what to say of it.
"""

import json
from typing import TYPE_CHECKING, Any, Literal

import click

from board.cli.endings import Command, ExitCode
from board.cli.options import READING
from board.cli.printing import Ticker, say
from board.text.counting import plural
from board.text.path_names import shown

if TYPE_CHECKING:
    from board.indexing.engine import Engine
    from board.indexing.job import IndexResult
    from board.indexing.progress import IndexProgress


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
    "--verify/--no-verify",
    default=None,
    help="Read what is there against its checksums before it is kept: unless declined in a folder, if asked for in a store.",
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
    verify: bool | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Parse the run at LOCATION into an index at DEST, which the board opens directly: `serve DEST`.

    Both are folders, or addresses such as s3://bucket/run.
    Run it again to go on after a stop, and whenever the run has grown: what is there is verified and kept, only what is new is parsed.
    """
    from board.indexing import making, target

    latest: list[IndexProgress] = []
    ticker = Ticker(lambda: json.dumps(latest[-1].as_json()) if as_json else latest[-1].words())

    def tell(progress: "IndexProgress") -> None:
        latest[:] = [progress]
        ticker()

    chosen = _engine(engine, address, workers)
    with target.opened(run, folder, **reading, family=family, wait=lambda told: say(told, err=True)) as goal:
        result = making.make(goal, chosen, tell, verify=verify)
    say(json.dumps(_as_json(result, run, folder), indent=2) if as_json else _as_text(result, folder))
    raise click.exceptions.Exit(ExitCode.FAULTS if result.has_faults else ExitCode.DONE)


def _engine(name: Literal["local", "ray"], address: str | None, workers: int | None) -> "Engine":
    if name == "local":
        if address:
            raise click.UsageError("--address is of a Ray cluster: give --engine ray with it.")
        from board.indexing.local_engine import LocalEngine

        return LocalEngine(workers)
    if workers:
        raise click.UsageError("--workers is of --engine local: a Ray cluster has as many as it has processors.")
    from board.indexing.ray_engine import RayEngine

    return RayEngine(address)


def _as_text(result: "IndexResult", folder: str) -> str:
    said = [
        f"{plural(result.rollouts, 'rollout')} of {plural(result.shards, 'shard')} ({result.bytes / 1e6:,.1f} MB) in {shown(folder)}",
        f"  {plural(result.ranges_parsed, 'range')} parsed, {result.ranges_kept:,} kept, {result.ranges_mended:,} mended "
        f"in {result.seconds:.1f} s; {plural(result.bad_lines, 'bad line')}",
    ]
    if result.progress and result.progress.slowest:
        slow = result.progress.slowest
        said.append(f"  slowest shard: {slow.name} ({slow.seconds:.1f} s of work for {slow.bytes / 1e6:,.1f} MB)")
    if result.shards_gone:
        gone = ", ".join(result.shards_gone[:3])
        said.append(f"  {plural(len(result.shards_gone), 'shard')} of the index no longer in the run, and gone from it: {gone}")
    if result.shards_changed:
        changed = ", ".join(result.shards_changed[:3])
        said.append(f"  {plural(len(result.shards_changed), 'shard')} changed while it was read, and looked at again: {changed}")
    said += [f"  FAILED {failed}" for failed in result.failed]
    return "\n".join(said)


def _as_json(result: "IndexResult", run: str, folder: str) -> dict[str, object]:
    return {
        "version": 1,
        "run": shown(run),
        "index": shown(folder),
        "complete": not result.failed,
        "shards": result.shards,
        "rollouts": result.rollouts,
        "bytes": result.bytes,
        "ranges": {"parsed": result.ranges_parsed, "kept": result.ranges_kept, "mended": result.ranges_mended},
        "shards_gone": result.shards_gone,
        "shards_changed": result.shards_changed,
        "bad_lines": result.bad_lines,
        "failed": [{"shard": one.shard, "start": one.start, "stop": one.stop, "reason": one.reason} for one in result.failed],
        "seconds": result.seconds,
        "seconds_without_workers": result.seconds_alone,
        "progress": result.progress.as_json() if result.progress else None,
    }
