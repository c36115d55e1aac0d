"""A real OpenID Connect provider on loopback, and files of secrets of boards whose readers log in by it."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

# When it is imported, authlib has its own warnings shown whatever pyproject.toml says; the provider uses what is deprecated.
with warnings.catch_warnings():
    from authlib.deprecate import AuthlibDeprecationWarning

    warnings.simplefilter("ignore", AuthlibDeprecationWarning)
    import oidc_provider_mock

SECRET = "a secret that is long enough to sign with"


class Provider:
    """One that runs, and takes any client and any user it was told of."""

    def __init__(self, port: int) -> None:
        self.address = f"http://localhost:{port}"

    def knows(self, user: str, **claims: Any) -> None:
        """From now on it tells this of that user."""
        requests.put(f"{self.address}/users/{user}", json=claims, timeout=20).raise_for_status()

    def secrets(
        self, folder: Path, *, base: str = "", address: str = "http://127.0.0.1:{port}", board: Sequence[str] = ()
    ) -> Path:
        """The file of secrets of a board that has readers log in here; `board` are lines of its own table."""
        file = folder / "secrets.toml"
        lines = [
            "[auth]",
            f'redirect_uri = "{address}{base}/oauth2callback"',
            f'cookie_secret = "{SECRET}"',
            'client_id = "board"',
            'client_secret = "of the client"',
            f'server_metadata_url = "{self.address}/.well-known/openid-configuration"',
            "[board]",
            *board,
        ]
        file.write_text("\n".join(lines))
        file.chmod(0o600)
        return file


@contextmanager
def login_provider() -> Iterator[Provider]:
    """One that ends with the context."""
    with oidc_provider_mock.run_server_in_thread() as server:
        yield Provider(server.server_port)
