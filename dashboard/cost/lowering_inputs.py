"""Starts the search for what lowers the peak."""

from __future__ import annotations

from dashboard import study_panel
from dashboard.cost import lowering_parts
from dashboard.session import View
from stethoscope.jobs import engine
from stethoscope.lab.lowering import Lowering, LoweringRequest
from stethoscope.lab.studies import Cancelled, Publish, Work
from stethoscope.memory.run_settings import RunSettings

KIND = "lowering"


def button(view: View, batch_size: int, memory_bytes: int, *, disabled: bool) -> None:
    """The button that starts it."""
    study_panel.button(
        "Try what lowers it", KIND, lambda: _work(view, batch_size, memory_bytes), view, disabled=disabled
    )


def shown(view: View) -> bool:
    """Draws the search under way, or the last one; returns whether there is one."""
    assert view.entry is not None
    name = view.entry.name
    return study_panel.shown(KIND, view, lowering_parts.progress, lambda value: lowering_parts.answer(value, name))


def _work(view: View, batch_size: int, memory_bytes: int) -> Work:
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

    def work(publish: Publish, cancelled: Cancelled) -> None:
        Lowering(engine(), request, lambda report: publish(report.to_json()), cancelled).run()

    return work
