"""Who is asking: each browser is its own owner, by a signed cookie, until there is sign-in.

The cookie must exist before Streamlit's websocket opens, so it is set on the page's first HTML response. Its name
carries a mark of the workspace's key: cookies ignore ports, so two servers on one machine would overwrite each other's.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from itsdangerous import BadSignature, TimestampSigner
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.routes.replies import base_path
from stethoscope.jobs.store import is_id
from stethoscope.settings import settings

MAX_AGE_S: Final = 400 * 24 * 3600
"""Browsers keep no cookie longer than 400 days."""
_RENEW_AFTER_S: Final = 30 * 24 * 3600
_KEY_FILE: Final = "cookie.key"


@functools.cache
def _key() -> bytes:
    return read_key(settings().workspace / _KEY_FILE)


def read_key(path: Path) -> bytes:
    """Returns the secret in `path`; creates it, readable by this user only, the same for processes that race."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(32))
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_bytes()


@functools.cache
def cookie_name() -> str:
    """The cookie's name for this workspace."""
    return f"stethoscope_owner_{hashlib.sha256(b'name' + _key()).hexdigest()[:8]}"


def owner_of(cookies: Mapping[str, str]) -> str | None:
    """The owner these cookies prove, or None."""
    found = _read(cookies)
    return found[0] if found else None


def upload_token(owner: str) -> str:
    """What a page of this owner must send along to change something: another site cannot know it."""
    return hmac.new(_key(), f"upload:{owner}".encode(), hashlib.sha256).hexdigest()


def is_upload_token(owner: str, token: str) -> bool:
    """Whether `token` is the one given to this owner's pages."""
    return hmac.compare_digest(upload_token(owner).encode(), token.encode("utf-8", "replace"))


def signed(owner: str) -> str:
    """The cookie's value for `owner`."""
    return _signer().sign(owner).decode()


def _signer() -> TimestampSigner:
    return TimestampSigner(_key(), salt="stethoscope-owner")


def _read(cookies: Mapping[str, str]) -> tuple[str, float] | None:
    value = cookies.get(cookie_name())
    if not value or not value.isascii():
        return None
    try:
        owner, when = _signer().unsign(value, return_timestamp=True, max_age=MAX_AGE_S)
    except BadSignature:
        return None
    text = owner.decode("ascii", "replace")
    return (text, when.timestamp()) if is_id(text) else None


class OwnerCookie:
    """Middleware that gives a browser its owner cookie with the first HTML page, and renews it now and then."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on; adds Set-Cookie to an HTML answer for a browser without a fresh cookie."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        wants_page = "text/html" in request.headers.get("accept", "")
        found = _read(request.cookies)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 304):
                headers = MutableHeaders(scope=message)
                if wants_page or headers.get("content-type", "").startswith("text/html"):
                    value = _fresh_value(found)
                    if value:
                        headers.append("Set-Cookie", _set_cookie(value, secure=request.url.scheme == "https"))
                        headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_cookie)


def _fresh_value(found: tuple[str, float] | None) -> str:
    if found is None:
        return signed(secrets.token_urlsafe(16))
    owner, since = found
    now = _signer().timestamp_to_datetime(_signer().get_timestamp()).timestamp()
    return signed(owner) if now - since > _RENEW_AFTER_S else ""


def _set_cookie(value: str, *, secure: bool) -> str:
    parts = [
        f"{cookie_name()}={value}",
        f"Max-Age={MAX_AGE_S}",
        f"Path={base_path() or '/'}",
        "HttpOnly",
        "SameSite=Lax",
    ]
    return "; ".join([*parts, "Secure"] if secure else parts)
