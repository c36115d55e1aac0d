"""Find the shards of a location, and read the lines of those that have lines.

A shard is a file at any depth under the run folder that `board.sources.candidates` takes for one. Nothing is written.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, Literal, NamedTuple

from board.errors import RunNotFound
from board.sources import bounds, candidates, index_file, lines, presence, run_files, sqlite_files, streams
from board.sources.lines import MEMBER_LINES, SEARCHED, longest_line
from board.text.natural_order import natural_key
from board.text.path_names import path_of, shown

BOM: Final = b"\xef\xbb\xbf"

_GLANCE: Final = 4_096

_PIECE: Final = 1 << 20
"""Bytes of a byte range that are held at a time; more where a line is longer."""

Fingerprint = tuple[tuple[str, int, int], ...]
"""(name, size in bytes, modification time in ns) of every shard: changes when a shard appears, grows or is rewritten."""


@dataclass(frozen=True)
class Shard:
    """One file of a run."""

    path: Path
    name: str
    """Path relative to the run folder as `board.text.path_names` shows it: what the screen and the frame call it."""
    size: int
    mtime_ns: int
    objects: bool = False
    """Whether JSON objects take several lines each, so that a line is no record."""
    companions: tuple[str, ...] = ()
    """Paths of the files whose records belong to this one's; size and time are those of all of them."""
    within: Path | None = None
    """The folder that its file must lie in once links are followed."""
    inode: int = 0
    members: tuple["Shard", ...] = ()
    """Where it stands for many small files that are read together: these; size, time and inode are their sums."""

    @property
    def files(self) -> tuple["Shard", ...]:
        """The files that it stands for: itself, or its members."""
        return self.members or (self,)

    def place(self, line: int | None) -> tuple[str, int | None]:
        """The name of the file in which a line of this shard stands, and its number there: the n-th member's begin at n × MEMBER_LINES."""
        member, number = divmod(line or 0, MEMBER_LINES) if self.members else (0, line)
        return self.files[member].name, number or None

    @property
    def of_lines(self) -> bool:
        """Whether each line is a record."""
        return ".jsonl" in self.path.name and not self.objects


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the data, and where."""

    shard: str
    line: int | None
    """1-based; None when the whole shard is meant."""
    reason: str
    severity: Literal["refused", "flagged", "skipped"]
    """`refused`: not loaded. `flagged`: loaded, but something about it is odd. `skipped`: a file that is not taken for rollouts."""

    def __str__(self) -> str:
        where = self.shard if self.line is None else f"{self.shard}:{self.line}"
        return f"{where}: {self.reason}"


class Line(NamedTuple):
    """One line of a shard, as bytes without its line end."""

    number: int
    offset: int
    """Byte offset of the line in the (decompressed) shard."""
    data: bytes
    whole: bool
    """False when the shard ended before the line end: a job may still be writing it."""


def bare_name(name: str) -> str:
    """A shard's name without its ending: `a/rank_0` of `a/rank_0.jsonl.gz`."""
    ending = max((suffix for suffix in candidates.SUFFIXES if name.endswith(suffix)), key=len, default="")
    return name.removesuffix(ending or PurePosixPath(name).suffix)


def find_shards(
    folder: Path, within: Path | None = None, *, deep: bool = True, mapped: bool = False
) -> tuple[list[Shard], list[Problem]]:
    """Every shard under `folder`, in natural order of name, and what could not be used; of an index those it was made of.

    Those of sub-folders are left out unless `deep`; a `.json` of one object is one where there is a mapping of the run, the server, or `mapped`.
    Links are followed only to files inside `within` (default: the folder itself), so that a run cannot show what lies outside the root.
    Raises RunNotFound when `folder` is no folder, or an index that cannot be read.
    """
    if folder.is_file():
        said = candidates.database(folder, folder.resolve().parent)
        raise RunNotFound(f"{shown(folder.name)!r} {said or 'is a file: name the folder that holds it'}.")
    if not folder.is_dir():
        raise RunNotFound(f"No folder {shown(folder.name)!r} here: choose another run.")
    allowed = (within or folder).resolve()
    if index_file.is_there(folder):
        return _indexed(folder, allowed)
    shards, problems = list[Shard](), list[Problem]()

    def unreadable(error: OSError) -> None:
        problems.append(
            Problem(shown(Path(error.filename).relative_to(folder)), None, f"cannot be read: {error.strerror}", "refused")
        )

    mapped = mapped or "RL_BOARD_MAPPING" in os.environ or candidates.mapping_of(folder) is not None
    for parent, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if deep and not name.startswith("."))
        if (index_file.NAME in files or index_file.ROWS in folders) and index_file.is_there(Path(parent)):  # a run of its own
            folders[:] = []
            continue
        above = Path(parent)
        inside = "" if above == folder else f"{above.relative_to(folder).as_posix()}/"
        look = run_files.check_in_folder if run_files.is_within(parent, allowed) else run_files.check
        taken, skipped = candidates.sorted_out(above, files, allowed, mapped=mapped)
        for path in taken:
            found = _stat(path, shown(inside + path.name), allowed, look)
            (shards if isinstance(found, Shard) else problems).append(found)  # type: ignore[arg-type]
        problems += [Problem(shown(inside + path.name), None, reason, "skipped") for path, reason in skipped.items()]
    return sorted(shards, key=lambda shard: natural_key(shard.name)), problems


