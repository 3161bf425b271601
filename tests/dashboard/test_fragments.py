"""A fragment that runs again before the page was sent leaves nothing behind that has no place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest

from tests.conftest import PROJECT


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What pages send while the test runs."""
    messages: list[Any] = []
    monkeypatch.setattr(
        ForwardMsgQueue, "_before_enqueue_msg", staticmethod(lambda message: messages.append(copy.deepcopy(message)))
    )
    yield messages


def streamlits_own() -> None:
    import streamlit as st

    @st.fragment
    def moving() -> None:
        st.text("moves")

    st.text("above")
    moving()
    st.text("below")


def ours() -> None:
    import streamlit as st

    from dashboard import fragments

    @fragments.part()
    def moving() -> None:
        st.text("moves")

    st.text("above")
    moving()
    st.text("below")


def homeless(messages: list[Any]) -> list[str]:
    """Texts that find no place when the fragment runs again before `messages` were sent."""
    queue = ForwardMsgQueue()
    for message in list(messages):  # the queue below is listened to as well
        queue.enqueue(message)
    fragments = {message.delta.fragment_id for message in messages if message.HasField("delta")} - {""}
    assert len(fragments) == 1
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=list(fragments))
    children: dict[tuple[int, ...], int] = {}
    lost = []
    for message in queue.flush():
        if message.HasField("delta"):
            *parent, place = message.metadata.delta_path
            if place > children.get(tuple(parent), 0):
                lost.append(message.delta.new_element.text.body)
            children[tuple(parent)] = max(children.get(tuple(parent), 0), place + 1)
    return lost


@pytest.mark.parametrize(("page", "lost"), [(streamlits_own, ["below"]), (ours, [])])
def test_what_follows_a_fragment_keeps_its_place(sent, page: Callable[[], None], lost: list[str]):
    assert [text.value for text in AppTest.from_function(page).run().text] == ["above", "moves", "below"]
    assert homeless(sent) == lost


@pytest.mark.parametrize("folder", ["dashboard", "pages"])
def test_every_fragment_is_alone_in_its_container(folder: str):
    for path in sorted(Path(PROJECT / folder).rglob("*.py")):
        assert path.name == "fragments.py" or "st.fragment" not in path.read_text(), path


def cancelled_when_there_is_news() -> None:
    import streamlit as st

    from dashboard import fragments, progress

    state = st.session_state
    state.setdefault("news", [])

    def cancel() -> None:
        state.cancelled = True

    fragments.moving(0, lambda: state.news.pop() if state.news else 0, lambda: progress.line("x", 0.5, cancel, "it"))


def test_a_click_on_cancel_is_not_lost_to_news_that_run_the_page_again():
    app = AppTest.from_function(cancelled_when_there_is_news).run()
    app.session_state.news.append(1)
    app.button("cancel-page-it").click().run()
    assert app.session_state.news == []
    assert app.session_state.cancelled
