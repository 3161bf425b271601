"""Timers of a page that was just left, which would lead back to it.

A part of a page that runs every so many seconds asks for it in the name of the page that the browser shows. Where such a
request comes right behind a click on a link to another page, before that page has begun, Streamlit joins the two and keeps
the page of the later one: the click is lost. A tick that is dropped harms nothing; the next one comes by itself.
"""

from __future__ import annotations

import time
from typing import Final

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

_SOON_S: Final = 5.0


class LateTicks:
    """Passes on what browsers ask for, but for ticks of another page than the one asked for a moment ago."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the connection on; what is dropped is never received."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        asked = _Asked()

        async def in_time() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or not asked.is_late(message.get("bytes") or b""):
                    return message

        await self._app(scope, in_time, send)


class _Asked:
    """The page that one browser tab asked for last, and when."""

    def __init__(self) -> None:
        self._page = ""
        self._moment_s = 0.0

    def is_late(self, data: bytes) -> bool:
        """Whether a message is a tick of another page than was asked for just now."""
        said = BackMsg()
        try:
            said.ParseFromString(data)
        except DecodeError:
            return False  # Streamlit says so itself
        if not said.HasField("rerun_script"):
            return False
        run = said.rerun_script
        if run.is_auto_rerun:
            soon = time.monotonic() - self._moment_s < _SOON_S
            return soon and bool(self._page) and run.page_script_hash != self._page
        if not run.fragment_id:
            self._page, self._moment_s = run.page_script_hash, time.monotonic()
        return False