def _indexed(folder: Path, allowed: Path) -> tuple[list[Shard], list[Problem]]:
    """The shards that an index was made of, as they were then, and what could not be used."""
    index = index_file.read(folder, allowed)
    location, named = index_file.location_of(index), index["shards"]
    found = [Shard(location / path_of(one["name"]), one["name"], one["size"], one["mtime_ns"], within=allowed) for one in named]
    return found, [Problem(**{name: one[name] for name in ("shard", "line", "reason", "severity")}) for one in index["problems"]]


def _stat(path: Path, name: str, allowed: Path, look: Callable[..., os.stat_result]) -> Shard | Problem:
    """The shard at `path`, as one of the checks finds it, or why it cannot be one."""
    try:
        status = look(path, within=allowed)
    except run_files.OutsideRoot as error:
        return Problem(name, None, str(error.strerror), "refused")
    except OSError as error:
        return Problem(name, None, f"cannot be read: {error.strerror}", "refused")
    is_database = path.name.endswith(sqlite_files.ENDING)
    size, changed = sqlite_files.state(path, status) if is_database else (status.st_size, status.st_mtime_ns)
    return Shard(path, name, size, changed, within=allowed, inode=status.st_ino)


def fingerprint(shards: list[Shard]) -> Fingerprint:
    """What identifies the content of a run without reading it."""
    return tuple((shard.name, shard.size, shard.mtime_ns) for shard in shards)


def state_of(folder: Path, found: list[Shard]) -> Fingerprint:
    """What identifies the content of a folder whose shards are found; of an index also the index itself."""
    return (*index_file.state(folder), *fingerprint(found))


def opened(shard: Shard) -> streams.Stream:
    """The shard's bytes, decompressed, to be read and closed by the caller. Raises OSError."""
    return streams.opened(shard.path, within=shard.within)


def read_lines(shard: Shard, on_bytes: Callable[[int], None] | None = None) -> Iterator[Line | Problem]:
    """The lines of a shard in order, blank ones skipped; for a line that is too long, and for where reading ends too early, a Problem.

    `on_bytes` is called now and then with the number of file bytes read so far.
    """
    number, given = 0, bounds.Given(shard.size)
    try:
        with opened(shard) as stream:
            for number, item in enumerate(_bounded_lines(stream, shard.name), 1):
                if item is not None:
                    given.take(1, 0)
                    yield item
                if on_bytes and not number % 64:
                    on_bytes(stream.position())
    except (bounds.TooMuch, *streams.ERRORS) as error:
        yield _reading_problem(shard, number or None, error)


def _bounded_lines(stream: BinaryIO, name: str, start: int = 0, stop: int | None = None) -> Iterator[Line | Problem | None]:
    """The lines of a stream that stands at byte `start`, up to `stop`: one item for each, None for a blank one, a Problem for one too long.

    Where the end of a line that is too long is not found, a second Problem says so, and nothing follows.
    """
    most, number, offset = longest_line(), 0, start
    while data := lines.read(stream, most + 1 if stop is None else min(most + 1, stop - offset)):
        number += 1
        if len(data) <= most or data.endswith(b"\n"):
            yield _line(bytes(data), number, offset, whole=data.endswith(b"\n"))
            offset += len(data)
            continue
        yield Problem(name, number, _too_long(offset), "refused")
        offset += len(data)
        del data
        passed, ended = lines.skip(stream, SEARCHED if stop is None else min(SEARCHED, stop - offset))
        offset += passed
        if not ended and passed >= SEARCHED:
            yield Problem(name, number, f"has no end in {SEARCHED:,} bytes: the rest of the shard is left out", "refused")
            return


