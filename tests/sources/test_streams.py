"""board.sources.streams: bytes out of files of every compression, in pieces, and where they end."""

import bz2
import gzip
import lzma
import random
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest

from board.sources import bounds, streams

COMPRESSED: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "a": bytes,
    "a.gz": gzip.compress,
    "a.zst": lambda data: bytes(pa.Codec("zstd").compress(data, asbytes=True)),
    "a.bz2": bz2.compress,
    "a.xz": lzma.compress,
}

TEXT: Final = bytes(random.Random(0).choices(b"abcdefgh\n", k=300_000))


@pytest.mark.parametrize(("name", "compress"), COMPRESSED.items(), ids=COMPRESSED)
def test_all_bytes_come_out(tmp_path: Path, name: str, compress: Callable[[bytes], bytes]) -> None:
    """One stream behind another too, as a job writes that opens its shard again; the place in the file ends at its end."""
    data = compress(TEXT) + compress(b"") + compress(TEXT[:1000])
    (tmp_path / name).write_bytes(data)

    with streams.opened(tmp_path / name) as stream:
        assert b"".join(stream) == TEXT + TEXT[:1000]
        assert stream.position() == len(data)
    assert stream.closed


@pytest.mark.parametrize("name", [name for name in COMPRESSED if name != "a"])
def test_bytes_before_a_cut_come_out(tmp_path: Path, name: str) -> None:
    """Most of what stands before the cut is read; then comes one of ERRORS."""
    data = b"".join(COMPRESSED[name](TEXT[at : at + 30_000]) for at in range(0, len(TEXT), 30_000))
    (tmp_path / name).write_bytes(data[: len(data) * 9 // 10])
    found: list[bytes] = []

    with streams.opened(tmp_path / name) as stream, pytest.raises(streams.ERRORS) as error:
        found.extend(stream)

    assert TEXT.startswith(b"".join(found))
    assert sum(map(len, found)) > len(TEXT) * 0.7
    assert isinstance(error.value, EOFError) or "Truncated" in str(error.value)


@pytest.mark.parametrize("name", [name for name in COMPRESSED if name != "a"])
def test_an_empty_file_is_a_stream_that_has_not_begun(tmp_path: Path, name: str) -> None:
    """Neither bytes nor an error."""
    (tmp_path / name).write_bytes(b"")

    with streams.opened(tmp_path / name) as stream:
        assert stream.read() == b""


@pytest.mark.parametrize("name", [name for name in COMPRESSED if name != "a"])
def test_what_is_not_compressed_is_an_error(tmp_path: Path, name: str) -> None:
    """Only the name says that it is."""
    (tmp_path / name).write_bytes(b'{"step": 0}\n' * 99)

    with streams.opened(tmp_path / name) as stream, pytest.raises(streams.ERRORS):
        stream.read()


BOMBS = {name: COMPRESSED[name] for name in ("a.gz", "a.zst", "a.bz2", "a.xz")}


@pytest.mark.parametrize(("name", "compress"), BOMBS.items(), ids=BOMBS)
def test_a_bomb_ends_in_an_error(tmp_path: Path, name: str, compress: Callable[[bytes], bytes]) -> None:
    """Zeros without end stop soon behind the bytes that any file may have, and memory holds a piece of them."""
    (tmp_path / name).write_bytes(compress(bytes(16_000_000)) * 200)
    sizes: list[int] = []

    with streams.opened(tmp_path / name) as stream, pytest.raises(OSError, match="more than 200 times as long"):
        sizes.extend(len(piece) for piece in iter(lambda: stream.read(1 << 20), b""))

    assert bounds.WITHOUT_RATIO - 2_000_000 < sum(sizes) < bounds.WITHOUT_RATIO + 20_000_000


def test_what_compresses_well_but_not_wildly_is_read(tmp_path: Path) -> None:
    """Below the bytes that any file may have there is no bound on the ratio."""
    (tmp_path / "a.zst").write_bytes(COMPRESSED["a.zst"](bytes(50_000_000)))

    with streams.opened(tmp_path / "a.zst") as stream:
        assert sum(len(piece) for piece in iter(lambda: stream.read(1 << 20), b"")) == 50_000_000


def test_memory_that_a_stream_asks_for_is_bounded(tmp_path: Path) -> None:
    """A stream of xz names the memory that reading it takes."""
    compressor = lzma.LZMACompressor(filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}])
    data = bytearray(compressor.compress(b"x") + compressor.flush())
    start, stop = 12, 12 + 4 * data[12]  # of the block's head, without its checksum
    data[data.index(b"\x21\x01", start) + 2] = 36  # the dictionary's size: 1 GiB
    data[stop : stop + 4] = zlib.crc32(data[start:stop]).to_bytes(4, "little")
    (tmp_path / "a.xz").write_bytes(data)

    with streams.opened(tmp_path / "a.xz") as stream, pytest.raises(lzma.LZMAError, match="Memory usage limit"):
        stream.read()
