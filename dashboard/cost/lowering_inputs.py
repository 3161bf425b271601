"""Starts the search for what lowers the peak."""

from __future__ import annotations

from dashboard import panel
from dashboard.cost import lowering_parts
from dashboard.session import View
from stethoscope.jobs import engine
from stethoscope.memory.lowering_report import Lowered
from stethoscope.memory.run_settings import RunSettings
from stethoscope.studies.lowering import LOWERING, Lowering, LoweringRequest
from stethoscope.studies.study import Cancelled, Publish, studies


def button(view: View, batch_size: int, memory_bytes: int, *, disabled: bool) -> None:
    """The button that starts it."""
    panel.study_button(
        "Try what lowers it", LOWERING, lambda: _start(view, batch_size, memory_bytes), view, disabled=disabled
    )


def shown(view: View) -> bool:
    """Draws the search under way, or the last one; returns whether there is one."""
    assert view.entry is not None
    name = view.entry.name
    return panel.study(LOWERING, view, lowering_parts.progress, lambda report: lowering_parts.answer(report, name))


def _start(view: View, batch_size: int, memory_bytes: int) -> str:
    entry = view.entry
    assert entry is not None
    request = LoweringRequest(
        entry.file,
        RunSettings(batch_size=batch_size),
        trusted=entry.trusted,
        memory_bytes=memory_bytes,
        owner=view.owner,
        entry_id=entry.id,
    )

    def work(publish: Publish[Lowered], cancelled: Cancelled) -> None:
        Lowering(engine(), request, publish, cancelled).run()

    return studies().start(LOWERING, entry.id, view.owner, work, request.begun())
