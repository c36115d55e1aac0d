"""A real S3 server on loopback, moto's, and a client that fills its buckets, for tests of what reads from S3."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import boto3
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

    @property
    def address(self) -> str:
        """Of the bucket."""
        return f"s3://{self.name}"

    def put(self, key: str, data: bytes) -> None:
        """Make or replace an object."""
        self._client.put_object(Bucket=self.name, Key=key, Body=data)

    def remove(self, key: str) -> None:
        """Let an object vanish."""
        self._client.delete_object(Bucket=self.name, Key=key)

    def environment(self, endpoint: str = "") -> dict[str, str]:
        """What tells every AWS tool of the server, or of one before it."""
        return _AS_AWS_TOOLS_TAKE_THEM | {"AWS_ENDPOINT_URL": endpoint or self.endpoint}


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
