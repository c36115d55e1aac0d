"""An image in a message → one phrase: its size in pixels and bytes, or where it lies. Knows how images are encoded, and nothing of chats."""

import base64
import binascii
import re
import struct
from typing import Any, Final

from board.text.format_number import size

_HOLDERS: Final = ("image_url", "source", "image", "url", "data", "b64_json", "base64", "bytes", "path", "file_id")
"""Keys under which a part of a message has its image, or an object that has it."""

_LOOKED_AT: Final = 1 << 16
"""So many letters of base64: a JPEG says how large it is behind what cameras add."""

_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_\s-]{64,}")
_JPEG_FRAME: Final = re.compile(rb"\xff[\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf].{3}(.{4})", re.DOTALL)
_LONGEST: Final = 200
"""Letters of an address that are shown."""


def described(part: Any) -> str:
    """`image, 1,024 × 768, 88 kB`; of an image that lies elsewhere its address; what is not known is left out."""
    text = _held(part)
    encoded = text.partition(",")[2] if text.startswith("data:") else text if _ENCODED.fullmatch(text[:_LOOKED_AT]) else ""
    if not encoded:
        return f"image, {text[:_LONGEST]}" if text and not text.startswith("data:") else "image"
    pixels = _pixels(_decoded(encoded[:_LOOKED_AT]))
    across = f", {pixels[0]:,} × {pixels[1]:,}" if pixels else ""
    return f"image{across}, {size(len(encoded) * 3 // 4 - encoded.count('=', -2))}"


def _held(value: Any) -> str:
    """The first text under the keys that hold an image."""
    if isinstance(value, dict):
        return next((text for key in _HOLDERS if (text := _held(value.get(key)))), "")
    return value if isinstance(value, str) else ""


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text[: len(text) // 4 * 4], altchars=b"-_" if "-" in text or "_" in text else None)
    except (binascii.Error, ValueError):
        return b""


def _pixels(data: bytes) -> tuple[int, int] | None:
    """(width, height) by the first bytes of a PNG, GIF, JPEG or WebP; None of any other."""
    if data.startswith(b"\x89PNG") and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    if data.startswith(b"GIF8") and len(data) >= 10:
        return struct.unpack("<HH", data[6:10])
    if data.startswith(b"\xff\xd8") and (frame := _JPEG_FRAME.search(data)):
        height, width = struct.unpack(">HH", frame[1])
        return width, height
    if data[8:16] == b"WEBPVP8X" and len(data) >= 30:
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return None
