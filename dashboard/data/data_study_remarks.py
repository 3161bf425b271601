"""What stands out in data that was studied: one sentence each, with rows to look at."""

from __future__ import annotations

import streamlit as st

from dashboard import escape
from dashboard.data.data_study_rows import Show, row_button
from stethoscope.data.study.remarks import remarks
from stethoscope.data.study.study import StudiedData


def draw(found: StudiedData, show_row: Show) -> None:
    """What a reader would want to know before any picture, each with rows to look at."""
    told = list(remarks(found))
    if not told:
        st.markdown(
            "**Nothing stands out**: no repeated rows, contradicting labels, constant columns, missing values or damaged rows "
            "among what was read."
        )
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown("**What stands out**")
        for number, one in enumerate(told):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                sentence = one.text.format(*(escape.code(name, 40) for name in one.names))
                st.markdown(f"- {sentence}", width="content")
                for place in one.rows[:4]:
                    row_button(place, f"stands-out-{number}", show_row)
