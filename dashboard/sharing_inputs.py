"""Which models share which card, and the study that runs them together."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, session, sharing_parts, study_panel
from dashboard.session import View
from stethoscope.errors import BadSetting
from stethoscope.jobs import engine
from stethoscope.lab.studies import Cancelled, Publish, Work
from stethoscope.lab.together import Tenant, Together, TogetherRequest
from stethoscope.memory.run_settings import RunSettings
from stethoscope.settings import settings
from stethoscope.sizes import parse_size
from stethoscope.store import Entry

KIND = "together"
_MOST = 6


def page(view: View) -> None:
    """The form, and what running them together came to."""
    assert view.entry is not None
    known = {entry.id: entry for entry in (*session.recent_models(view.owner), *session.sample_models())}
    known.pop(view.entry.id, None)
    with st.container(border=True):
        chosen = st.multiselect(
            "With these models", list(known), format_func=lambda key: escape.clip(known[key].title or known[key].name, 60),
            max_selections=_MOST, key="others", bind="query-params", placeholder="Choose one or more",
        )  # fmt: skip
        row = st.grid(4, min_column_width=150, vertical_alignment="bottom")
        size = row.cell().text_input("Memory of the card", "2GB", key="card", bind="query-params")
        batch = row.cell().number_input("Batch size", 1, 100_000, 32, key="batch", bind="query-params")
        over = row.cell().toggle(
            "Let one exceed its share",
            key="exceed",
            bind="query-params",
            help="Shows that it ends alone, and the others go on",
        )
        try:
            card = parse_size(size)
        except BadSetting as error:
            st.warning(escape.sentences(error))
            return
        most = int(settings().job_memory_bytes)
        if card > most:
            st.caption(
                f"Run here within {most / 2**30:.1f} GiB, what one job may have; the split is for the card as given."
            )
        tenants = tuple(
            _tenant(entry, int(batch)) for entry in (view.entry, *(known[key] for key in chosen if key in known))
        )
        with row.cell():
            study_panel.button(
                "Run them together", KIND, lambda: _work(tenants, card, view, over), view, disabled=not chosen
            )
    if not study_panel.shown(KIND, view, sharing_parts.progress, sharing_parts.answer):
        st.caption(
            "Each model first runs alone, which gives its peak; then the card is divided, and all run at once, each in a process "
            "that may not use more than its share. You get the code for logical devices and for one process a model."
        )


def _tenant(entry: Entry, batch_size: int) -> Tenant:
    return Tenant(
        f"{entry.name} ({entry.id[-4:]})", entry.file, RunSettings(batch_size=batch_size), trusted=entry.trusted
    )


def _work(tenants: tuple[Tenant, ...], card: int, view: View, over: bool) -> Work:
    assert view.entry is not None
    request = TogetherRequest(
        tenants, card, exceed=tenants[0].name if over else "", owner=view.owner, entry_id=view.entry.id
    )

    def work(publish: Publish, cancelled: Cancelled) -> None:
        Together(engine(), request, lambda report: publish(report.to_json()), cancelled).run()

    return work
