"""TensorBoard: its event files read and written with its own protobufs and checksums, without TensorFlow.

A run is a folder of event files. Numbers are float32, as TensorBoard keeps them; examples go to its text plugin. A record of a file is a
TFRecord: its length (uint64, little-endian), the masked CRC-32C of that, the bytes, and theirs. TensorBoard's own reader stops silently at
the first bad checksum and reads as many bytes as a length asks for; here both are errors.
"""

import contextlib
import itertools
import re
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from board.errors import BoardError
from board.sources.nearby_files import folder_name, listed_files, opened, walk
from board.trackers.contract import Curves, Example, Points, TrackerWriter, Value, library, page

MAX_RECORD: Final = 256 << 20
"""Bytes of one record; a step's numbers take kilobytes, an image or a model's graph some megabytes."""

_LIBRARY: Final = "TensorBoard"
_EVENTS: Final = "tensorboard.compat.proto.event_pb2"
_TEXTS: Final = "tensorboard.plugins.text.summary_v2"

_MARK: Final = "tfevents"
"""TensorBoard takes every file for its own whose name holds this."""

_NUMBERS: Final = frozenset({1, 2, 3, 4, 5, 6, 9, 17, 19, 22, 23})
"""Kinds of real number among TensorFlow's DataType that numpy has too."""

_NEITHER: Final = object()
"""Stands for an image, a histogram, a vector."""

_HEAD: Final = struct.Struct("<QI")
_SUM: Final = struct.Struct("<I")


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
    event = library(_EVENTS, _LIBRARY).Event
    damaged = library("google.protobuf.message", _LIBRARY, "tensorboard").DecodeError
    # in the order of their names, which is TensorBoard's: that in which they were begun
    files = [path] if path.is_file() else [file for file in listed_files(path) if _MARK in file.name]
    if not files:
        raise BoardError(f"{path}: no event file of TensorBoard.")
    points = Points(path)
    plugins: dict[str, str] = {}
    for file in files:
        for record in _records(file, within):
            try:
                _take(event.FromString(record), plugins, points)
            except (damaged, ValueError) as error:
                raise BoardError(f"{file}: a record is no event of TensorBoard: {error}") from error
    return points.curves()


def _records(path: Path, within: Path | None) -> Iterator[bytes]:
    """The bytes of each whole record, in order. Raises BoardError, naming the file and the byte, for one that is damaged or over MAX_RECORD."""
    checksum = _checksum()
    at = 0
    with opened(path, within) as file:
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            length, expected = _HEAD.unpack(head)
            if checksum(head[: -_SUM.size]) != expected:
                raise BoardError(f"{path}: damaged after byte {at:,}: a checksum is wrong.")
            if length > MAX_RECORD:
                raise BoardError(f"{path}: damaged after byte {at:,}: a record of more than {MAX_RECORD:,} bytes.")
            data = file.read(length + _SUM.size)
            if len(data) < length + _SUM.size:
                return
            if checksum(data[:length]) != _SUM.unpack_from(data, length)[0]:
                raise BoardError(f"{path}: damaged after byte {at:,}: a checksum is wrong.")
            yield data[:length]
            at += _HEAD.size + len(data)


def _checksum() -> Callable[[bytes], int]:
    """What gives the masked CRC-32C of bytes: google-crc32c, or TensorBoard's own loop over bytes, which takes 0.2 s for 1 MB."""
    try:
        from google_crc32c import value
    except ImportError:
        function: Callable[[bytes], int] = library("tensorboard.compat.tensorflow_stub.pywrap_tensorflow", _LIBRARY).masked_crc32c
        return function

    def masked(data: bytes) -> int:
        crc = value(data)
        return int((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF)

    return masked


def _take(event: Any, plugins: dict[str, str], points: Points) -> None:
    """Add an event's values. Which plugin a tag belongs to is said with its first value, and need not be said again."""
    for value in event.summary.value:
        plugin = plugins.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
        number = _number(value, plugin)
        if number is None and plugin == "text" and value.tensor.string_val:
            points.add(value.tag, event.step, value.tensor.string_val[0].decode(errors="replace"))
        else:
            points.add(value.tag, event.step, _NEITHER if number is None else number)


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
    run: str, *, log_dir: str | Path = "tensorboard_log", resume: Literal["never", "allow"] | None = None
) -> "TensorBoardWriter":
    """Begin a run: `log_dir`/`run`-date-time; with `resume="allow"` go on with `log_dir`/`run`, in one more event file.

    With `resume="never"` a run of that name is begun in any case. Raises TrackerMissing without TensorBoard, OSError where the folder cannot
    be written.
    """
    library(_TEXTS, _LIBRARY)  # imported now, so that what is missing is said at the start
    name = folder_name(run)
    if resume == "allow":
        return TensorBoardWriter(Path(log_dir) / name)
    time_begun = f"-{datetime.now():%Y%m%d-%H%M%S}" if resume is None else ""  # noqa: DTZ005 - the reader's clock
    return TensorBoardWriter(_new_folder(Path(log_dir), name + time_begun))


def _new_folder(parent: Path, name: str) -> Path:
    """A folder that no other run has: two runs may begin within a second."""
    for count in itertools.count(1):
        folder = parent / (name if count == 1 else f"{name}-{count}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise AssertionError("there is always one more number")


class TensorBoardWriter(TrackerWriter):
    """One event file in a run's folder, of TensorBoard's own writer."""

    def __init__(self, folder: Path) -> None:
        self.name, self.place = folder.name, str(folder)
        self._event, self._text = library(_EVENTS, _LIBRARY).Event, library(_TEXTS, _LIBRARY).text_pb
        self._file = library("tensorboard.summary.writer.event_file_writer", _LIBRARY).EventFileWriter(str(folder))

    def close(self) -> None:
        """Write what is pending and let the file go."""
        self._file.close()

    def _log(self, step: int, values: Mapping[str, Value]) -> None:
        event = self._event(step=step)
        for name, value in values.items():
            if isinstance(value, str):
                event.summary.MergeFrom(self._text(name, value))
            else:
                event.summary.value.add(tag=name, simple_value=value)
        self._write(event)

    def _show(self, step: int, name: str, rows: Sequence[Example]) -> None:
        """One text that stays text in TensorBoard, with its Markdown on and off."""
        self._write(self._event(step=step, summary=self._text(name, inert_markdown(page(rows)))))

    def _write(self, event: Any) -> None:
        """Flushed at once: a TensorBoard that watches shows it, and a kill loses nothing."""
        event.wall_time = time.time()
        self._file.add_event(event)
        self._file.flush()


def inert_markdown(text: str) -> str:
    """The text as a Markdown code block, each line set in by four spaces.

    With Markdown switched off TensorBoard passes on some HTML tags, pictures from other servers among them; so a word joiner, which is
    not seen, parts each < from what would make it a tag.
    """
    parted = re.sub(r"<(?=[A-Za-z/!?])", "<\u2060", text)
    return "\n".join(f"    {line}" for line in parted.split("\n"))
