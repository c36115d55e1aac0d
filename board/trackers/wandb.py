"""W&B: offline and local runs read from their transaction logs, runs written with its own library, online or offline.

WANDB_MODE, WANDB_PROJECT, WANDB_ENTITY and the rest of W&B's environment count as ever. Runs are begun beside whatever run the trainer has
open, print nothing on standard output, ask nothing, and log neither the machine nor its code.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from board.errors import BoardError
from board.sources.nearby_files import checked_writable
from board.trackers.contract import Curves, Example, Value, missing
from board.trackers.leveldb_log import WANDB, records
from board.trackers.run_folders import find_logs, log_at, parts
from board.trackers.sanitize import plain, plain_rows, plain_values
from board.trackers.wandb_history import History, display_name

NAME: Final = "wandb"

CLOSING_SECONDS: Final = 60
"""Longest time that closing an online run may take; what is not uploaded by then stays on disk for `wandb sync`."""

IN_USE_SECONDS: Final = 20
"""So long may a run be held by the service of a writer that was killed."""

TITLE_LETTERS: Final = 63
"""W&B refuses longer titles of alerts."""

ALERT_SECONDS: Final = 0.001
"""Between two alerts of one title; W&B would leave out what comes within a minute, and for 0 too."""

_ENDING: Final = ".wandb"

_SETTINGS: Final[dict[str, Any]] = {
    "silent": True,
    "console": "off",  # standard output stays the caller's
    "reinit": "create_new",  # the trainer may have a run of its own
    "disable_git": True,
    "disable_code": True,
    "save_code": False,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_disable_machine_info": True,
    "x_save_requirements": False,
    "x_transaction_log_flush_interval": 1.0,  # seconds of work that a kill may cost
    "init_timeout": 60.0,
    "finish_timeout": float(CLOSING_SECONDS),
    "finish_timeout_raises": True,
}


def find(folder: Path) -> list[Path]:
    """The transaction log of each run; of a run that was gone on with, which has several of one name, the last."""
    return find_logs(folder, _ENDING)


def runs(path: Path, within: Path | None = None) -> dict[str, Path]:
    """The name that a log's run is shown under; {} for one without. No more than the log's beginning is read; raises as `read` does."""
    name = display_name(path, within)
    return {name: path} if name else {}


def read(path: Path, within: Path | None = None) -> Curves:
    """The values of a run's history by name, nested ones joined by "/", given its transaction log or the folder that has it.

    Steps are W&B's own, or those of the metric that the trainer defined as a metric's step. What the run logged before it was gone on with
    is read too. Raises BoardError that names the file for one that is damaged, and where there is none; TrackerMissing without W&B.
    """
    log = log_at(path, _ENDING)
    if log is None:
        raise BoardError(f"{path}: no run of W&B.")
    history = History(log)
    for part in parts(log):
        history.read(part, within)
    return history.curves()


def open_writer(
    run: str,
    *,
    api_key: str | None = None,
    project: str | None = None,
    entity: str | None = None,
    name: str | None = None,
    notes: str | None = None,
    tags: Sequence[str] | None = None,
    dir: str | Path | None = None,
    mode: Literal["online", "offline", "disabled"] | None = None,
    run_id: str | None = None,
    resume: Literal["allow", "never", "must", "auto"] | bool | None = None,
) -> "WandbWriter":
    """Begin a run that is called `name`, else `run`; with `run_id`, which the caller keeps, go on with it where there is one.

    What is not given is what W&B's environment says, and then what W&B does by itself. With `mode="offline"` nothing is sent anywhere.
    Raises TrackerMissing without W&B, BoardError without a key where one is needed and for a folder that cannot be written to, and what W&B
    raises.
    """
    offline = (mode or os.environ.get("WANDB_MODE")) in ("offline", "disabled", "dryrun")
    _check_folder(mode, dir)
    if mode == "offline":
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    try:
        import wandb
    except ImportError as error:
        raise missing(NAME, "W&B") from error
    if not offline and api_key is None and not wandb.login(prompt=False, verify=False):
        raise BoardError("W&B has no key: give api_key, set WANDB_API_KEY, run `wandb login`, or use mode offline.")
    known = {key: value for key, value in {**_SETTINGS, "api_key": api_key}.items() if key in wandb.Settings.model_fields}
    begin = partial(
        wandb.init,
        project=project,
        entity=entity,
        name=name or plain(run),
        notes=notes,
        tags=tags,
        dir=dir,
        mode=mode,
        id=run_id,
        resume=("allow" if run_id else None) if resume is None else resume,
        settings=wandb.Settings(**known),
    )
    return WandbWriter(_begun(begin))


def _begun(begin: Callable[[], Any]) -> Any:
    """The run, once W&B's service has let go of it: a writer that was killed may have left it open in one that it shared."""
    until = time.monotonic() + IN_USE_SECONDS
    while True:
        try:
            return begin()
        except Exception as error:
            if "is in use" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.5)


