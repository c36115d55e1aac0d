"""Tests of where runs lie: an address becomes a folder, a folder of this machine is itself, and loads nothing that reads elsewhere."""

import json
import subprocess
import sys
from pathlib import Path

from range_server import range_server
from rows import row, write_run

from board.sources import locations

REPOSITORY = Path(__file__).parents[2]

CLIENT = """
import json, sys
from board import open_run
from board.runs.library import Library, current_fingerprint, list_runs
folder = __import__("pathlib").Path(sys.argv[1])
run = open_run(sys.argv[1])
assert list_runs(folder) and current_fingerprint(folder, folder) == run.fingerprint and run.name == "run"
print(json.dumps([name for name in sys.modules if name.startswith("board.sources.remote.") or name in ("fsspec", "aiohttp", "s3fs")]))
"""


def test_a_folder_of_this_machine_does_not_pass_what_reads_elsewhere(tmp_path: Path) -> None:
    """Opened, listed and looked at: of `board.sources.remote` only what tells addresses and paths apart, and names of troubles, is loaded."""
    run = write_run(tmp_path / "run", {"rank_0.jsonl": [row(1)]})
    loaded = subprocess.run([sys.executable, "-c", CLIENT, str(run)], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert {*json.loads(loaded.stdout)} <= {f"board.sources.remote.{name}" for name in ("addresses", "places", "object_store")}


def test_an_address_is_the_folder_that_stands_for_it(tmp_path: Path) -> None:
    """Which is shown as the address, and a whole store by the name of its host."""
    write_run(tmp_path / "run", {"rank_0.jsonl": [row(1)]})
    with range_server(tmp_path) as web:
        folder = locations.folder_of(f"{web.address}/run")
        assert locations.shown_place(folder) == f"{web.address}/run"
        assert locations.shown_name(folder) == "run"
        assert locations.shown_name(folder.parent) == f"127.0.0.1:{web.port}"
        assert locations.folder_unlisted(f"{web.address}/run") == folder
