"""Running a page again, so that a click on a link to another page is not lost.

What the browser asked for waits until the running page draws something or reads its state. Where `st.rerun()` comes first,
Streamlit joins what waits with its own request, which bears the name of the page that runs: the way to the other page is lost.
"""

from __future__ import annotations

from typing import NoReturn

import streamlit as st


def whole_page() -> NoReturn:
    """Runs the page once more from its beginning, or the page that the browser has asked for meanwhile."""
    # Reading the state is a place at which Streamlit takes up what waits; what it holds does not matter.
    "rerun" in st.session_state  # noqa: B015
    st.rerun()  # noqa: TID251
    raise AssertionError("st.rerun does not return")
