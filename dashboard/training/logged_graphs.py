"""Graphs that a training wrote into its log: as files, and to be looked at like any model."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import streamlit as st

from dashboard import escape, navigation, render, session, words
from dashboard.identity import current_owner
from dashboard.training.log_choice import LogView
from dashboard.training.media_choice import Decoded, choose, decoded
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.store import store
from stethoscope.tasks.read_media import FilePlace

_MOST_TEXT = 200_000


def show(log: LogView) -> None:
    """The view Graph of the page Training."""
    chosen = choose(log, ["graph"], "graphs")
    found = None if chosen is None else decoded(log, *chosen)
    if found is None:
        return
    for run in found.runs:
        if len(found.runs) > 1:
            st.markdown(escape.code(run.run, 48))
        for point in run.points[-1:]:
            if point.graph is not None:
                _graph(found, run.run, point.graph)
            else:
                _description(run.run, "\n".join(point.texts))


def _graph(found: Decoded, run: str, place: FilePlace) -> None:
    content = found.file("graphs", place)
    name = f"{Path(run).name or 'run'} {found.tag.rpartition('/')[2]}.pb"
    st.markdown(
        f"TensorFlow's graph of this run, {words.size(len(content))}: the operations and their shapes, without the weights."
    )
    with st.container(horizontal=True):
        if st.button("Look at it in Architecture", type="primary", key=f"graph-open-{run}"):
            _open(content, name)
        st.download_button(
            "Download .pb", content, name, "application/octet-stream", key=f"graph-{run}", on_click="ignore"
        )


def _open(content: bytes, name: str) -> None:
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.pb"
            path.write_bytes(content)
            entry = store().add_file(path, name, current_owner())
    except StethoscopeError as error:
        st.warning(escape.sentences(error))
        return
    session.choose(entry.id)
    st.switch_page(next(page.path for page in navigation.page_files() if page.url_path == "architecture"))


def _description(run: str, text: str) -> None:
    """What Keras says of its layers."""
    try:
        text = json.dumps(json.loads(text), indent=2)
    except ValueError:
        st.caption("It is no JSON; shown as it was written.")
    st.markdown("Keras' description of this run's model: its layers and their settings.")
    st.download_button("Download .json", text, f"{Path(run).name or 'run'}.json", key=f"graph-{run}", on_click="ignore")
    if len(text) > _MOST_TEXT:
        render.empty("It is too long to be shown here.")
        return
    st.code(text, language="json", height=480)
