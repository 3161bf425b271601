"""Running a page again, so that a click on a link to another page is not lost.

What the browser asked for waits until the running page draws something or reads its state. Where `st.rerun()` comes first,
Streamlit joins what waits with its own request, which bears the name of the page that runs: the way to the other page is lost.
The same becomes of a click that a part of the page with a timer follows before the click is taken up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType


def whole_page() -> NoReturn:
    """Runs the page once more from its beginning, or the page that the browser has asked for meanwhile."""
    # Reading the state is a place at which Streamlit takes up what waits; what it holds does not matter.
    "rerun" in st.session_state  # noqa: B015
    st.rerun()  # noqa: TID251
    raise AssertionError("st.rerun does not return")


def keep_clicks() -> None:
    """From here on a timer's request goes to the page that waits, not to the one that it was sent from.

    Source: `ScriptRequests._request_rerun_locked` of Streamlit 1.67 takes the page of the later of two requests.
    """
    join = ScriptRequests._request_rerun_locked

    def joined(self: ScriptRequests, request: RerunData) -> bool:
        waiting = self._rerun_data
        if self._state is ScriptRequestType.RERUN and request.is_auto_rerun and not waiting.fragment_id_queue:
            request = replace(
                request,
                page_script_hash=waiting.page_script_hash,
                page_name=waiting.page_name,
                query_string=waiting.query_string,
            )
        return join(self, request)

    ScriptRequests._request_rerun_locked = joined  # type: ignore[assignment,method-assign]
