"""What a browser prints: where pictures lie on the pages of a PDF that Chromium wrote."""

import re
import zlib
from typing import Final

_STREAM: Final = re.compile(rb"stream\r?\n(.*?)endstream", re.DOTALL)
_ACT: Final = re.compile(rb"\b([qQ])\s|((?:-?[\d.]+ ){6})cm|/\w+ Do\b")
_UNMOVED: Final = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_Matrix = tuple[float, float, float, float, float, float]


def page_width(pdf: bytes) -> float:
    """Of its pages, in points."""
    box = re.search(rb"/MediaBox \[([^\]]+)\]", pdf)
    assert box is not None
    return float(box[1].split()[2])


def pictures(pdf: bytes) -> list[tuple[int, float, float, float, float]]:
    """Page, left, right, bottom and top of each picture that is drawn, in points; pages are numbered in the order that they lie in the file."""
    found = []
    for at, stream in enumerate(_STREAM.findall(pdf)):
        try:
            content = zlib.decompress(stream)
        except zlib.error:
            continue
        found += [(at, *one) for one in _drawn(content)]
    return found


def _drawn(content: bytes) -> list[tuple[float, float, float, float]]:
    kept, boxes = [_UNMOVED], []
    for act in _ACT.finditer(content):
        if act[1] == b"q":
            kept.append(kept[-1])
        elif act[1] == b"Q":
            del kept[max(1, len(kept) - 1) :]
        elif act[2]:
            kept[-1] = _within(tuple(map(float, act[2].split())), kept[-1])
        else:
            a, _, _, d, x, y = kept[-1]
            boxes.append((min(x, x + a), max(x, x + a), min(y, y + d), max(y, y + d)))
    return boxes


def _within(inner: tuple[float, ...], outer: _Matrix) -> _Matrix:
    """A matrix applied within another."""
    a, b, c, d, x, y = inner
    p, q, r, s, u, v = outer
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, x * p + y * r + u, x * q + y * s + v