def _check_folder(mode: str | None, folder: str | Path | None) -> None:
    """Refuse a given folder, or WANDB_DIR, that cannot be written to: W&B itself would take a temporary one, and say nothing."""
    given = folder or os.environ.get("WANDB_DIR")
    if given and (mode or os.environ.get("WANDB_MODE")) != "disabled":
        hidden = Path(given).expanduser() / ".wandb"
        checked_writable(hidden if hidden.exists() else hidden.with_name("wandb"))


class WandbWriter:
    """An open run of W&B. It takes steps in rising order; a step's numbers and examples become one row of its history with the next step."""

    def __init__(self, run: Any) -> None:
        folder = Path(run.dir).parent
        self.place = str(folder if run.offline or run.disabled else run.url)
        self.name = run.name
        self._run = run
        self._log = folder / f"run-{run.id}{_ENDING}"
        self._step = -1

    def scalars(self, step: int, values: Mapping[str, Value]) -> None:
        """One step's numbers and texts."""
        self._add(step, plain_values(values))

    def examples(self, step: int, name: str, rows: Sequence[Example]) -> None:
        """A few rollouts as one of W&B's tables, their text made plain."""
        import wandb

        shown = plain_rows(rows)
        columns = list(dict.fromkeys(key for row in shown for key in row))
        table = wandb.Table(columns=columns, data=[[row.get(key) for key in columns] for row in shown])
        self._add(step, {plain(name): table})

    def alert(self, title: str, text: str, *, error: bool) -> None:
        """One of W&B's alerts, which goes where the reader's settings there say; a title that W&B would refuse is cut."""
        level = "ERROR" if error else "WARN"
        self._run.alert(title=plain(title)[:TITLE_LETTERS], text=plain(text), level=level, wait_duration=ALERT_SECONDS)

    def close(self) -> None:
        """Write what is pending and end the run; an online one that cannot be reached is given up after CLOSING_SECONDS."""
        self._run.finish(exit_code=0)
        if self._run.offline or self._log.exists():
            wait_for_end(self._log)

    def _add(self, step: int, values: Mapping[str, Any]) -> None:
        """W&B itself passes over a step that is not in order, with a warning that nobody sees."""
        if step < self._step:
            raise BoardError(f"W&B takes steps in rising order, and step {step} comes after step {self._step}.")
        self._step = step
        self._run.log(values, step=step)


def wait_for_end(log: Path, seconds: float = CLOSING_SECONDS) -> None:
    """Wait until a run's log has its last record: W&B ends a run before its own process has written all of it, or any of it.

    Raises TimeoutError, naming the file, when it is not there in time.
    """
    from wandb.proto.wandb_internal_pb2 import Record

    deadline = time.monotonic() + seconds
    pause = 0.01
    while time.monotonic() < deadline:
        for last in deque(records(log, WANDB) if log.exists() else (), maxlen=1):
            if Record.FromString(last).WhichOneof("record_type") == "exit":
                return
        time.sleep(pause)
        pause = min(2 * pause, 0.5)
    raise TimeoutError(f"{log}: W&B has not written its last record within {seconds:g} s.")
