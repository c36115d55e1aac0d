"""What lies among the runs and is not opened is told: links that lead out of the root, and folders that may not be read."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rows import row, write_run

from board.runs.library import list_runs, not_opened


def test_a_link_out_of_the_root_is_told(tmp_path: Path) -> None:
    """A run folder that is a link to elsewhere is no run, and is named with the way to open it; a link within the root is not."""
    write_run(tmp_path / "elsewhere/run", {"a.jsonl": [row()]})
    write_run(tmp_path / "root/own", {"a.jsonl": [row()]})
    (tmp_path / "root/linked").symlink_to(tmp_path / "elsewhere/run")
    (tmp_path / "root/latest").symlink_to("own")
    write_run(tmp_path / "root/exp/one", {"a.jsonl": [row()]})
    (tmp_path / "root/empty").mkdir()
    for deeper in ("exp", "empty"):
        (tmp_path / "root" / deeper / "linked").symlink_to(tmp_path / "elsewhere/run")

    told = not_opened(tmp_path / "root", list_runs(tmp_path / "root"))

    assert [one.partition(" is a link")[0] for one in told] == ["empty/linked", "exp/linked", "linked"]
    assert all("serve the folder it leads to" in one for one in told)
    assert [one.name for one in list_runs(tmp_path / "root") if one.shards] == ["exp", "exp/one", "own"]


LISTED = """
import json, os, sys
from pathlib import Path
from board.runs import library
root = Path(sys.argv[1])
library.list_runs(root)  # imports what it needs: another user may not read that
if os.geteuid() == 0:
    os.setuid(65534)
runs = library.list_runs(root)
print(json.dumps([[one.name for one in runs], library.not_opened(root, runs)]))
"""


def test_a_folder_that_may_not_be_read_is_told() -> None:
    """Of somebody else's folder among the runs the list says so, and has all others; a link into it is none of them."""
    with TemporaryDirectory() as folder:  # pytest's own is closed to other users
        root = Path(folder, "root")
        write_run(root / "run", {"a.jsonl": [row()]})
        for path in (Path(folder), root, root / "run"):
            path.chmod(0o755)
        (root / "shut/below").mkdir(parents=True)
        (root / "into").symlink_to("shut/below")
        (root / "shut").chmod(0o700 if os.geteuid() == 0 else 0)
        told = subprocess.run([sys.executable, "-c", LISTED, root], capture_output=True, text=True, check=True).stdout
        (root / "shut").chmod(0o700)

    assert json.loads(told) == [["run"], ["shut is a folder that may not be read here, and is not opened."]]
