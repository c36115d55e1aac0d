"""Folders of a process: gone with what they are for, and, of a process that was killed, when the next comes by."""

import os
import subprocess
import sys
from pathlib import Path

from board.user_files import folders_for_a_while

REPOSITORY = Path(__file__).parents[2]

HOLD = """
import sys
from pathlib import Path
from board.user_files import folders_for_a_while
with folders_for_a_while.made(Path(sys.argv[1]), Path(sys.argv[1]), "kind") as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_folder_goes_when_its_process_has(tmp_path: Path) -> None:
    """That of a process that is there stays, that of a killed one is removed, and one's own is for this user alone."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        other = Path(process.stdout.readline().strip())
        with folders_for_a_while.made(tmp_path, tmp_path, "kind") as folder:
            assert (folder.parent, folder.stat().st_mode & 0o077, other.is_dir()) == (tmp_path, 0, True)
        assert not folder.exists()
        process.kill()
    with folders_for_a_while.made(tmp_path, tmp_path, "kind") as folder:
        assert [path for path in tmp_path.iterdir() if path.is_dir()] == [folder]

    assert [*tmp_path.iterdir()] == []
