"""A page that runs again does not lose the way to the page that the browser asked for meanwhile."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


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
