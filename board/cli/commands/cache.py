"""The command `cache`: list what lies in the cache, and empty it."""

import json
from datetime import datetime
from typing import Final

import click

from board.cli.endings import Command
from board.cli.options import AS_JSON
from board.cli.printing import say

_LISTED: Final = 40


@click.command(cls=Command)
@AS_JSON
@click.option("--clean", is_flag=True, help="Empty it. Runs are parsed again when they are opened.")
def cache(as_json: bool, clean: bool) -> None:
    """Say what lies in the cache: each run that was opened, its size, and when it was last.

    `serve` removes from it, when it starts, runs that are gone and those of other versions of the board, and beyond RL_BOARD_CACHE_BYTES
    (20 GB unless set) those that were opened longest ago; never what was opened within a day.
    """
    from board.runs.cache import cache_care
    from board.settings import user_folders
    from board.text.counting import plural
    from board.text.format_number import size
    from board.text.path_names import shown

    root, most = user_folders.cache(), cache_care.most_bytes()
    before = cache_care.size_of(root)
    if clean:
        cache_care.empty(root)
    held, total = cache_care.runs(root), cache_care.size_of(root)
    if as_json:
        listed = [
            {
                "run": None if one.location is None else shown(str(one.location)),
                "folder": shown(str(one.folder)),
                "bytes": one.bytes,
                "opened": time_of(one.used),
                "this_version": one.is_current,
                "gone": one.is_gone,
            }
            for one in held
        ]
        say(json.dumps({"cache": str(root), "bytes": total, "removed": before - total, "most_bytes": most, "runs": listed}))
        return
    for one in held[:_LISTED]:
        notes = ["(of another version)"] * (not one.is_current) + ["(gone)"] * one.is_gone
        opened, place = (time_of(one.used) or "at no time")[:16].replace("T", " "), shown(str(one.location or one.folder))
        say("  ".join([f"{size(one.bytes):>8}", f"{opened:16}", place, *notes]))
    if rest := held[_LISTED:]:
        say(f"{size(sum(one.bytes for one in rest)):>8}  {plural(len(rest), 'more run')}, opened before: --json lists them.")
    if clean:
        say(f"Removed {size(before - total)}.")
    say(f"{root}: {size(total)} of at most {size(most)} in {plural(len(held), 'run')}. RL_BOARD_CACHE_BYTES sets it.")


def time_of(seconds: float) -> str | None:
    """A time of the epoch, as ISO 8601 writes it here; None where no calendar has it."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None
