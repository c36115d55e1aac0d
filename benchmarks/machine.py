"""What the figures were measured on: processor, cores, memory, load and versions. Reads /proc; measures nothing."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

PACKAGES: Final = (
    "streamlit",
    "pandas",
    "numpy",
    "pyarrow",
    "orjson",
    "plotly",
    "polars",
    "duckdb",
    "ujson",
    "playwright",
)


def machine() -> dict[str, str]:
    """Name and value of what distinguishes this machine from another."""
    cpu = proc("/proc/cpuinfo").get("model name", platform.processor() or "unknown")
    memory = int(proc("/proc/meminfo")["MemTotal"].split()[0]) / 1e6
    cores = len(os.sched_getaffinity(0))
    return {"processor": cpu, "cores": str(cores), "memory": f"{memory:.0f} GB", "system": platform.platform()}


def versions() -> dict[str, str]:
    """Python's version and that of each package the figures depend on; `absent` where one is not installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def load() -> str:
    """The load average of the last 1, 5 and 15 minutes."""
    return " ".join(f"{one:.2f}" for one in os.getloadavg())


def commit(folder: Path) -> str:
    """The commit that is checked out in a folder, with a plus where files differ from it; `unknown` where Git has none."""
    asked = ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--match="]
    said = subprocess.run(asked, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


def proc(path: str) -> dict[str, str]:
    """A file of `name: value` lines; the first of equal names counts."""
    found: dict[str, str] = {}
    for line in Path(path).read_text().splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found


def memory(process: int | str = "self") -> dict[str, float]:
    """Megabytes of a process: `anonymous` is its own, `mapped` pages of files (the kernel drops them at need), `peak` the most of both."""
    status = proc(f"/proc/{process}/status")
    return {
        name: float(status[field].split()[0]) * 1024 / 1e6
        for name, field in (("anonymous", "RssAnon"), ("mapped", "RssFile"), ("peak", "VmHWM"))
    }


def private(process: int) -> float:
    """Megabytes that would come free if the process ended: its private dirty pages; 0 where it is gone."""
    try:
        return float(proc(f"/proc/{process}/smaps_rollup")["Private_Dirty"].split()[0]) * 1024 / 1e6
    except (FileNotFoundError, ProcessLookupError):
        return 0.0


def with_children(process: int) -> list[int]:
    """A process and those that it started, and they, as long as they run."""
    found = [process]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


def processor_seconds(process: int) -> float:
    """What a process has taken of the processors, in seconds, with children that ended; 0 where it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
