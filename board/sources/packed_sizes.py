"""Sizes of buffers by the headers of Parquet and Arrow files, unpacking none.

They are values, bytes packed and unpacked. Arrow's library takes as much memory as a file says that a buffer has, and offers no bound. So the
headers are read here: Parquet's of pages (Thrift's compact protocol, `parquet.thrift`), and those of Arrow's messages (FlatBuffers,
`Message.fbs` and `File.fbs`). Where one is not in that layout, nothing more is said: Arrow refuses it.
"""

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple

_MOST_HEADER: Final = 1 << 24
"""Bytes of a header; one of a page has statistics, one of a message a few words for each buffer."""

_CONTINUATION: Final = 0xFFFFFFFF
_MAGIC: Final = b"ARROW1"
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
"""Kinds of Arrow's messages."""

_DICTIONARY_PAGE: Final = 2
_VALUES_OF: Final = (5, 7, 8)
"""Fields of a page's header that say, in their first, how many values it has: of a data page, a dictionary, a data page of version 2."""

_DEEPEST: Final = 32


class Claim(NamedTuple):
    """What a header says of what follows it."""

    values: int
    """Values of a page; rows of a batch."""
    packed: int
    unpacked: int
    is_dictionary: bool


def of_pages(stream: BinaryIO, start: int, size: int) -> Iterator[Claim]:
    """The pages of a column chunk, which begins at a byte of a Parquet file and has so many."""
    at = start
    while at < start + size:
        header = _page_header(stream, at)
        fields = header[0] if header else {}
        kind, unpacked, packed = (fields.get(name, -1) for name in (1, 2, 3))
        if not header or not all(isinstance(one, int) and one >= 0 for one in (kind, unpacked, packed)):
            return
        values = next((fields[name].get(1, 0) for name in _VALUES_OF if isinstance(fields.get(name), dict)), 0)
        if not isinstance(values, int):  # a damaged header; Arrow says what is wrong
            return
        yield Claim(max(0, values), packed, unpacked, kind == _DICTIONARY_PAGE)
        at += header[1] + packed


def _page_header(stream: BinaryIO, at: int) -> tuple[dict[int, Any], int] | None:
    """The fields of a page's header by number, and its length."""
    size = 1 << 10
    while size <= _MOST_HEADER:
        stream.seek(at)
        data = stream.read(size)
        try:
            return _thrift_struct(data, 0, 0)
        except (IndexError, struct.error):
            if len(data) < size:
                return None
            size <<= 4
        except ValueError:
            return None
    return None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        found |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return found, at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _thrift_struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Its fields that are whole numbers or structures by number, and where it ends. IndexError where the bytes do not suffice."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) & 0x0F:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            coded, at = _varint(data, at)
            number = (coded >> 1) ^ -(coded & 1)
        fields[number], at = _thrift_value(data, at, head & 0x0F, depth, in_list=False)
    return fields, at + 1


def _thrift_value(data: bytes, at: int, kind: int, depth: int, *, in_list: bool) -> tuple[Any, int]:
    """A value of a kind as the compact protocol numbers them: the number or structure that it is, None for others; and where it ends."""
    if kind in (1, 2):  # a truth, which of a field is in its head
        return None, at + in_list
    if kind == 3:
        return None, at + 1
    if kind in (4, 5, 6):
        coded, at = _varint(data, at)
        return (coded >> 1) ^ -(coded & 1), at
    if kind == 7:
        return None, at + 8
    if kind == 8:
        size, at = _varint(data, at)
        if size > _MOST_HEADER:
            raise ValueError("a text of more bytes than a header")
        return None, at + size
    if kind in (9, 10):
        return None, _after_list(data, at, depth)
    if kind == 12:
        return _thrift_struct(data, at, depth + 1)
    raise ValueError("a kind that no page's header has")


def _after_list(data: bytes, at: int, depth: int) -> int:
    head = data[at]
    count, at = head >> 4, at + 1
    if count == 15:
        count, at = _varint(data, at)
    for _ in range(count):
        _, at = _thrift_value(data, at, head & 0x0F, depth + 1, in_list=True)
        data[at - 1]  # a list of many values of no bytes ends where the bytes do
    return at


