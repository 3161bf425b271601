"""Which models share which card, and the study that runs them together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from dashboard import escape, linked, panel, session
from dashboard.cost import sharing_parts
from dashboard.session import View
from stethoscope.errors import BadSetting
from stethoscope.jobs import engine
from stethoscope.jobs.store import Entry
from stethoscope.memory.lowering_report import TogetherReport
from stethoscope.memory.run_settings import RunSettings
from stethoscope.settings import settings
from stethoscope.sizes import parse_size
from stethoscope.studies.study import Cancelled, Publish, studies
from stethoscope.studies.together import TOGETHER, Tenant, Together, TogetherRequest

_MOST = 6


def page(view: View) -> None:
    """The form, and what running them together came to."""
    assert view.entry is not None
    known = {
        entry.id: entry
        for entry in (
            *session.recent_models(view.owner),
            *session.sample_models(),
            *session.linked_models((session.recalled("with") or "").split(",")[:_MOST]),
        )
    }
    known.pop(view.entry.id, None)
    with st.container(border=True):
        titles = {entry.id: escape.clip(entry.title or entry.name, 60) for entry in known.values()}
        chosen = linked.several("With these models", titles, "with", most=_MOST, placeholder="Choose one or more")
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
        tenants = _tenants((view.entry, *(known[key] for key in chosen)), int(batch))
        with row.cell():
            panel.study_button(
                "Run them together", TOGETHER, lambda: _start(tenants, card, view, over), view, disabled=not chosen
            )
    if not panel.study(TOGETHER, view, sharing_parts.progress, sharing_parts.answer):
        st.caption(
            "Each model first runs alone, which gives its peak; then the card is divided, and all run at once, each in a process "
            "that may not use more than its share. You get the code for logical devices and for one process a model."
        )


def _tenants(entries: Sequence[Entry], batch_size: int) -> tuple[Tenant, ...]:
    """One for each model, under the name of its file; equal names are numbered."""
    found: dict[str, Tenant] = {}
    for entry in entries:
        path, number, name = Path(entry.name), 1, entry.name
        while name in found:
            number += 1
            name = f"{path.stem} ({number}){path.suffix}"
        found[name] = Tenant(name, entry.file, RunSettings(batch_size=batch_size), trusted=entry.trusted)
    return tuple(found.values())


def _start(tenants: tuple[Tenant, ...], card: int, view: View, over: bool) -> str:
    assert view.entry is not None
    request = TogetherRequest(
        tenants, card, exceed=tenants[0].name if over else "", owner=view.owner, entry_id=view.entry.id
    )

    def work(publish: Publish[TogetherReport], cancelled: Cancelled) -> None:
        Together(engine(), request, publish, cancelled).run()

    return studies().start(TOGETHER, view.entry.id, view.owner, work, request.begun())
