"""SwanLab: runs read from their transaction logs, whatever their mode, and written with its own library, online or offline.

SWANLAB_MODE, SWANLAB_PROJECT and the rest of SwanLab's environment count as ever. SwanLab has one open run in a process. Ours logs neither
the machine nor what is printed.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from board.errors import BoardError
from board.sources.nearby_files import text
from board.trackers.contract import MOST_LETTERS, Curves, Example, Points, TrackerWriter, Value, library, page, plain
from board.trackers.transaction_logs import LogKind

LOGS: Final = LogKind(
    "SwanLab", ".swanlab", (b":SWL", 0xE1D6, 2), "swanlab.proto.swanlab.record.v1.record_pb2", ("start", "name")
)

_PROBES: Final = ("hardware", "runtime", "requirements", "conda", "git", "swanlab", "monitor")
"""What SwanLab would note about the machine."""

find, runs = LOGS.find, LOGS.runs


def read(path: Path, within: Path | None = None) -> Curves:
    """The scalars of a run by name, given its transaction log or the folder that has it; what SwanLab measured of the machine left out.

    What the run logged before it was gone on with is read too. Raises BoardError that names the file for one that is damaged, and where
    there is none; TrackerMissing without SwanLab.
    """
    logs = LOGS.parts(path)
    points = Points(logs[-1])
    kinds = library("swanlab.proto.swanlab.metric.column.v1.column_pb2", LOGS.tracker)
    machine = set()
    for log in logs:
        for record in LOGS.messages(log, within):
            if record.HasField("column") and record.column.column_class == kinds.COLUMN_CLASS_SYSTEM:
                machine.add(record.column.column_key)
            elif record.HasField("scalar") and record.scalar.HasField("value") and record.scalar.key not in machine:
                points.add(record.scalar.key, record.scalar.step, record.scalar.value.number)
            elif record.HasField("media"):
                media, folder = record.media, log.parent / "media" / "text"
                files = [folder / Path(one.filename).name for one in media.value.items if media.type == kinds.COLUMN_TYPE_TEXT]
                said = "\n".join(text(file, within, MOST_LETTERS) for file in files if file.is_file())
                points.add(media.key, media.step, said or media)
    return points.curves()


def open_writer(
    run: str,
    *,
    login_kwargs: Mapping[str, Any] | None = None,
    project: str | None = None,
    logdir: str | Path | None = None,
    experiment_name: str | None = None,
    tags: Sequence[str] | None = None,
    mode: Literal["online", "offline", "local", "disabled"] | None = None,
    run_id: str | None = None,
) -> "SwanlabWriter":
    """Begin a run that is called `experiment_name`, else `run`; with `run_id`, which the caller keeps, go on with it where there is one.

    What is not given is what SwanLab's environment says, and then what SwanLab does by itself. `mode="offline"` keeps everything on this
    machine. So does `mode="local"`, for SwanLab's own dashboard: it needs swanboard, which no extra of ours brings, since SwanLab asks for
    a pre-release of it that takes rich back to version 13.

    Raises TrackerMissing without SwanLab, BoardError for what SwanLab does not take, and what SwanLab raises.
    """
    swanlab = library("swanlab", LOGS.tracker)
    chosen = mode or os.environ.get("SWANLAB_MODE")
    if chosen == "local":  # without it SwanLab says so and goes on, and the numbers are nowhere
        library("swanboard", "SwanLab's mode local", "swanlab[dashboard]")
    name = plain(experiment_name or run)
    try:
        if login_kwargs and chosen not in ("offline", "local", "disabled"):
            swanlab.login(**login_kwargs)
        begun = swanlab.init(
            project=project or _project(),
            log_dir=None if logdir is None else str(logdir),
            name=name,
            tags=None if tags is None else list(tags),
            mode=mode,
            id=run_id,
            resume="allow" if run_id else None,
            settings=_settings(swanlab.Settings),
        )
    except (ValueError, RuntimeError) as error:  # how SwanLab refuses a name, a project, a second run, to go online without a key
        raise BoardError(f"SwanLab: {' '.join(str(error).split())}") from error
    return SwanlabWriter(name, begun)


def _project() -> str | None:
    """What SwanLab calls a project without a name, the working folder, in characters that it takes; None where the environment says one."""
    if any(name.startswith("SWANLAB_PROJ") for name in os.environ):
        return None
    return re.sub(r"[^0-9a-zA-Z_\-+.]", "-", Path.cwd().name)[:100] or "root"


def _settings(kinds: Any) -> Any:
    """Settings with which SwanLab prompts for nothing, and inspects neither the machine nor standard output."""
    probe, terminal = kinds.Probe(**dict.fromkeys(_PROBES, False)), kinds.Terminal(proxy_type="none")
    return kinds(interactive=False, probe=probe, terminal=terminal)


class SwanlabWriter(TrackerWriter):
    """The open run of SwanLab."""

    def __init__(self, name: str, run: Any) -> None:
        self.name, self.place = name, run.url if run.mode == "online" else str(run.dir)
        self._run = run
        self._text = library("swanlab", LOGS.tracker).Text

    def close(self) -> None:
        """Write what is pending and end the run."""
        self._run.finish()

    def _log(self, step: int, values: Mapping[str, Value]) -> None:
        self._run.log({name: self._text(value) if isinstance(value, str) else value for name, value in values.items()}, step=step)

    def _show(self, step: int, name: str, rows: Sequence[Example]) -> None:
        self._log(step, {name: page(rows)})
