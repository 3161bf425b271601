"""Who is looking at the page."""

from __future__ import annotations

import secrets

import streamlit as st

from dashboard.routes.owner_cookie import owner_of

_SESSION_OWNER = "_owner"


def current_owner() -> str:
    """The browser's owner by its cookie; without cookies, an owner that lasts as long as this browser tab."""
    owner = owner_of(st.context.cookies)
    if owner is not None:
        return owner
    if _SESSION_OWNER not in st.session_state:
        st.session_state[_SESSION_OWNER] = secrets.token_urlsafe(16)
    return str(st.session_state[_SESSION_OWNER])
