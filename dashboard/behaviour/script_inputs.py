"""How a training script gets here: dropped, pasted, or one of before."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from dashboard import escape, rerun, session, upload_view, words
from dashboard.session import View
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.store import Entry, store
from stethoscope.pasted.scripts.source import MOST_BYTES
from stethoscope.types import UploadKind

_PASTED = "pasted.py"
_MOST_RECENT = 6


def give(view: View) -> None:
    """The drop zone, a box for text, and the viewer's own scripts of before."""
    arrived = upload_view.show(
        key="script-upload",
        title="Drop a training script here",
        hint=".py or .ipynb. It is read as text on this server, and nothing of it runs.",
        folders=False,
        expected=UploadKind.SCRIPT,
    )
    if arrived and st.session_state.get("_script-arrived") != arrived:
        st.session_state["_script-arrived"] = arrived
        session.choose_script(arrived[0])
        rerun.whole_page()
    with st.form("paste-script", border=True):
        text = st.text_area(
            "Or paste it",
            height=220,
            key="pasted-script",
            placeholder="import keras\n\nmodel = keras.Sequential([…])\nmodel.compile(…)\nmodel.fit(…)",
        )
        if st.form_submit_button("Read it", type="primary") and text.strip():
            _keep(view, text)
    recent = store().list(view.owner, UploadKind.SCRIPT)[:_MOST_RECENT]
    if recent:
        st.caption("Your recent scripts")
        with st.container(horizontal=True, gap="small"):
            for entry in recent:
                label = f"{escape.markdown(entry.name, 40)} · {words.size(entry.size_bytes)}"
                st.button(label, key=f"script-{entry.id}", on_click=session.choose_script, args=(entry.id,))


def given(entry: Entry) -> None:
    """Which script is read, and a button to let it go."""
    name, other = st.columns([4, 1], vertical_alignment="center")
    name.markdown(f"{escape.code(entry.name)} · {words.size(entry.size_bytes)}")
    other.button("Other script", key="other-script", on_click=session.choose_script, args=(None,), width="stretch")


def _keep(view: View, text: str) -> None:
    content = text.encode("utf-8", "replace")
    if len(content) > MOST_BYTES:
        st.warning(f"Expected a script of at most {MOST_BYTES >> 20} MiB. Upload the file instead.")
        return
    try:
        with tempfile.TemporaryDirectory(prefix="stethoscope-pasted-") as folder:
            place = Path(folder) / _PASTED
            place.write_bytes(content)
            entry = store().add_file(place, _PASTED, view.owner, UploadKind.SCRIPT)
    except StethoscopeError as error:
        st.warning(escape.sentences(error))
        return
    session.choose_script(entry.id)
    rerun.whole_page()
