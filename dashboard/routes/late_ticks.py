"""Timers of a page that was just left, which would lead back to it.

A part of a page that runs every so many seconds asks for it in the name of the page that the browser shows. Where such a
request comes right behind a click on a link to another page, before that page has begun, Streamlit joins the two and keeps
the page of the later one: the click is lost. A tick that is dropped harms nothing; the next one comes by itself.
"""

from __future__ import annotations

import time
from typing import Final, TypeVar

from google.protobuf.message import DecodeError
from google.protobuf.message import Message as ProtobufMessage
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_Said = TypeVar("_Said", bound=ProtobufMessage)
_BEGINS_WITHIN_S: Final = 60.0
"""A page that has not begun by then will not: its address leads elsewhere."""
_ON_ITS_WAY_S: Final = 5.0
"""What the browser sent before it heard that another page has begun arrives within this time."""


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

        async def noticed(message: Message) -> None:
            if message["type"] == "websocket.send":
                asked.notice(message.get("bytes") or b"")
            await send(message)

        await self._app(scope, in_time, noticed)


class _Asked:
    """The page that one browser tab asked for last, and until when the one before may still tick."""

    def __init__(self) -> None:
        self._page = ""
        self._has_begun = True
        self._until_s = 0.0

    def is_late(self, data: bytes) -> bool:
        """Whether a message is a tick of another page than was asked for just now."""
        said = _parsed(BackMsg(), data)
        if said is None or not said.HasField("rerun_script"):
            return False
        run = said.rerun_script
        if run.is_auto_rerun:
            return bool(self._page) and run.page_script_hash != self._page and time.monotonic() < self._until_s
        if not run.fragment_id:
            self._page, self._has_begun = run.page_script_hash, not run.page_script_hash
            self._until_s = time.monotonic() + _BEGINS_WITHIN_S
        return False

    def notice(self, data: bytes) -> None:
        """Reads whether what the server sends is the beginning of the page that was asked for."""
        if self._has_begun:
            return
        told = _parsed(ForwardMsg(), data)
        if told is not None and told.HasField("new_session") and told.new_session.page_script_hash == self._page:
            self._has_begun, self._until_s = True, time.monotonic() + _ON_ITS_WAY_S


def _parsed(message: _Said, data: bytes) -> _Said | None:
    """The message in these bytes; None for what is none: Streamlit says so itself."""
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    return message
