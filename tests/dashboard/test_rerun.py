"""A page that runs again does not lose the way to the page that the browser asked for meanwhile."""

from __future__ import annotations

import pytest
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests
from streamlit.testing.v1 import AppTest

from dashboard import rerun


def clicked_away(keeps_clicks: bool) -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    from dashboard import rerun

    ctx = get_script_run_ctx()
    assert ctx is not None and ctx.script_requests is not None
    if "pages" in st.session_state:
        st.session_state.pages.append(ctx.page_script_hash)
        return
    st.session_state.pages = [ctx.page_script_hash]
    ctx.script_requests.request_rerun(RerunData(page_script_hash="clicked"))  # as a click on a link does
    if keeps_clicks:
        rerun.whole_page()
    st.rerun()


def three_times() -> None:
    import streamlit as st

    from dashboard import rerun

    st.session_state.runs = st.session_state.get("runs", 0) + 1
    if st.session_state.runs < 3:
        rerun.whole_page()


@pytest.mark.parametrize("keeps_clicks", [True, False])
def test_the_page_that_was_clicked_is_the_one_that_runs(keeps_clicks: bool):
    ran = AppTest.from_function(clicked_away, args=(keeps_clicks,)).run()
    first, second = ran.session_state.pages
    assert first != "clicked" and (second == "clicked") is keeps_clicks and not ran.exception


def test_a_page_runs_again_as_often_as_it_asks():
    assert AppTest.from_function(three_times).run().session_state.runs == 3


@pytest.mark.parametrize("keeps_clicks", [True, False])
def test_a_timer_of_the_page_before_does_not_take_a_click_away(monkeypatch, keeps_clicks: bool):
    monkeypatch.setattr(ScriptRequests, "_request_rerun_locked", ScriptRequests._request_rerun_locked)
    if keeps_clicks:
        rerun.keep_clicks()
    requests = ScriptRequests()
    requests.request_rerun(RerunData(page_script_hash="clicked", query_string="model=a"))
    for timer in ("line", "sidebar"):
        requests.request_rerun(RerunData(page_script_hash="before", fragment_id=timer, is_auto_rerun=True))
    taken = requests.on_scriptrunner_yield()
    assert taken is not None and not taken.rerun_data.fragment_id_queue
    assert (taken.rerun_data.page_script_hash == "clicked") is keeps_clicks
    assert (taken.rerun_data.query_string == "model=a") is keeps_clicks
    # What is clicked after a timer's request goes where it leads.
    requests.request_rerun(RerunData(page_script_hash="before", fragment_id="line", is_auto_rerun=True))
    requests.request_rerun(RerunData(page_script_hash="next"))
    later = requests.on_scriptrunner_yield()
    assert later is not None and later.rerun_data.page_script_hash == "next"
