"""A certificate of this machine's own for a server of a test, and what trusts it and nothing else."""

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Certificate:
    """For the name localhost and the address 127.0.0.1."""

    file: Path
    key: Path

    def trusted(self) -> ssl.SSLContext:
        """For a client that trusts it."""
        return ssl.create_default_context(cafile=str(self.file))


def made(folder: Path) -> Certificate:
    """A new one; the test is skipped where OpenSSL's command is missing."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl")
    found = Certificate(folder / "board.pem", folder / "board.key")
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    kind = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext", names]
    subprocess.run(
        [openssl, *kind, "-keyout", str(found.key), "-out", str(found.file)], check=True, capture_output=True, timeout=60
    )
    return found
