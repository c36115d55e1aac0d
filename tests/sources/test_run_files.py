"""board.sources.run_files: what may be opened, and what is said of everything else."""

import contextlib
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from board.sources import run_files


def link_to_a_pipe(path: Path) -> None:
    """A pipe beside the path, and the link that leads there."""
    os.mkfifo(path.with_name("end"))
    path.symlink_to("end")


def special(kind: str, path: Path) -> Path:
    """Something that is no file of the run, at a path under the folder `root`."""
    outside = path.parent / "outside"
    outside.write_bytes(b"secret")
    makers: dict[str, Callable[[], object]] = {
        "pipe": lambda: os.mkfifo(path),
        "socket": lambda: socket.socket(socket.AF_UNIX).bind(os.fspath(path)),
        "link to a device": lambda: path.symlink_to("/dev/zero"),
        "link to a pipe": lambda: link_to_a_pipe(path),
        "folder": lambda: path.mkdir(),
        "link to itself": lambda: path.symlink_to(path.name),
        "nothing": lambda: None,
        "link to nothing": lambda: path.symlink_to("missing"),
        "large": lambda: os.truncate(path, 1 << 40) if not path.write_bytes(b"") else None,
    }
    makers[kind]()
    return path


REFUSED = {
    "pipe": "it is a pipe or a device, not a file",
    "socket": "it is a pipe or a device, not a file",
    "link to a device": "it is a pipe or a device, not a file",
    "link to a pipe": "it is a pipe or a device, not a file",
    "folder": "it is a folder, not a file",
    "link to itself": "Too many levels of symbolic links",
    "nothing": "No such file or directory",
    "link to nothing": "No such file or directory",
    "large": "it has 1,099,511,627,776 bytes, and no more than 100 are read",
}


@pytest.mark.parametrize(("kind", "reason"), REFUSED.items(), ids=REFUSED)
def test_only_regular_files_are_opened(tmp_path: Path, kind: str, reason: str) -> None:
    """Whoever asks, whole, as a stream or before a library does, is told the reason and waits for nothing."""
    path = special(kind, tmp_path / "file")

    for ask in (
        lambda: run_files.whole(path, most=100),
        lambda: run_files.opened(path, most=100).close(),
        lambda: run_files.check(path, most=100),
    ):
        with pytest.raises(OSError, match=reason):
            ask()


WITHIN = {
    "a file": (lambda root: (root / "a").write_bytes(b"x"), "x"),
    "a link within": (lambda root: ((root / "b").write_bytes(b"x"), (root / "a").symlink_to("b")), "x"),
    "a link out": (lambda root: (root / "a").symlink_to("../outside"), "link to a file outside the root"),
    "an absolute link out": (lambda root: (root / "a").symlink_to("/proc/self/environ"), "link to a file outside the root"),
    "a link to a link out": (
        lambda root: ((root / "b").symlink_to("../outside"), (root / "a").symlink_to("b")),
        "link to a file outside the root",
    ),
}


@pytest.mark.parametrize(("make", "expected"), WITHIN.values(), ids=WITHIN)
def test_links_are_followed_within_the_root_alone(tmp_path: Path, make: Callable[[Path], object], expected: str) -> None:
    """Where the file lies after every link decides; what the reader named is opened wherever it is."""
    (tmp_path / "outside").write_bytes(b"x")
    root = tmp_path / "root"
    root.mkdir()
    make(root)

    if expected == "x":
        assert run_files.whole(root / "a", within=root, most=10) == b"x"
    else:
        with pytest.raises(OSError, match=expected):
            run_files.whole(root / "a", within=root, most=10)
        with run_files.opened(root / "a") as stream:
            assert stream.readable()


def test_a_folder_that_is_a_link_out_of_the_root_is_no_way_in(tmp_path: Path) -> None:
    """Not only the last part of a path may be a link; the root itself may be one."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a").write_bytes(b"x")
    root = tmp_path / "root"
    root.mkdir()
    (root / "folder").symlink_to("../outside")
    (tmp_path / "again").symlink_to("root")
    (root / "own").write_bytes(b"y")

    with pytest.raises(run_files.OutsideRoot):
        run_files.opened(root / "folder/a", within=root)
    assert run_files.whole(tmp_path / "again/own", within=tmp_path / "again", most=10) == b"y"


def test_a_file_that_says_it_is_empty_is_not_read_beyond_its_bound() -> None:
    """Files of /proc have no size and yet bytes: what is read is counted too."""
    with pytest.raises(OSError, match="no more than 10 are read"):
        run_files.whole(Path("/proc/self/status"), most=10)


def test_a_file_beside_others(tmp_path: Path) -> None:
    """Is told of as by itself: a plain one, a link within and out of the root, a pipe, and one that is not there."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "plain").write_bytes(b"12")
    (tmp_path / "secret").write_bytes(b"123")
    (root / "within").symlink_to("plain")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "round").symlink_to("round")
    os.mkfifo(root / "pipe")
    for name in ("plain", "within"):
        assert run_files.check_in_folder(root / name, root) == run_files.check(root / name, within=root)
    for name in ("out", "round", "pipe", "none"):
        said = []
        for look in (run_files.check_in_folder, run_files.check):
            with pytest.raises(OSError, match=r".") as refused:
                look(root / name, within=root)
            said.append((type(refused.value), refused.value.errno, refused.value.strerror))
        assert said[0] == said[1]
    (tmp_path / "elsewhere").symlink_to(root)
    assert run_files.is_within(tmp_path / "elsewhere", root)
    assert not run_files.is_within(tmp_path, root)


def test_a_folder_swapped_for_a_link_while_it_is_opened_shows_nothing_of_outside(tmp_path: Path) -> None:
    """Whatever the folder is at the moment of opening, a file outside of the root is never what is read."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder, text in ((root / "sub", b"inside"), (outside, b"outside")):
        folder.mkdir(parents=True)
        (folder / "a").write_bytes(text)
    (root / "link").symlink_to(outside)
    stopping = threading.Event()

    def swap() -> None:
        while not stopping.is_set():
            (root / "sub").rename(root / "aside")
            (root / "link").rename(root / "sub")
            (root / "sub").rename(root / "link")
            (root / "aside").rename(root / "sub")

    swapping = threading.Thread(target=swap)
    swapping.start()
    read = Counter[bytes]()
    try:
        for _ in range(3_000):
            with contextlib.suppress(OSError):
                read[run_files.whole(root / "sub/a", most=100, within=root)] += 1
    finally:
        stopping.set()
        swapping.join()

    assert read[b"inside"]
    assert set(read) == {b"inside"}
