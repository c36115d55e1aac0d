"""A real S3 server on loopback, moto's, and a client that fills its buckets, for tests of what reads from S3."""

import os
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import boto3
import requests
from moto.server import ThreadedMotoServer

_AS_AWS_TOOLS_TAKE_THEM = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing-secret-value",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Bucket:
    """One bucket of a server that runs."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.name = f"runs-{uuid4().hex[:12]}"
        self._client: Any = boto3.client(
            "s3", endpoint_url=endpoint, aws_access_key_id="testing", aws_secret_access_key="x", region_name="us-east-1"
        )
        self._client.create_bucket(Bucket=self.name)

    def close(self) -> None:
        """End the connections to the server."""
        self._client.close()

    @property
    def address(self) -> str:
        """Of the bucket."""
        return f"s3://{self.name}"

    def put(self, key: str, data: bytes) -> None:
        """Make or replace an object."""
        self._client.put_object(Bucket=self.name, Key=key, Body=data)

    def data(self, key: str) -> bytes:
        """What an object holds."""
        return bytes(self._client.get_object(Bucket=self.name, Key=key)["Body"].read())

    def sizes(self, prefix: str) -> dict[str, int]:
        """Of what lies below a prefix, by what stands behind it."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=f"{prefix}/")
        return {one["Key"].removeprefix(f"{prefix}/"): one["Size"] for page in pages for one in page.get("Contents", ())}

    def remove(self, key: str) -> None:
        """Let an object vanish."""
        self._client.delete_object(Bucket=self.name, Key=key)

    def refuse(self, *, everybody: bool) -> None:
        """From now on take the credentials of nobody, or of everybody again."""
        requests.post(
            f"{self.endpoint}/moto-api/reset-auth", data=b"0" if everybody else b"1000000", timeout=20
        ).raise_for_status()

    def environment(self, endpoint: str = "") -> dict[str, str]:
        """What tells every AWS tool of the server, or of one before it."""
        return as_aws_tools_take_them(endpoint or self.endpoint)


def as_aws_tools_take_them(endpoint: str) -> dict[str, str]:
    """The environment that tells every AWS tool of a server, and credentials that it takes."""
    return _AS_AWS_TOOLS_TAKE_THEM | {"AWS_ENDPOINT_URL": endpoint}


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server that ends with the context."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@contextmanager
def cutting_proxy(endpoint: str, after: list[int]) -> Iterator[str]:
    """The address of a door to a server that closes the next connections after so many bytes of answers, each of these once."""
    host, port = endpoint.removeprefix("http://").split(":")

    class Door(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            left = after.pop(0) if after else sys.maxsize
            with socket.create_connection((host, int(port))) as server:
                threading.Thread(target=_passed_on, args=(self.request, server), daemon=True).start()
                while left > 0 and (data := server.recv(65_536)):
                    self.request.sendall(data[:left])
                    left -= len(data)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Door)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _passed_on(reader: socket.socket, writer: socket.socket) -> None:
    with suppress(OSError):
        while data := reader.recv(65_536):
            writer.sendall(data)
        writer.shutdown(socket.SHUT_WR)
