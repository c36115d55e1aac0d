"""A server that speaks as much of S3 as lists and reads a bucket of very many objects, whose names it makes as they are asked for."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from quiet_server import QuietServer, send

IN_A_RUN = 100
"""Objects of each run."""


class Listing:
    """What the bucket `many` holds, and what was asked of it."""

    def __init__(self, objects: int, data: bytes) -> None:
        self.objects, self.data = objects, data
        self.endpoint = ""
        self.asked: Counter[str] = Counter()
        """Requests by kind: `list`, `head`, `get`."""

    @staticmethod
    def key(number: int) -> str:
        """The name of an object; they are in order."""
        return f"runs/run_{number // IN_A_RUN:06}/rank_{number % IN_A_RUN:03}.jsonl"

    def page(self, start: int, most: int) -> bytes:
        """A page of the listing, from an object's number on."""
        stop = min(self.objects, start + most)
        told = "".join(
            f"<Contents><Key>{self.key(one)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"<ETag>&quot;{one:032x}&quot;</ETag><Size>{len(self.data)}</Size></Contents>"
            for one in range(start, stop)
        )
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{stop}</NextContinuationToken>"
        end = more if stop < self.objects else "<IsTruncated>false</IsTruncated>"
        return f'<?xml version="1.0"?><ListBucketResult><Name>many</Name>{told}{end}</ListBucketResult>'.encode()


class _Handler(BaseHTTPRequestHandler):
    listing: Listing
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """A page, or a range of an object."""
        query = parse_qs(urlsplit(self.path).query)
        if "list-type" in query:
            self.listing.asked["list"] += 1
            start, most = int(query.get("continuation-token", ["0"])[0]), int(query.get("max-keys", ["1000"])[0])
            send(self, 200, self.listing.page(start, most), {"Content-Type": "application/xml"})
            return
        self.listing.asked["get"] += 1
        start, stop = (int(part) for part in self.headers["Range"].removeprefix("bytes=").split("-"))
        data = self.listing.data[start : stop + 1]
        told = {
            "Content-Range": f"bytes {start}-{start + len(data) - 1}/{len(self.listing.data)}",
            "ETag": self.headers["If-Match"],
        }
        send(self, 206, data, told)

    def do_HEAD(self) -> None:
        """Nobody need ask for what a listing says."""
        self.listing.asked["head"] += 1
        send(self, 404, b"", {})


@contextmanager
def listing_server(objects: int, data: bytes) -> Iterator[Listing]:
    """A server that ends with the context; every object holds the same bytes."""
    listing = Listing(objects, data)
    server = QuietServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"listing": listing}))
    listing.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield listing
    finally:
        server.shutdown()
        server.server_close()
