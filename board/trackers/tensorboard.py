"""TensorBoard: its event files read and written with its own protobufs and checksums, without TensorFlow.

A run is a folder of event files. Numbers are float32, as TensorBoard keeps them; examples go to its text plugin. The layout of a record
is in `event_records`.
"""

import itertools
import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from board.errors import BoardError
from board.sources.nearby_files import folder_name, listed_files, walk
from board.trackers.contract import Curves, Example, Value, missing
from board.trackers.curves import Points
from board.trackers.sanitize import page, plain
from board.trackers.tfrecord import records

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event

NAME: Final = "tensorboard"

_MARK: Final = "tfevents"
"""TensorBoard takes every file for its own whose name holds this."""

_NUMBERS: Final = frozenset({1, 2, 3, 4, 5, 6, 9, 17, 19, 22, 23})
"""Kinds of real number among TensorFlow's DataType that numpy has too."""

_NEITHER: Final = object()
"""Stands for an image, a histogram, a vector."""

_COUNTER = itertools.count()
"""Two writers of one process never share a file."""


def find(folder: Path) -> list[Path]:
    """Each folder that holds event files: TensorBoard calls it a run."""
    return list(dict.fromkeys(path.parent for path in walk(folder, lambda name: _MARK in name)))


def runs(path: Path, within: Path | None = None) -> dict[str, Path]:
    """The folder's name, by which TensorBoard knows a run."""
    return {(path if path.is_dir() else path.parent).name: path}


def read(path: Path, within: Path | None = None) -> Curves:
    """The scalars and texts of a folder's event files, or of one event file, old (simple_value) and new (tensor) ones alike.

    A last record still being written is left for the next time. Raises BoardError that names the file for one that is damaged, and where
    there is none; TrackerMissing without TensorBoard.
    """
    try:
        from google.protobuf.message import DecodeError
        from tensorboard.compat.proto.event_pb2 import Event
    except ImportError as error:
        raise missing(NAME, "TensorBoard") from error
    files = [path] if path.is_file() else _event_files(path)
    if not files:
        raise BoardError(f"{path}: no event file of TensorBoard.")
    points = Points(path)
    plugins: dict[str, str] = {}
    for file in files:
        for record in records(file, within):
            try:
                _take(Event.FromString(record), plugins, points)
            except (DecodeError, ValueError) as error:
                raise BoardError(f"{file}: a record is no event of TensorBoard: {error}") from error
    return points.curves()


def _event_files(folder: Path) -> list[Path]:
    """The event files of one run, in the order in which they were begun, which is TensorBoard's: that of their names."""
    return [file for file in listed_files(folder) if _MARK in file.name]


def _take(event: "Event", plugins: dict[str, str], points: Points) -> None:
    """Add an event's values. Which plugin a tag belongs to is said with its first value, and need not be said again."""
    for value in event.summary.value:
        plugin = plugins.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
        number = _number(value, plugin)
        if number is None and plugin == "text" and value.tensor.string_val:
            points.note(value.tag, event.step, value.tensor.string_val[0].decode(errors="replace"))
        else:
            points.note(value.tag, event.step, _NEITHER if number is None else number)


def _number(value: Any, plugin: str) -> float | None:
    """The scalar that a summary's value holds; None for an image, a text, a histogram."""
    from tensorboard.util.tensor_util import make_ndarray

    if value.WhichOneof("value") == "simple_value":
        return float(value.simple_value)
    tensor = value.tensor
    whole = all(dimension.size == 1 for dimension in tensor.tensor_shape.dim)  # or a shape could ask for any amount of memory
    if plugin != "scalars" or tensor.dtype not in _NUMBERS or not whole:
        return None
    return float(make_ndarray(tensor).reshape(-1)[0])


def open_writer(
    run: str, *, log_dir: str | Path = "tensorboard_log", timestamped: bool = True, resume: Literal["never", "allow"] = "allow"
) -> "TensorBoardWriter":
    """Begin a run: `log_dir`/`run`-date-time, or with `timestamped` off go on with `log_dir`/`run`, in one more event file.

    With `resume="never"` a run is begun in any case. Raises TrackerMissing without TensorBoard, OSError where the folder cannot be written.
    """
    try:
        import tensorboard.summary.writer.record_writer  # noqa: F401 - asked for now, so that what is missing is said at the start
    except ImportError as error:
        raise missing(NAME, "TensorBoard") from error
    name = folder_name(run)
    if timestamped:
        name = f"{name}-{datetime.now():%Y%m%d-%H%M%S}"  # noqa: DTZ005 - the reader's clock
    begins = timestamped or resume == "never"
    return TensorBoardWriter(_new_folder(Path(log_dir), name) if begins else Path(log_dir) / name)


def _new_folder(parent: Path, name: str) -> Path:
    """A folder that nobody else has: two runs may begin within a second."""
    folder = parent / name
    for count in itertools.count(2):
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            folder = parent / f"{name}-{count}"
        else:
            break
    return folder


class TensorBoardWriter:
    """One event file in a run's folder. A step's numbers are one record, so that a kill leaves all of them or none."""

    def __init__(self, folder: Path) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SourceMetadata
        from tensorboard.summary.writer.record_writer import RecordWriter

        folder.mkdir(parents=True, exist_ok=True)
        self.place = str(folder)
        self.name = folder.name
        host = folder_name(socket.gethostname())
        name = f"events.out.{_MARK}.{_begun(folder):010d}.{host}.{os.getpid()}.{next(_COUNTER)}"
        self._records = RecordWriter((folder / name).open("xb"))
        self._write(Event(file_version="brain.Event:2", source_metadata=SourceMetadata(writer="rl-logging-board")))

    def scalars(self, step: int, values: Mapping[str, Value]) -> None:
        """One step's numbers, as float32, and its texts as text."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.plugins.text.summary_v2 import text_pb

        event = Event(step=step)
        for name, value in values.items():
            if isinstance(value, str):
                event.summary.MergeFrom(text_pb(plain(name), plain(value)))
            else:
                event.summary.value.add(tag=plain(name), simple_value=value)
        self._write(event)

    def examples(self, step: int, name: str, rows: Sequence[Example]) -> None:
        """A few rollouts as one text that stays text in TensorBoard, with its Markdown on and off."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.plugins.text.summary_v2 import text_pb

        self._write(Event(step=step, summary=text_pb(plain(name), inert_markdown(page(rows)))))

    def close(self) -> None:
        """Write what is pending and let the file go."""
        self._records.close()

    def _write(self, event: "Event") -> None:
        """Flushed at once: a TensorBoard that watches shows it, and a kill loses nothing."""
        event.wall_time = time.time()
        self._records.write(event.SerializeToString())
        self._records.flush()


def _begun(folder: Path) -> int:
    """When a new event file says that it was begun, in seconds: now, but after every one that is there, as TensorBoard reads by name.

    Two files of one second would come in the order of their processes, and a curve would go back.
    """
    there = (re.search(rf"{_MARK}\.(\d{{10}})\.", path.name) for path in _event_files(folder))
    return max([int(time.time()), *(int(found[1]) + 1 for found in there if found)])


def inert_markdown(text: str) -> str:
    """The text as a Markdown code block, each line set in by four spaces.

    With Markdown switched off TensorBoard passes on some HTML tags, pictures from other servers among them; so a word joiner, which is
    not seen, parts each < from what would make it a tag.
    """
    parted = re.sub(r"<(?=[A-Za-z/!?])", "<\u2060", text)
    return "\n".join(f"    {line}" for line in parted.split("\n"))