def of_messages(stream: BinaryIO) -> Iterator[Claim]:
    """The batches of an Arrow file or stream, those of dictionaries too. Moves the stream."""
    try:
        if stream.read(len(_MAGIC)) == _MAGIC:
            yield from _of_file(stream)
        else:
            yield from _of_stream(stream)
    except (struct.error, IndexError):
        return


def _of_stream(stream: BinaryIO) -> Iterator[Claim]:
    at = 0
    while True:
        stream.seek(at)
        (size,) = struct.unpack("<I", stream.read(4))
        at += 4
        if size == _CONTINUATION:  # which streams of before 2019 have not
            (size,) = struct.unpack("<I", stream.read(4))
            at += 4
        if not 0 < size <= _MOST_HEADER:
            return
        claim, body = _message(stream, at, size)
        at += size + body
        if body < 0:
            return
        if claim:
            yield claim


def _of_file(stream: BinaryIO) -> Iterator[Claim]:
    """By the list at the file's end, which is what Arrow goes by."""
    end = stream.seek(0, 2) - len(_MAGIC) - 4
    stream.seek(end)
    (size,) = struct.unpack("<i", stream.read(4))
    if not 0 < size <= min(end, 1 << 30):
        return
    stream.seek(end - size)
    footer = _Table(stream.read(size))
    for field in (2, 3):  # of dictionaries, of records
        for at in footer.structures(field, 24):
            start, header, _, _ = struct.unpack_from("<qiiq", footer.data, at)
            stream.seek(max(0, start))
            prefix = 8 if stream.read(4) == b"\xff\xff\xff\xff" else 4
            if start < 0 or not 0 < header <= _MOST_HEADER:
                return
            claim, _ = _message(stream, start + prefix, header - prefix, start + header)
            if claim:
                yield claim


def _message(stream: BinaryIO, at: int, size: int, body_at: int | None = None) -> tuple[Claim | None, int]:
    """What the header at a byte says of its batch, None where it is none's; and how many bytes its body has."""
    stream.seek(at)
    message = _Table(stream.read(size))
    kind, body = message.number(1, "<B"), message.number(3, "<q")
    batch = message.table(2)
    if kind == _DICTIONARY_BATCH and batch:
        batch = batch.table(1)
    if kind not in (_DICTIONARY_BATCH, _RECORD_BATCH) or batch is None:
        return None, body
    unpacked = 0
    for place in batch.structures(2, 16):
        offset, length = struct.unpack_from("<qq", batch.data, place)
        if batch.has(3) and length >= 8:
            stream.seek(max(0, (at + size if body_at is None else body_at) + offset))
            (claimed,) = struct.unpack("<q", stream.read(8))
            length = length if claimed == -1 else claimed
        unpacked += max(0, length)
    return Claim(batch.number(0, "<q"), max(0, body), unpacked, kind == _DICTIONARY_BATCH), body


class _Table:
    """A table of a FlatBuffer: its fields by number. IndexError or struct.error where it is none."""

    def __init__(self, data: bytes, at: int | None = None) -> None:
        self.data = data
        self._at: int = struct.unpack_from("<I", data)[0] if at is None else at
        self._names: int = self._at - struct.unpack_from("<i", data, self._at)[0]
        if not 0 <= self._names < len(data):
            raise IndexError

    def _place(self, field: int) -> int | None:
        size, at = struct.unpack_from("<H", self.data, self._names)[0], 4 + 2 * field
        offset = struct.unpack_from("<H", self.data, self._names + at)[0] if at < size else 0
        return self._at + offset if offset else None

    def has(self, field: int) -> bool:
        """Whether the field is there."""
        return self._place(field) is not None

    def number(self, field: int, layout: str) -> int:
        """A number; 0 where the field is left out."""
        place = self._place(field)
        return 0 if place is None else int(struct.unpack_from(layout, self.data, place)[0])

    def table(self, field: int) -> "_Table | None":
        """Another table."""
        place = self._place(field)
        return None if place is None else _Table(self.data, place + struct.unpack_from("<I", self.data, place)[0])

    def structures(self, field: int, size: int) -> range:
        """Where the elements of a list of structures of so many bytes begin."""
        place = self._place(field)
        if place is None:
            return range(0)
        place += struct.unpack_from("<I", self.data, place)[0]
        (count,) = struct.unpack_from("<I", self.data, place)
        return range(place + 4, min(place + 4 + count * size, len(self.data)), size)
