"""Tests of addresses: what they are cut into, how they are shown, and which are refused without being repeated."""

import pytest

from board.errors import ArgumentRefused
from board.sources.remote import addresses
from board.sources.remote.addresses import Address

READ = {
    "s3://bucket/a/b": Address("s3", "bucket", "a/b"),
    "s3://bucket": Address("s3", "bucket", ""),
    "S3://bucket/a/": Address("s3", "bucket", "a"),
    "gs://bucket-1/x": Address("gs", "bucket-1", "x"),
    "hf://datasets/owner/name/data": Address("hf", "", "datasets/owner/name/data"),
    "https://Host.example:8443/My%20runs/a": Address("https", "host.example:8443", "My runs/a"),
    "ssh://me@host:2222/home/me/runs": Address("ssh", "me@host:2222", "home/me/runs"),
}


@pytest.mark.parametrize("text", READ)
def test_parts(text: str) -> None:
    """An address is a scheme, a bucket or host, and a prefix."""
    assert addresses.parsed(text) == READ[text]


@pytest.mark.parametrize("text", READ)
def test_shown_and_read_again(text: str) -> None:
    """What is shown of an address names the same place."""
    assert addresses.parsed(str(READ[text])) == READ[text]


SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"https://me:{SECRET}@host/runs",
        f"s3://AKIA{SECRET}@bucket/runs",
        f"ssh://me:{SECRET}@host/runs",
        f"https://host/runs?X-Amz-Signature={SECRET}",
        f"https://host/runs#{SECRET}",
        f"https://host?{SECRET}",
        f"{SECRET}://host/x",
        f"s3://bucket/../{SECRET}",
        f"s3://bucket//{SECRET}",
        f"s3://bucket/{SECRET}\n",
        f"https://host/%2e%2e/{SECRET}",
        f"s3://-{SECRET}/x",
        "s3://",
        "https:///x",
    ],
)
def test_refused(text: str) -> None:
    """What holds credentials, leads elsewhere or cannot be read is refused in a sentence that says no secret."""
    with pytest.raises(ArgumentRefused) as refused:
        addresses.parsed(text)

    assert SECRET not in str(refused.value) or text.startswith(SECRET)


@pytest.mark.parametrize(("text", "expected"), [("s3://b/x", True), ("runs/a", False), ("/a://b", False), ("C:\\runs", False)])
def test_told_from_paths(text: str, expected: bool) -> None:
    """A path is no address."""
    assert addresses.is_address(text) is expected
