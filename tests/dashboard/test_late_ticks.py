"""Timers of a page that was just left do not lead back to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dashboard.routes import late_ticks
from dashboard.routes.late_ticks import LateTicks


def run(page: str, *, tick: bool = False, fragment: str = "") -> bytes:
    said = BackMsg()
    said.rerun_script.page_script_hash = page
    said.rerun_script.is_auto_rerun = tick
    said.rerun_script.fragment_id = "part" if tick else fragment
    return said.SerializeToString()


def begins(page: str) -> bytes:
    told = ForwardMsg()
    told.new_session.page_script_hash = page
    return told.SerializeToString()


def heard(*sent: bytes, answers: Mapping[bytes, bytes] = MappingProxyType({})) -> list[bytes]:
    """What of it arrives behind the middleware, where some of it is answered at once."""
    found: list[bytes] = []
    waiting = [{"type": "websocket.receive", "bytes": one} for one in sent] + [{"type": "websocket.disconnect"}]

    async def app(_scope, receive, send) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            found.append(message["bytes"])
            if message["bytes"] in answers:
                await send({"type": "websocket.send", "bytes": answers[message["bytes"]]})

    async def receive():
        return waiting.pop(0)

    async def send(_message) -> None:
        pass

    with ThreadPoolExecutor(1) as thread:  # browser tests of the same process leave a loop running in this one
        thread.submit(asyncio.run, LateTicks(app)({"type": "websocket"}, receive, send)).result()
    return found


def test_a_tick_of_the_page_that_was_left_is_dropped_and_nothing_else():
    left, here = run("left", tick=True), run("here", tick=True)
    click, used = run("here"), run("left", fragment="part")
    sent, arrives = (left, click, left, used, here, b"\xff"), [left, click, used, here, b"\xff"]
    assert heard(*sent) == arrives
    assert heard(*sent, answers={click: begins("here")}) == arrives, "it was sent before the browser heard of it"
    assert heard(run(""), here, left) == [run(""), here, left], "the first page is asked for by its name"


def test_a_page_that_led_to_another_by_itself_ticks_again_soon(monkeypatch):
    click, elsewhere = run("here"), run("elsewhere", tick=True)
    monkeypatch.setattr(late_ticks, "_ON_ITS_WAY_S", 0.0)
    assert heard(click, elsewhere, answers={click: begins("here")}) == [click, elsewhere]
    assert heard(click, elsewhere, answers={click: begins("left")}) == [click], "the page before may begin once more"
    assert heard(click, elsewhere, answers={click: b"\xff"}) == [click], "however long the page takes to begin"
    monkeypatch.setattr(late_ticks, "_BEGINS_WITHIN_S", 0.0)
    assert heard(click, elsewhere) == [click, elsewhere], "a page that never begins"