def _line(data: bytes, number: int, offset: int, *, whole: bool) -> Line | None:
    """A line out of its bytes; None when it is blank."""
    skipped = len(BOM) if offset == 0 and data.startswith(BOM) else 0
    piece = data[skipped:].rstrip(b"\r\n")
    return Line(number, offset + skipped, piece, whole) if piece and not piece.isspace() else None


def is_plain(shard: Shard) -> bool:
    """Whether the shard is of lines, alone and not compressed, so that it can be read from any line on."""
    return shard.of_lines and not shard.companions and not shard.members and not streams.is_compressed(shard.path)


def last_line_end(shard: Shard) -> int:
    """Bytes of a plain shard up to and with its last line end, as far as it was written when it was found.

    All of them where no line end is found in as many bytes as a line may have: then `cuts` finds where the last line begins.
    """
    with opened(shard) as stream:
        stop = shard.size
        while stop and shard.size - stop <= longest_line():
            start = max(0, stop - lines.BLOCK)
            if at := lines.after_last_end(stream, start, stop):
                return at
            stop = start
    return shard.size if stop else 0


def cuts(shard: Shard, start: int, stop: int, size: int) -> list[tuple[int, int]]:
    """A byte range of a plain shard, which starts with a line, in pieces of about `size` bytes whose ends are line ends.

    A line that is far longer is a piece of its own. What stands behind the last line end is in none. Cut near multiples of `size`.
    """
    ends = [start]
    presence.look_ahead((shard.path, at, min(at + lines.BLOCK, stop)) for at in range(start + size, stop, size))
    with opened(shard) as stream:
        while stop - ends[-1] > size * 3 // 2:
            probe = start + ((ends[-1] - start + size // 2) // size + 1) * size
            end = lines.next_end(stream, probe, stop)
            if not end or end > probe + size:  # a line far longer than a piece: it begins behind the last end before the probe
                before = lines.after_last_end(stream, ends[-1], probe)
                ends += [before] * bool(before)
            if not end:
                return [*pairwise(ends)]
            ends.append(end)
        last = lines.after_last_end(stream, max(ends[-1], stop - 1), stop) or lines.after_last_end(stream, ends[-1], stop)
    return [*pairwise(ends + [last] * bool(last))]


class RangeLines:
    """The lines of a plain shard between two line ends, blank ones skipped, to be gone through once: a Problem for one that is too long.

    Numbers count from the byte range's first line, 1; what follows the last line end is a line that is not whole. Iterating raises
    RunNotFound when the shard is another file by now, or does not reach so far any more.
    """

    def __init__(self, shard: Shard, start: int, stop: int) -> None:
        self._shard, self._start, self._stop = shard, start, stop
        self.count = 0
        """How many lines there are, blank ones too, once all are read."""
        self.seal = ""

    def __iter__(self) -> Iterator[Line | Problem]:
        presence.look_ahead([(self._shard.path, self._start, self._stop)])
        try:
            with opened(self._shard) as stream:
                if self._stop - self._start > longest_line():
                    found, self.count, self.seal = _long_range(stream, self._shard.name, self._start, self._stop)
                    yield from found
                else:
                    stream.seek(self._start)
                    yield from self._in_pieces(stream)
                if not stream.is_still(self._shard.size, self._shard.mtime_ns, self._shard.inode):
                    raise RunNotFound("was rewritten while it was being read: load the run again")
        except OSError as error:
            raise RunNotFound(f"cannot be read: {error.strerror}") from error

    def _in_pieces(self, stream: streams.Stream) -> Iterator[Line]:
        """Read into the same memory again and again: new memory for all of the range would take longer to get than to fill."""
        held = bytearray(min(_PIECE, self._stop - self._start))
        offset, filled, head, tail = self._start, 0, b"", b""
        while left := self._stop - offset - filled:
            with memoryview(held) as view, view[filled : filled + left] as read:
                if not (count := stream.readinto(read)):
                    raise RunNotFound("was cut while it was being read: load the run again")
                head += bytes(read[: min(count, _GLANCE - len(head))])
                tail = (tail + bytes(read[max(0, count - _GLANCE) : count]))[-_GLANCE:]
                filled, at = filled + count, 0
                while (end := held.find(b"\n", at, filled)) >= 0:
                    self.count += 1
                    if line := _line(bytes(view[at:end]), self.count, offset + at, whole=True):
                        yield line
                    at = end + 1
                rest = bytes(view[at:filled])
            held += bytes(len(held) if len(rest) == len(held) else 0)  # where a line is longer
            held[: len(rest)] = rest
            offset, filled = offset + at, len(rest)
        self.seal = _sealed(head, tail)
        if filled and (line := _line(bytes(held[:filled]), self.count + 1, offset, whole=False)):
            yield line


def _long_range(stream: BinaryIO, name: str, start: int, stop: int) -> tuple[list[Line | Problem], int, str]:
    """As `RangeLines`, where not all of it may be held in memory: most of it is one line."""
    sealed = _seal(stream, start, stop)
    if stop - start > longest_line() + 1 and lines.next_end(stream, start, stop) == stop:
        return [Problem(name, 1, _too_long(start), "refused")], 1, sealed
    stream.seek(start)
    found = [*_bounded_lines(stream, name, start, stop)]
    return [line for line in found if line is not None], len(found), sealed


def read_tail(shard: Shard, start: int) -> Iterator[Line | Problem]:
    """What stands behind the last line end of a plain shard, as far as it was written when it was found: one line at most.

    Where it is too long for one, its end is not looked for any further than `cuts` does. Raises RunNotFound as `RangeLines` does.
    """
    if shard.size - start <= longest_line():
        yield from RangeLines(shard, start, shard.size)
    else:
        reason = f"{_too_long(start)}, with all that follows it"
        yield Problem(shard.name, 1, reason, "refused")


def _too_long(offset: int) -> str:
    return f"is longer than {longest_line():,} bytes (RL_BOARD_LONGEST_LINE), from byte {offset:,} on: it is left out"


def seal(shard: Shard, start: int, stop: int) -> str:
    """A digest of the first and last bytes of a byte range: another one when the shard was rewritten, as far as a glance can tell.

    Bytes changed in the middle of a byte range, in place, are not seen when the file has grown as well. Raises RunNotFound.
    """
    if shard.members:
        return _sealed("".join(map(_sealed_name, shard.members)).encode(), b"")
    try:
        with run_files.opened(shard.path, within=shard.within) as stream:
            return _seal(stream, start, stop)
    except OSError as error:
        raise RunNotFound(f"cannot be read: {error.strerror}") from error


def _sealed_name(shard: Shard) -> str:
    with suppress(RunNotFound):  # reading it tells what is wrong with it, and loses no other
        return shard.name + seal(shard, 0, shard.size)
    return shard.name


def _seal(stream: BinaryIO, start: int, stop: int) -> str:
    stream.seek(start)
    head = stream.read(min(_GLANCE, stop - start))
    stream.seek(max(start, stop - _GLANCE))
    return _sealed(head, stream.read(min(_GLANCE, stop - start)))


def _sealed(head: bytes, tail: bytes) -> str:
    return blake2b(head + tail, digest_size=16).hexdigest()


def _reading_problem(shard: Shard, line: int | None, error: Exception) -> Problem:
    """What to say when reading stopped after `line`: a cut compressed stream is normal while a job still writes it."""
    if isinstance(error, EOFError) or "Truncated" in str(error):
        return Problem(shard.name, line, "the compressed stream ends early: cut off, or still being written", "flagged")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Problem(shard.name, line, f"cannot be read further: {reason}", "refused")


def read_raw(shard: Shard, line_number: int, offset: int) -> bytes:
    """One line as it stands in the shard, without its line end.

    Seeks in a plain file; a compressed one is read up to the line. Raises RunNotFound when the line is not there any more.
    """
    try:
        if is_plain(shard):
            with opened(shard) as stream:
                stream.seek(max(0, offset - 1))
                before = stream.read(min(offset, 1))
                data = stream.readline(longest_line() + 1) if before in (b"", b"\n", BOM[-1:]) else b""
        else:
            data = next((item.data for item in read_lines(shard) if isinstance(item, Line) and item.number == line_number), b"")
    except OSError as error:
        raise RunNotFound(f"{shard.name} cannot be read any more: {error.strerror}.") from error
    if not data.strip():
        raise RunNotFound(f"{shard.name} has no line {line_number} any more: it was rewritten since the run was loaded.")
    return data.rstrip(b"\r\n")
