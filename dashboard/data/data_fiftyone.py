"""The tab FiftyOne: the same data opened there, on this machine or on the viewer's own."""

from __future__ import annotations

import shlex

import streamlit as st

from dashboard import escape, fragments, render, rerun, words
from dashboard.data import chosen_data, fiftyone_process
from dashboard.session import View
from stethoscope.cli.in_fiftyone import ROWS, is_installed
from stethoscope.data.dataset import DataAbout
from stethoscope.jobs.store import Entry

_REFRESH_S = 1.5


def show(view: View, entry: Entry, about: DataAbout) -> None:
    """Draws the tab."""
    if not any(one.kind in ("image", "mask") for one in about.fields):
        render.empty("**FiftyOne shows pictures, and this data has none.** Its rows are on the tab Samples.")
        return
    rows = int(
        st.number_input(
            "Rows, from the start", 1, 100_000, min(ROWS, max(1, about.rows)), key="fiftyone-rows", width=220
        )
    )
    if is_installed() and fiftyone_process.is_local():
        _here(entry, rows)
    elif is_installed():
        st.caption(
            "FiftyOne is installed on this server, but it asks nobody who they are: it is started here only where the server "
            "is for its own machine. Run it on yours:"
        )
    else:
        st.caption(
            "FiftyOne is not installed beside this app. Where it is (`pip install fiftyone`), a button here opens this data in it. "
            "On your own machine, with both installed:"
        )
    _code(entry, rows)


def _here(entry: Entry, rows: int) -> None:
    found = fiftyone_process.running(entry)
    if found is None or not found.alive:
        if found is not None and found.said and "FiftyOne shows" not in found.said:
            st.warning(f"FiftyOne ended: {escape.sentences(found.said.splitlines()[-1])}")
        if st.button("Open in FiftyOne", type="primary", key="fiftyone-open"):
            fiftyone_process.start(entry, chosen_data.options(), rows=rows)
            rerun.whole_page()
        return
    if found.ready:
        render.verdict("good", "Open", "FiftyOne shows this data.")
        st.link_button("Go to FiftyOne", f"http://localhost:{found.port}", type="primary")
    else:
        _starting()
    st.button("End it", key="fiftyone-end", on_click=fiftyone_process.stop, args=(entry,))


def _starting() -> None:
    @fragments.part(run_every=_REFRESH_S)
    def waiting() -> None:
        st.caption("Reading the data and starting FiftyOne; that takes some seconds.")
        if st.session_state.get("_fiftyone_waits", 0) > 0:
            st.session_state["_fiftyone_waits"] = 0
            rerun.whole_page()
        st.session_state["_fiftyone_waits"] = 1

    waiting()


def _code(entry: Entry, rows: int) -> None:
    options = chosen_data.options()
    file = escape.file_name(entry.name.replace(".data.", "."), "data")
    st.caption("From a terminal, in the folder with the data:")
    st.code(shlex.join(fiftyone_process.command(file, options, rows=rows)), language="sh")
    st.caption("From Python or a notebook:")
    target = f", target={options['target']!r}" if options else ""
    st.code(
        "import fiftyone\n\nfrom stethoscope.cli.in_fiftyone import load\n\n"
        f"dataset = load({file!r}, rows={rows}{target})\nsession = fiftyone.launch_app(dataset)\n",
        language="python",
    )
    st.caption(
        f"Reads the data as it is shown here, {words.plural(rows, 'row')} at most: classes, boxes, outlines, areas, points and masks "
        "with the same names."
    )
