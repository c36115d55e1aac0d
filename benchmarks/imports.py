"""What a start costs: imports in a process of their own, a tiny run opened, the command's help, and `start.sh` to the first byte served."""

import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.plan import Plan, say
from benchmarks.sections import Section, figure, ratio
from benchmarks.serving import REPOSITORY, START_SECONDS

_TINY: Final = f"from board import open_run\nlen(open_run({str(REPOSITORY / 'rollout_samples/tiny_ppo_eval')!r}).frame)"

PANDAS: Final = "import pandas"
STREAMLIT: Final = "import streamlit"

PROCESSES: Final[dict[str, list[str]]] = {
    "python -c pass": ["-c", "pass"],
    PANDAS: ["-c", PANDAS],
    STREAMLIT: ["-c", STREAMLIT],
    "import board": ["-c", "import board"],
    "from board import RolloutRecorder": ["-c", "from board import RolloutRecorder"],
    "from board import open_run": ["-c", "from board import open_run"],
    "open_run of a tiny cached run": ["-c", _TINY],
    "python -m board --help": ["-m", "board", "--help"],
}
"""What is run by Python, by its name in the table; others' imports among it, as the ground that ours stand on."""

GOALS_OF: Final = {
    "from board import RolloutRecorder": "import_recorder",
    "open_run of a tiny cached run": "import_open_run",
    "python -m board --help": "import_help",
    "start.sh to the first byte": "start_first_byte",
    "python -m board serve to the first byte": "start_first_byte",
}

Took = tuple[float, float]
"""Seconds on the clock, and of the processor in all processes that ended meanwhile."""


def sections(plan: Plan, place: Path) -> Iterator[Section]:
    """One table, of twice the rounds as they are short: all ways in turns, each beside others' imports of the same round."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "RL_BOARD_CACHE": str(place / "cache")}
    ways: dict[str, Callable[[], Took]] = {name: partial(_ended, arguments, environment) for name, arguments in PROCESSES.items()}
    name, command = _server_command()
    ways[name] = partial(_served, command, environment)
    found: dict[str, list[Took]] = {way: [] for way in ways}
    for at in range(-1, 2 * plan.rounds):
        say(f"imports: round {at + 1} of {2 * plan.rounds}, the first fills caches")
        for way, run in ways.items():
            took = run()
            if at >= 0:
                found[way].append(took)
    clock = {way: [took for took, _ in all_took] for way, all_took in found.items()}
    rows = tuple(
        (
            way,
            figure(clock[way], "s"),
            figure([processor for _, processor in found[way]], "s"),
            ratio(clock[way], clock[PANDAS], goal if goal != "start_first_byte" else None),
            ratio(clock[way], clock[STREAMLIT], goal if goal == "start_first_byte" else None),
        )
        for way in ways
        for goal in [GOALS_OF.get(way)]
    )
    columns = ("what", "seconds", "processor (s)", f"against {PANDAS}", f"against {STREAMLIT}")
    yield Section("imports", "Imports, and the start of the server", columns, rows)


def _server_command() -> tuple[str, list[str]]:
    """`start.sh` where it has been run before, as it would install packages first; else what it ends in."""
    if (REPOSITORY / ".venv/installed-requirements.txt").is_file():
        return "start.sh to the first byte", ["bash", str(REPOSITORY / "start.sh")]
    return "python -m board serve to the first byte", [sys.executable, "-P", "-m", "board", "serve"]


def _ended(arguments: list[str], environment: dict[str, str]) -> Took:
    """A process of Python from its start to its end."""
    before, started = _processor(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started, _processor() - before


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _served(command: list[str], environment: dict[str, str]) -> Took:
    """From the command to the first byte of the page, asked for without pause; the processor's time includes the server's end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    before, started = _processor(), time.perf_counter()
    server = subprocess.Popen(
        [*command, str(REPOSITORY / "rollout_samples"), "--port", str(port)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not _answers(port):
            if server.poll() is not None or time.perf_counter() - started > START_SECONDS:
                raise RuntimeError(f"The server did not answer within {START_SECONDS} seconds.")
            time.sleep(0.002)
        seconds = time.perf_counter() - started
    finally:
        server.terminate()
        server.wait()
    return seconds, _processor() - before


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        return bool(client.recv(1))
    return False
