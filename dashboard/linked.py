"""Choices that a link reopens by their ids: titles change, ids stay. (Streamlit's own binding writes titles.)"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import session


def select(
    label: str, titles: Mapping[str, str], default: str, key: str, *, about: str | None = None, disabled: bool = False
) -> str:
    """A select box whose choice stands in the address under `key`, unless it is the default.

    Args:
        label: above the box.
        titles: what each id is shown as, in order.
        default: the id chosen at first.
        key: of the widget and in the address.
        about: behind the question mark.
        disabled: whether it only shows.
    """
    _put(titles, default, key)
    chosen = st.selectbox(
        label, list(titles), format_func=lambda one: titles.get(one, one), key=key, help=about, disabled=disabled
    )
    session.remember(key, None if chosen == default else chosen)
    return chosen


def several(label: str, titles: Mapping[str, str], key: str, *, most: int, placeholder: str) -> list[str]:
    """A multiselect whose choices stand in the address under `key`, as ids with commas between them.

    Args:
        label: above the box.
        titles: what each id is shown as, in order.
        key: of the widget and in the address.
        most: how many may be chosen.
        placeholder: shown while nothing is.
    """
    asked = [one for one in (session.recalled(key) or "").split(",") if one in titles][:most]
    chosen = st.multiselect(
        label,
        list(titles),
        asked,
        format_func=lambda one: titles.get(one, one),
        key=key,
        max_selections=most,
        placeholder=placeholder,
    )
    session.remember(key, ",".join(chosen) or None)
    return chosen


def segments(label: str, titles: Mapping[str, str], default: str, key: str) -> str:
    """A row of buttons of which one is chosen; it stands in the address under `key`, unless it is the default.

    Args:
        label: read to those who do not see; not drawn.
        titles: what each id is shown as, in order.
        default: the id chosen at first.
        key: of the widget and in the address.
    """
    _put(titles, default, key)
    asked = st.segmented_control(
        label,
        list(titles),
        format_func=lambda one: titles.get(one, one),
        key=key,
        required=True,
        label_visibility="collapsed",
    )
    chosen = asked if asked in titles else default
    session.remember(key, None if chosen == default else chosen)
    return str(chosen)


def _put(titles: Mapping[str, str], default: str, key: str) -> None:
    """Says what is chosen, in every run: one that was cut short may not have told the browser."""
    chosen = st.session_state.get(key)
    if chosen not in titles:
        asked = session.recalled(key)
        chosen = asked if asked in titles else default
    st.session_state[key] = chosen
