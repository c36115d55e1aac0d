"""The command `cache`: what lies in the cache, and how it is emptied. Knows only what is printed of it."""

import json
import time
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
    from board.runs import cache_care
    from board.text.counting import plural
    from board.text.format_number import size
    from board.user_files import user_folders

    root, most = user_folders.cache(), cache_care.most_bytes()
    before = cache_care.size_of(root)
    if clean:
        cache_care.empty(root)
    held, total = cache_care.runs(root), cache_care.size_of(root)
    if as_json:
        listed = [
            {
                "run": None if one.location is None else str(one.location),
                "folder": str(one.folder),
                "bytes": one.bytes,
                "opened": datetime.fromtimestamp(one.used).astimezone().isoformat(timespec="seconds"),
                "this_version": one.is_current,
                "gone": one.is_gone,
            }
            for one in held
        ]
        say(json.dumps({"cache": str(root), "bytes": total, "removed": before - total, "most_bytes": most, "runs": listed}))
        return
    for one in held[:_LISTED]:
        notes = [] if one.is_current else ["of another version"]
        notes += ["gone"] if one.is_gone else []
        opened = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.used))
        say("  ".join([f"{size(one.bytes):>8}", opened, str(one.location or one.folder), *(f"({note})" for note in notes)]))
    if len(held) > _LISTED:
        rest = held[_LISTED:]
        say(f"{size(sum(one.bytes for one in rest)):>8}  {plural(len(rest), 'more run')}, opened before: --json lists them.")
    if clean:
        say(f"Removed {size(before - total)}.")
    say(
        f"{root}: {size(total)} of at most {size(most)} in {plural(len(held), 'run')}. RL_BOARD_CACHE_BYTES sets how much it may be."
    )
