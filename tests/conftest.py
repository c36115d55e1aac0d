"""What several test files share: a clean machine for every test, and the real server."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from marked import MARKED
from servers import Serve

if TYPE_CHECKING:
    from s3_server import Bucket

# Where Python may keep nothing that it compiled, every process that a test starts compiles the whole board: half of what it takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile("board", deadline=None, max_examples=20)  # time is for benchmarks/; a test that needs more says so
settings.load_profile("board")

REPOSITORY = Path(__file__).parent.parent
START_SECONDS = 60


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file whose tests `-m` leaves out as a whole is not even imported."""
    left_out = [places for marker, places in MARKED.items() if f"not {marker}" in config.getoption("markexpr")]
    path = collection_path.relative_to(REPOSITORY / "tests") if collection_path.is_relative_to(REPOSITORY / "tests") else Path()
    return True if any(path.is_relative_to(place) for places in left_out for place in places) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set the markers of each folder; the files that take longest go first, so that all workers end at about the same time.

    Of the tests in a browser only a few journeys are quick enough to be run every time: the others are slow.
    """
    for item in items:
        path = item.path.relative_to(REPOSITORY / "tests")
        for marker, places in MARKED.items():
            if any(path.is_relative_to(place) for place in places):
                item.add_marker(marker)
        if item.get_closest_marker("browser") and not item.get_closest_marker("journey"):
            item.add_marker("slow")
    longest = [*MARKED]
    items.sort(
        key=lambda item: min((longest.index(mark.name) for mark in item.iter_markers() if mark.name in longest), default=9)
    )


def pytest_collection_finish() -> None:
    """AppTest looks for components in all that is installed, for half a second each time; here it looks once."""
    if "streamlit.testing.v1" in sys.modules:
        from streamlit.components.v2 import manifest_scanner

        found = cache(manifest_scanner.scan_component_manifests)
        pytest.MonkeyPatch().setattr(manifest_scanner, "scan_component_manifests", found)


@pytest.fixture(autouse=True)
def clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test sees another's cache, this user's home and settings or a root chosen by whoever runs the tests."""
    aside = tmp_path.with_name(f"{tmp_path.name}-home")
    monkeypatch.setenv("HOME", str(aside))
    monkeypatch.setenv("RL_BOARD_CACHE", str(aside / "cache"))
    monkeypatch.setenv("RL_BOARD_FINDINGS", "off")  # a process for each page that a test opens
    for name in ("RL_BOARD_ROOT", "RL_BOARD_SETTINGS", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    # AppTest leaves the script it ran as the main module, and processes that a later test spawns would run it again.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    yield
    if streamlit := sys.modules.get("streamlit"):
        streamlit.cache_data.clear()
        streamlit.cache_resource.clear()


@pytest.fixture
def free_port() -> int:
    """A port of the loopback interface that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Starts the real server in a process of its own, on a free port; it stops with the test."""
    with _servers(tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="module")
def serve_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """The same for fixtures that all tests of a file share: the server stops with the last of them."""
    with _servers(tmp_path_factory) as start:
        yield start


@contextmanager
def _servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    with ExitStack() as stop:

        def start(root: Path | str, *options: str, cwd: Path = REPOSITORY, first: str = "", cached: Sequence[Path] = ()) -> str:
            folder = tmp_path_factory.mktemp("server")
            output = folder / "output.txt"
            env = os.environ | {"HOME": str(folder), "RL_BOARD_CACHE": str(folder / "cache"), "PYTHONPATH": str(REPOSITORY)}
            for run in cached:
                subprocess.run(
                    [sys.executable, "-m", "board", "summary", str(run)], env=env, stdout=subprocess.DEVNULL, check=True
                )
            begun = ["-c", f"{first}\nfrom board.__main__ import main\nmain()"] if first else ["-m", "board"]
            process = subprocess.Popen(
                [sys.executable, *begun, "serve", str(root), "--port", "0", "--no-findings", "--no-browser", *options],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stop.enter_context(output.open("wb")),
                stderr=subprocess.STDOUT,
            )
            stop.callback(_stopped, process)
            return _printed_address(process, output)

        yield start


def _stopped(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _printed_address(process: subprocess.Popen[bytes], output: Path) -> str:
    """The address in the server's output, once the health check answers there."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        address = next((word for word in output.read_text().split() if word.startswith("http://")), None)
        if address and _is_healthy(address):
            return address
        time.sleep(0.05)
    raise AssertionError(f"The server did not start:\n{output.read_text()}")


def _is_healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address.partition('?')[0]}_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="session")
def serve_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """The same for what all files share."""
    with _servers(tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="session")
def board_server(serve_session: Serve) -> str:
    """The address of a board over the runs that ship with it, for the whole session; it ends in a slash.

    They are in its cache: a run that is still being read is drawn anew with what was read since, which is no page's own doing.
    """
    samples = REPOSITORY / "rollout_samples"
    return serve_session(samples, cached=[path for path in sorted(samples.iterdir()) if path.is_dir()])


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of a real server of S3, for all tests of a file; what it is made of is imported where it is wanted alone."""
    from s3_server import s3_server

    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> "Iterator[Bucket]":
    """An empty bucket there, and the environment that AWS tools find it by."""
    from s3_server import Bucket

    made = Bucket(endpoint)
    for name, value in made.environment().items():
        monkeypatch.setenv(name, value)
    yield made
    made.close()
