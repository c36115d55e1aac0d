"""The cookie by which Streamlit knows who logged in: a request's or an answer's → what it says, and of whom. Decides nothing."""

import json
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final

from streamlit import auth_util
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

_MOST_PIECES: Final = 20
"""Streamlit cuts a long cookie into pieces; a browser keeps no more than some 180 cookies, and servers take no more than some KiB."""


def said(cookies: Mapping[str, str]) -> bytes | None:
    """What the cookie says, put together where it was cut into pieces, each of which is signed; None where that does not hold."""
    secret, asked = get_cookie_secret(), 0

    def piece(name: str) -> bytes | None:
        nonlocal asked
        asked += 1
        value = cookies.get(name)
        if value is None or asked > _MOST_PIECES or not value.isascii():
            return None
        return decode_signed_value(secret, name, value)

    return auth_util.get_cookie_with_chunks(piece, USER_COOKIE_NAME)


def given(headers: Iterable[str]) -> Mapping[str, str]:
    """The cookies of a login that an answer's `Set-Cookie` headers give, without those that they take away."""
    found: dict[str, str] = {}
    for header in headers:
        cookie = SimpleCookie()
        try:
            cookie.load(header)
        except CookieError:
            continue
        found |= {name: one.value for name, one in cookie.items() if one.value and name.startswith(USER_COOKIE_NAME)}
    return found


def claims(words: bytes) -> Mapping[str, Any] | None:
    """What the provider told of who logged in at this board's address; None where it is of another address, or of nobody."""
    try:
        told = json.loads(words)
    except ValueError:
        return None
    origin = auth_util.get_origin_from_redirect_uri()
    if not isinstance(told, dict) or not origin or told.get("origin") != origin or told.get("is_logged_in") is not True:
        return None
    return told
