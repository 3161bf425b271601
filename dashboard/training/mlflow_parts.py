"""Runs of an MLflow server: which server, which of its experiments, and how far reading them is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard import escape, fragments, rerun, words
from dashboard.training import mlflow_import
from stethoscope.errors import StethoscopeError
from stethoscope.logs.mlflow_server import Experiment

_MOST_EXPERIMENTS = 50
_KNOWN, _UNDER_WAY = "_mlflow-experiments", "_mlflow-import"


def choose(owner: str, arrived: Callable[[str], None]) -> None:
    """Draws the way from a server's experiments to an upload; nothing where the operator allows no server.

    Args:
        owner: who looks; the upload will be theirs.
        arrived: called with the id of the upload once all runs are there; has to run the page again.
    """
    servers = mlflow_import.allowed()
    if not servers:
        return
    with st.container(border=True):
        st.markdown("**Runs of an MLflow server**")
        under_way = mlflow_import.find(str(st.session_state.get(_UNDER_WAY)), owner)
        if under_way is not None and not under_way.done:
            _watch(under_way.id, owner)
            return
        if under_way is not None:
            del st.session_state[_UNDER_WAY]
            if under_way.entry_id:
                arrived(under_way.entry_id)
                return
            st.warning(escape.sentences(under_way.problem))
        url = servers[0]
        if len(servers) > 1:
            url = st.selectbox("Server", servers, format_func=lambda one: escape.clip(one, 80), key="mlflow-server")
        found = _experiments(url)
        if found is not None:
            _pick(url, found, owner)


def _experiments(url: str) -> Sequence[Experiment] | None:
    """What the server has, once it was asked; it is asked on a click only."""
    known: tuple[str, Sequence[Experiment]] | None = st.session_state.get(_KNOWN)
    if known is None or known[0] != url:
        if not st.button(f"List the experiments at {escape.markdown(url, 60)}", key="mlflow-list"):
            return None
        try:
            with st.spinner("Asking the server"):
                known = (url, mlflow_import.experiments(url))
        except StethoscopeError as error:
            st.warning(escape.sentences(error))
            return None
        st.session_state[_KNOWN] = known
    return known[1]


def _pick(url: str, found: Sequence[Experiment], owner: str) -> None:
    if not found:
        st.caption("This server has no experiments.")
        return
    names = {one.id: one for one in found}
    chosen = st.multiselect(
        "Experiments",
        list(names),
        format_func=lambda one: escape.clip(names[one].name or one, 60),
        key="mlflow-chosen",
        max_selections=_MOST_EXPERIMENTS,
        placeholder=f"{words.plural(len(names), 'experiment')} to choose from",
    )
    if st.button("Read their runs", key="mlflow-read", type="primary", disabled=not chosen):
        try:
            made = mlflow_import.begin(url, [names[one] for one in chosen], owner)
        except StethoscopeError as error:
            st.warning(escape.sentences(error))
        else:
            st.session_state[_UNDER_WAY] = made.id
            rerun.whole_page()


def _watch(import_id: str, owner: str) -> None:
    def under_way() -> mlflow_import.Import | None:
        now = mlflow_import.find(import_id, owner)
        return None if now is None or now.done else now

    def line() -> None:
        now = under_way()
        if now is None:
            return
        text, button = st.columns([6, 1], vertical_alignment="center")
        what = ", ".join(escape.markdown(name, 40) for name in now.names[:3])
        answers = words.plural(now.server.answers, "answer")
        text.markdown(f"Reading {what} from {escape.markdown(now.server.name, 60)}: {answers} so far")
        button.button("Cancel", key="cancel-mlflow", width="stretch", on_click=now.stop.set)

    fragments.moving(True, lambda: under_way() is not None, line)
