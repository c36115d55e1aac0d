"""A real OpenID Connect provider on loopback, and readers who log in by it as a browser would, without its pages."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

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


class Reader:
    """A client with its own cookies. Its `board` is the board's address, with a slash at its end."""

    def __init__(self, board: str) -> None:
        self.board = board
        self.session = requests.Session()
        self.way = f"{board}auth/login"
        """The link that the board's last page gave."""

    def get(self, path: str = "", **options: Any) -> requests.Response:
        """An answer of the board, as to a person's browser, redirects not followed."""
        given: dict[str, Any] = {"headers": {"accept": "text/html"}, "allow_redirects": False, **options}
        answer = self.session.get(self.board + path, timeout=30, **given)
        if link := re.search(r'href="([^"]*/auth/login[^"]*)"', answer.text):
            self.way = urljoin(self.board, unescape(link[1]))
        return answer

    def log_in(self, user: str) -> requests.Response:
        """Go to the provider, say who one is there, and come back: the board's answer to that."""
        there = self.session.get(self.way, allow_redirects=False, timeout=30).headers["location"]
        back = requests.post(there, data={"sub": user}, allow_redirects=False, timeout=30).headers["location"]
        return self.session.get(back, headers={"accept": "text/html"}, allow_redirects=False, timeout=30)

    @property
    def cookies(self) -> dict[str, str]:
        """By name, the quotes that some come in left out."""
        return {cookie.name: (cookie.value or "").strip('"') for cookie in self.session.cookies}


@contextmanager
def login_provider() -> Iterator[Provider]:
    """One that ends with the context."""
    with oidc_provider_mock.run_server_in_thread() as server:
        yield Provider(server.server_port)
